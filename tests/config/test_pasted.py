import json
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.config import ChildConfig, RemoteConfig, ServerConfig, load
from mcp_workbench.config.pasted import IGNORED, REFUSED
from mcp_workbench.errors import ConfigInvalid


def pasted(tmp_path: Path, entry: dict[str, Any]) -> tuple[ServerConfig, list[str]]:
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"toolboxes": {"t": {"description": "d", "mcpServers": {"s": entry}}}}))
    config = load(str(file), {"GITHUB_TOKEN": "canary"})
    return config.toolboxes["t"].servers["s"], list(config.warnings)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}}, id="claude-desktop"),
        pytest.param(
            {"type": "stdio", "command": "npx", "args": [], "env": {}, "timeout": 60000}, id="claude-code"
        ),
        pytest.param({"command": "npx", "env": {"T": "${env:GITHUB_TOKEN}"}, "envFile": ".env"}, id="cursor"),
        pytest.param(
            {
                "type": "stdio",
                "command": "npx",
                "cwd": "x",
                "dev": {"watch": "src/**"},
                "gallery": True,
                "version": "1",
            },
            id="vscode",
        ),
        pytest.param({"command": "npx", "disabled": False, "disabledTools": []}, id="windsurf"),
        pytest.param(
            {
                "command": "node",
                "alwaysAllow": ["a"],
                "autoApprove": [],
                "timeout": 60,
                "transportType": "stdio",
            },
            id="cline",
        ),
        pytest.param(
            {
                "command": "x",
                "cwd": "./y",
                "timeout": 30000,
                "trust": True,
                "description": "z",
                "includeTools": ["a"],
            },
            id="gemini",
        ),
    ],
)
def test_a_child_of_another_client_can_be_pasted_in(tmp_path: Path, entry: dict[str, Any]) -> None:
    server, warnings = pasted(tmp_path, entry)
    assert isinstance(server, ChildConfig)
    assert server.command == entry["command"]
    ignored = [key for key in entry if key in IGNORED]
    assert len(warnings) == bool(ignored)
    assert all(f"config.toolboxes.t.mcpServers.s.{key}" in warnings[0] for key in ignored)


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        pytest.param(
            {"type": "http", "url": "https://x.org/mcp", "headers": {"A": "b"}}, "http", id="claude-code"
        ),
        pytest.param({"type": "streamable-http", "url": "https://x.org/mcp"}, "http", id="claude-code-alias"),
        pytest.param({"url": "https://x.org/mcp"}, "http", id="cursor"),
        pytest.param({"serverUrl": "https://x.org/mcp"}, "http", id="windsurf"),
        pytest.param(
            {"type": "streamableHttp", "url": "https://x.org/mcp", "disabled": False}, "http", id="cline"
        ),
        pytest.param({"transportType": "sse", "url": "https://x.org/mcp"}, "sse", id="cline-old"),
        pytest.param(
            {"httpUrl": "https://x.org/mcp", "headers": {"A": "b"}, "timeout": 5000}, "http", id="gemini"
        ),
        pytest.param({"type": "sse", "url": "https://x.org/mcp"}, "sse", id="vscode"),
    ],
)
def test_a_remote_server_of_another_client_can_be_pasted_in(
    tmp_path: Path, entry: dict[str, Any], transport: str
) -> None:
    server, _ = pasted(tmp_path, entry)
    assert isinstance(server, RemoteConfig)
    assert (server.url, server.transport) == ("https://x.org/mcp", transport)


@pytest.mark.parametrize(
    ("lists", "offered"),
    [
        ({"includeTools": ["a", "b"]}, {"a", "b"}),
        ({"excludeTools": ["a"]}, {"b", "c"}),
        ({"includeTools": ["a", "b"], "excludeTools": ["b"]}, {"a"}),
        ({"includeTools": [], "excludeTools": ["b"]}, set()),
        ({"disabledTools": ["c"]}, {"a", "b"}),
        ({"disabledTools": []}, {"a", "b", "c"}),
        ({"tools": ["*"]}, {"a", "b", "c"}),
    ],
)
def test_lists_of_tools_become_filters(tmp_path: Path, lists: dict[str, Any], offered: set[str]) -> None:
    server, _ = pasted(tmp_path, {"command": "x", **lists})
    assert {name for name in "abc" if server.filters.allows(name)} == offered


@pytest.mark.parametrize("key", REFUSED)
def test_what_would_change_its_meaning_is_refused_with_the_fix(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        pasted(tmp_path, {"command": "x", key: {"a": "b"}})
    [problem] = caught.value.problems
    assert problem.place == f"config.toolboxes.t.mcpServers.s.{key}"
    assert problem.fix == REFUSED[key]


def test_a_refused_key_that_is_switched_off_asks_for_nothing(tmp_path: Path) -> None:
    pasted(tmp_path, {"command": "x", "sandboxEnabled": False, "enabled": True})


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "https://x.org", "httpUrl": "https://y.org"},
        {"command": "x", "toolFilters": ["a"], "excludeTools": ["b"]},
        {"command": "x", "includeTools": "a"},
    ],
)
def test_what_is_said_twice_or_cannot_be_read_is_one_problem(tmp_path: Path, entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        pasted(tmp_path, entry)
    assert len(caught.value.problems) == 1


def test_a_variable_in_the_way_of_gemini_is_warned_about(tmp_path: Path) -> None:
    server, [warning] = pasted(tmp_path, {"command": "x", "env": {"T": "$GITHUB_TOKEN"}})
    assert isinstance(server, ChildConfig)
    assert server.env == {"T": "$GITHUB_TOKEN"}
    assert "${GITHUB_TOKEN}" in warning
    _, [warning] = pasted(tmp_path, {"command": "x", "env": {"T": "$ecret9876"}})
    assert warning.endswith("env.T: $NAME is passed as written; for the variable write ${NAME}")


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding"])
def test_headers_that_say_how_long_a_message_is_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        pasted(tmp_path, {"url": "https://example.com/mcp", "headers": {name: "5", "X-Mine": "1"}})
    [problem] = caught.value.problems
    assert problem.place == f"config.toolboxes.t.mcpServers.s.headers.{name}"
    assert problem.fix == "Remove it"


def test_headers_of_a_connection_are_left_out_with_a_warning(tmp_path: Path) -> None:
    headers = {"Connection": "keep-alive", "te": "trailers", "Host": "example.com", "Content-Type": "x"}
    server, warnings = pasted(tmp_path, {"url": "https://example.com/mcp", "headers": headers})
    assert isinstance(server, RemoteConfig)
    assert server.headers == {"Host": "example.com", "Content-Type": "x"}
    assert [each.partition(":")[0] for each in warnings] == [
        f"config.toolboxes.t.mcpServers.s.headers.{name}" for name in ("Connection", "te")
    ]
