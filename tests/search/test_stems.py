import pytest
import snowballstemmer

from mcp_workbench.search.stems import stem


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("files", "file"), ("reading", "read"), ("organization", "organiz"), ("skies", "sky"),
        ("news", "news"),
        ("generously", "generous"), ("hopping", "hop"), ("hoping", "hope"), ("dying", "die"),
        ("evening", "evening"),
        ("proceed", "proceed"), ("agreed", "agre"), ("sayings", "say"), ("youth", "youth"),
        ("happily", "happili"),
    ],
)  # fmt: skip
def test_a_word_loses_its_ending(word: str, root: str) -> None:
    assert stem(word) == root


@pytest.mark.parametrize("word", ["", "a", "is", "x1", "mp3", "日本", "ünder", "A"])
def test_what_is_no_english_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


def test_stems_are_those_of_snowball() -> None:
    """Every word is stemmed with every ending the algorithm knows, against the published implementation."""
    theirs = snowballstemmer.stemmer("english")
    endings = [
        "",
        "s",
        "es",
        "ed",
        "ing",
        "ly",
        "ation",
        "izer",
        "fulness",
        "ement",
        "able",
        "ally",
        "y",
        "e",
    ]
    roots = (
        "act add babbl bias cri drive excee flow gener happ hop inter likel logi nam organ past proc ref run"
    )
    roots += " ski succee tabl univers vex way yell youth zoolog communi rat argu fizz egg quay"
    words = [root + ending for root in roots.split() for ending in endings]
    words += [f"{word}{ending}" for word in words for ending in ("ly", "ing", "ness", "ed", "s")]
    assert {word: stem(word) for word in words} == {word: theirs.stemWord(word) for word in words}
