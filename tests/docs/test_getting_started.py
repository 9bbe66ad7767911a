"""docs/getting-started.md knows every client: its entries are those that we write, its files are found."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.clients.client import Home
from mcp_workbench.clients.known import BY_NAME, CLIENTS
from mcp_workbench.clients.ours import our_entry

PAGE = (Path(__file__).parents[2] / "docs" / "getting-started.md").read_text()


def blocks(language: str, within: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", within, re.MULTILINE | re.DOTALL)


def section(client: str) -> str:
    title = BY_NAME[client].title
    return next(part for part in PAGE.split("\n### ") if title in part.split("\n")[0])


@pytest.mark.parametrize("name", BY_NAME)
def test_its_entries_are_those_that_connect_writes(name: str) -> None:
    client = BY_NAME[name]
    written = our_entry(client, "/path/to/workbench-config.json", ["GITHUB_TOKEN"])
    documented: dict[str, Any] = (
        tomllib.loads(*blocks("toml", section(name)))
        if name == "codex"
        else json.loads(*blocks("json", section(name)))
    )
    entry = documented[client.key]["workbench"]
    assert entry.pop("command") == "/path/to/mcp-workbench"
    del written["command"]
    assert entry == written


def test_every_client_and_its_files_are_in_the_table() -> None:
    home = Home("~", {}, "linux")
    for client in CLIENTS:
        [row] = [
            line for line in PAGE.split("\n") if line.startswith(f"| {client.title} | `{client.name}` |")
        ]
        folder, name = os.path.split(client.user_file(home))
        assert f"`{folder}/{name}`" in row or (f"`{name}`" in row and f"`{folder}`" in row)
        assert f"`{client.project_file}`" in row if client.project_file else row.endswith("| – |")
