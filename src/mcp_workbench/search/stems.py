"""English words without their endings, by Snowball's English algorithm (Porter 2, version 3).

Written here because the published pure Python version takes four times as long, which is most of the time
that building an index has; the tests hold the two together.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[a-z]{3,}")
_VOWEL = re.compile(r"[aeiouy]")
_REGION = re.compile(r"[^aeiouy]*[aeiouy]+[^aeiouy]")
_PREFIX = re.compile(r"arsen|commun|emerg|gener|inter|later|organ|past|univers")
_SHORT = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$")

_WHOLE = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli",
    "only": "onli", "singly": "singl",
    **{word: word for word in "sky news howe atlas cosmos bias andes".split()},
}  # fmt: skip
_KEEP_ING = frozenset("even cann inn earr herr out".split())
_KEEP_EED = frozenset("succ proc exc".split())
_DOUBLES = frozenset("bb dd ff gg mm nn pp rr tt".split())

_SECOND = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize",
    "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al",
    "alli": "al", "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive",
    "biliti": "ble", "bli": "ble", "ogist": "og", "ogi": "og", "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
_THIRD = {
    "ational": "ate", "tional": "tion", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic",
    "ful": "", "ness": "", "ative": "",
}  # fmt: skip
_FOURTH: dict[str, str] = dict.fromkeys(
    "ic ance ence able ible ate ive ize iti al ism ion er ous ant ent ment ement".split(), ""
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Lower case in, lower case out; what is no English word of three letters or more stays as it is."""
    if not _WORD.fullmatch(word):
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    if "y" in word:
        word = _mark(word)
    first, second = _regions(word)
    word = _past(_plural(word), first)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in "aeiouy":
        word = word[:-1] + "i"
    word = _replace(word, _SECOND, first, second)
    word = _replace(word, _THIRD, first, second)
    word = _replace(word, _FOURTH, second, second)
    return _final(word, first, second).lower()


def _mark(word: str) -> str:
    """A y that is a consonant in upper case."""
    letters = list(word)
    for place, letter in enumerate(letters):
        if letter == "y" and (place == 0 or letters[place - 1] in "aeiouy"):
            letters[place] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where the part after the first, and after the second, syllable begins."""
    start = _PREFIX.match(word) or _REGION.match(word)
    first = start.end() if start else len(word)
    further = _REGION.match(word, first)
    return first, further.end() if further else len(word)


def _plural(word: str) -> str:
    if not word.endswith(("s", "ied")):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")) or not _VOWEL.search(word, 0, len(word) - 2):
        return word
    return word[:-1]


def _past(word: str, first: int) -> str:
    suffix = _ending(word, ("eedly", "ingly", "edly", "eed", "ing", "ed"))
    if not suffix:
        return word
    base = word[: -len(suffix)]
    if suffix.startswith("eed"):
        return f"{base}ee" if len(base) >= first and base not in _KEEP_EED else word
    if suffix == "ing":
        if base in _KEEP_ING:
            return word
        if len(base) == 2 and base[1] == "y" and base[0] not in "aeiouy":
            return f"{base[0]}ie"
    if not _VOWEL.search(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return f"{base}e"
    if base[-2:] in _DOUBLES:
        return base if len(base) == 3 and base[0] in "aeo" else base[:-1]
    return f"{base}e" if len(base) == first and _SHORT.search(base) else base


def _replace(word: str, endings: dict[str, str], region: int, second: int) -> str:
    for length in range(min(7, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix in endings:
            base = word[:-length]
            return base + endings[suffix] if len(base) >= region and _fits(base, suffix, second) else word
    return word


def _fits(base: str, suffix: str, second: int) -> bool:
    """Some endings go only after certain letters, or further back."""
    match suffix:
        case "li":
            return base[-1:] in tuple("cdeghkmnrt")
        case "ogi":
            return base.endswith("l")
        case "ion":
            return base.endswith(("s", "t"))
        case "ative":
            return len(base) >= second
        case _:
            return True


def _final(word: str, first: int, second: int) -> str:
    base = word[:-1]
    if word.endswith("e"):
        gone = len(base) >= second or (len(base) >= first and not _SHORT.search(base))
        return base if gone else word
    return base if word.endswith("ll") and len(base) >= second else word


def _ending(word: str, suffixes: tuple[str, ...]) -> str:
    return next((suffix for suffix in suffixes if word.endswith(suffix)), "")
