"""The README's numbers are those of its picture, which `scripts/record-session` makes from a real run."""

from __future__ import annotations

import html
import re

from .pages import ROOT


def test_the_numbers_of_the_readme_are_in_its_picture() -> None:
    picture = html.unescape(re.sub(r"<[^>]+>", "\n", (ROOT / "docs" / "session.svg").read_text()))
    drawn = set(re.findall(r"\b\d[\d,]*\b", picture))
    [table] = re.findall(
        r"\| tokens in the context \|\n\|---\|---\|\n((?:\|.*\n)+)", (ROOT / "README.md").read_text()
    )
    numbers = re.findall(r"\d[\d,]*\d", table)
    assert len(numbers) == 4
    assert [number for number in numbers if number not in drawn] == []
