"""The words of a text, as they are searched by; what a word is worth, and where, is the index's affair."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .stems import stem

_STOP = frozenset(
    """
    a an the this that these those and or but nor if then else than so as of at by for with about against
    between into through to from in on off over under up down out again further once here there when where
    why how what which who whom all any both each few more most other some such no not only own same too
    very just also now i me my myself we us our ours you your yours he him his she her hers it its they
    them their am is are was were be been being have has had having do does did doing can could will would
    shall should may might must d ll m re s t ve don please want need like help hey hi hello thanks thank
    tell know let lets looking interested im id kindly wanna gonna sure ok okay really
    """.split()
)
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
_WITHOUT_SPACES = re.compile(f"[{_CJK}]")
_TOKEN = re.compile(r"\w+")
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
# Acronyms in the plural (URLs), acronyms before a word (HTMLParser), words, numbers, other alphabets.
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def terms(text: str) -> list[str]:
    """In order and with repetitions; stop words are left out, compound names are there whole and in parts."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        found += _terms(token)
    return found


def parts(name: str) -> list[str]:
    """The words that a compound name is made of, in lower case."""
    return [part.lower() for run in _RUN.findall(name) for part in _PART.findall(run)]


@lru_cache(maxsize=1 << 16)
def _terms(token: str) -> tuple[str, ...]:
    if token.isascii() and token.islower() and token.isalpha():
        return () if token in _STOP else (stem(token),)
    words: list[str] = []
    grams: list[str] = []
    for run in _RUN.findall(token):
        if _WITHOUT_SPACES.match(run):
            grams += _pairs(run)
        else:
            words += parts(run if run.isascii() else _plain(run))
    stems = [stem(word) for word in words if word not in _STOP]
    joined = ["".join(words)] if len(words) > 1 else []
    return (*stems, *joined, *grams)


def _pairs(run: str) -> list[str]:
    """Chinese, Japanese and Korean are written without spaces, or with few: every two neighbours count."""
    return [run[n : n + 2] for n in range(len(run) - 1)] if len(run) > 1 else [run]


def _plain(run: str) -> str:
    """Without accents: people leave them out."""
    apart = unicodedata.normalize("NFKD", run)
    return unicodedata.normalize("NFKC", "".join(each for each in apart if not unicodedata.combining(each)))
