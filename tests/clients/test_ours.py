from __future__ import annotations

import json
import tomllib

import pytest

from mcp_workbench.clients.known import BY_NAME
from mcp_workbench.clients.ours import on_one_line, our_address, our_entry

ADDRESS = "http://127.0.0.1:8484/mcp"
HEADERS = {"Authorization": "Bearer secret"}


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("claude-code", {"type": "http", "url": ADDRESS, "headers": HEADERS}),
        ("cursor", {"url": ADDRESS, "headers": HEADERS}),
        ("vscode", {"type": "http", "url": ADDRESS, "headers": HEADERS}),
        ("windsurf", {"serverUrl": ADDRESS, "headers": HEADERS}),
        ("gemini", {"httpUrl": ADDRESS, "headers": HEADERS}),
        ("zed", {"url": ADDRESS, "headers": HEADERS}),
        ("codex", {"url": ADDRESS, "http_headers": HEADERS}),
    ],
)
def test_an_address_is_written_in_the_words_of_the_client(name: str, entry: dict[str, object]) -> None:
    assert our_address(BY_NAME[name], ADDRESS, "secret") == entry
    without = {key: value for key, value in entry.items() if value is not HEADERS}
    assert our_address(BY_NAME[name], ADDRESS, None) == without


def test_a_client_that_starts_programs_only_gets_one_that_asks_us() -> None:
    entry = our_address(BY_NAME["claude-desktop"], ADDRESS, "secret")
    assert entry["command"] == "npx"
    assert entry["args"] == ["-y", "mcp-remote", ADDRESS, "--header", "Authorization:Bearer secret"]


@pytest.mark.parametrize("name", BY_NAME)
def test_on_one_line_it_is_a_whole_configuration(name: str) -> None:
    client = BY_NAME[name]
    for entry in (our_entry(client, "/c.json", ["A_TOKEN"]), our_address(client, ADDRESS, "secret")):
        line = on_one_line(client, entry)
        assert "\n" not in line
        read = tomllib.loads if name == "codex" else json.loads
        assert read(line) == {client.key: {"workbench": entry}}
