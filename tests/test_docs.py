"""The documentation keeps up with the code: what can be set, typed or go wrong is written down."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import typer.main

import mcp_workbench
from mcp_workbench import errors
from mcp_workbench.cli.app import app
from mcp_workbench.config import load

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


def blocks(*languages: str) -> list[tuple[str, str]]:
    """The code blocks of all pages, with where they stand."""
    found: list[tuple[str, str]] = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^( *)```(\w+)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
            if match[2] in languages:
                line = text.count("\n", 0, match.start()) + 1
                found.append((f"{page.relative_to(ROOT)}:{line}", textwrap.dedent(match[3])))
    return found


@pytest.mark.parametrize(("place", "block"), blocks("json"), ids=lambda value: value.split("\n")[0][:40])
def test_configurations_in_the_documentation_can_be_used(place: str, block: str, tmp_path: Path) -> None:
    try:
        value = json.loads(block)
    except ValueError:
        lines = block.strip().splitlines()
        value = [json.loads(line) for line in lines]  # a block of log lines
    if isinstance(value, dict) and "toolboxes" in value:
        file = tmp_path / "workbench-config.json"
        file.write_text(block)
        variables = re.findall(r"\$\{(\w+)\}", block)
        load(str(file), dict.fromkeys(variables, "set-where-the-client-is-started"))


def command_lines() -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for place, block in blocks("sh", "console"):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\||;", line.removeprefix("$ ").partition("  #")[0]):
                words = part.strip()
                if words.startswith(("mcp-workbench ", "make ")):
                    lines.append((place, words))
    return lines


@pytest.mark.parametrize(("place", "line"), command_lines())
def test_commands_in_the_documentation_exist(place: str, line: str) -> None:
    words = shlex.split(line.split(" > ")[0], comments=True)
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[1] in targets, place
        return
    command: Any = typer.main.get_command(app)
    words = words[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= known, f"{place}: {line}"
    assert words == [] or not hasattr(command, "commands"), f"{place}: no such command: {line}"
