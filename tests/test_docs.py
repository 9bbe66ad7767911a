"""The documentation keeps up with the code: what can be set, typed or go wrong is written down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

import mcp_workbench
from mcp_workbench import errors
from mcp_workbench.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


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
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target and "mailto:" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text()):
            found = page.parent / target
            if found.is_dir():
                waiting += found.glob("*.md")
            elif found.exists():
                waiting.append(found)
    assert [str(page.relative_to(ROOT)) for page in PAGES if page.resolve() not in reached] == []


def test_the_version_is_written_in_one_place() -> None:
    version = re.escape(mcp_workbench.__version__)
    sources = [*ROOT.glob("src/**/*.py"), ROOT / "pyproject.toml"]
    assert [file.name for file in sources if re.search(f'"{version}"', file.read_text())] == ["__init__.py"]
