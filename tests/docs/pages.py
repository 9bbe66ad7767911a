"""The pages of the documentation and the code blocks on them. What a block must do, the tests know."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\S*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """`not_run` is the reason that a mark before the block gives: `<!-- not run: needs Docker -->`."""

    page: str
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def _on(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            page=str(page.relative_to(ROOT)),
            line=text.count("\n", 0, found.start("indent")) + 1,
            language=found["language"],
            text=textwrap.dedent(found["text"]),
            not_run=found["reason"],
        )
        for found in _BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in _on(page)]


def written_in(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def each(*languages: str) -> pytest.MarkDecorator:
    """A test for every block in one of these languages."""
    return pytest.mark.parametrize("block", written_in(*languages), ids=str)
