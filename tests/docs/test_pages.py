"""The documentation is whole: what can be set, typed or go wrong is on some page, and every page is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

import mcp_workbench
from mcp_workbench import errors
from mcp_workbench.cli.app import app

from .pages import BLOCKS, PAGES, ROOT

TRIED = {
    "sh": "test_commands.py",
    "console": "test_commands.py",
    "json": "test_data.py",
    "toml": "test_data.py",
    "yaml": "test_services.py",
    "ini": "test_services.py",
    "nginx": "test_services.py",
    "python": "test_python.py",
    "text": "a picture, or something said; test_sentences.py knows what is ours",
}
"""Where blocks are run or looked at, by their language."""


def test_every_block_is_tried() -> None:
    assert [str(block) for block in BLOCKS if block.language not in TRIED] == []


def test_few_blocks_are_not_run() -> None:
    assert len([block for block in BLOCKS if block.not_run]) <= 3


def test_no_block_is_overlooked() -> None:
    fences = sum(len(re.findall(r"^ *(?:```|~~~)", page.read_text(), re.MULTILINE)) for page in PAGES)
    assert 2 * len(BLOCKS) == fences


def test_every_error_is_explained() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.WorkbenchError)
    ]
    assert [name for name in classes if f"`{name}`" not in text] == []


def test_every_command_is_explained() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    commands = typer.main.get_command(app).commands  # pyright: ignore
    assert [name for name in commands if f"mcp-workbench {name}" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in _links(page):
        path, _, heading = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        if heading:
            assert heading in _headings(found), target


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for target in _links(page):
            found = page.parent / target.partition("#")[0]
            waiting += found.glob("*.md") if found.is_dir() else [found]
    assert [str(page.relative_to(ROOT)) for page in PAGES if page.resolve() not in reached] == []


def test_the_version_is_written_in_one_place() -> None:
    version = re.escape(mcp_workbench.__version__)
    sources = [*ROOT.glob("src/**/*.py"), ROOT / "pyproject.toml"]
    assert [file.name for file in sources if re.search(f'"{version}"', file.read_text())] == ["__init__.py"]


def _links(page: Path) -> list[str]:
    """Those to places in this repository."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets: list[str] = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in targets if "://" not in target and "mailto:" not in target]


def _headings(page: Path) -> set[str]:
    """As GitHub names them in an address."""
    titles: list[str] = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
