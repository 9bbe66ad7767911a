from __future__ import annotations

from typing import Any

import pytest

from mcp_workbench.clients.entries import Refused, Setting, is_ours, translated


def read(client: str, entry: object, folder: str | None = None, base: str = "/elsewhere") -> dict[str, Any]:
    return translated(entry, Setting(client, folder, base, lambda name: f"${{ASKED_{name}}}"))


def test_keys_that_mean_the_same_are_renamed_and_those_that_mean_nothing_are_left_out() -> None:
    entry = {
        "type": "stdio",
        "command": "npx",
        "args": [],
        "env": {},
        "alwaysAllow": ["x"],
        "disabled": False,
        "disabledTools": ["rm"],
        "icon": "x.png",
    }
    assert read("windsurf", entry) == {"command": "npx", "toolFilters": ["!rm"]}
    assert read("windsurf", {"serverUrl": "https://x/mcp"}) == {"url": "https://x/mcp"}
    assert read("claude-code", {"type": "sse", "url": "https://x"}) == {
        "url": "https://x",
        "transport": "sse",
    }
    assert read("cursor", {"command": "x", "enabled": False}) == {"command": "x", "disabled": True}


def test_variables_of_editors_become_ours() -> None:
    entry = {
        "command": "${userHome}/bin/x",
        "args": ["${env:MODE}", "${input:key}", "${workspaceFolder}/a", "${HOME:-/home}"],
    }
    assert read("vscode", entry, "/project") == {
        "command": "${HOME}/bin/x",
        "args": ["${MODE}", "${ASKED_key}", "/project/a", "${HOME:-/home}"],
        "cwd": "/project",
    }
    with pytest.raises(Refused, match="known to its editor only"):
        read("vscode", {"command": "x", "args": ["${command:pick}"]})


def test_a_projects_servers_run_in_its_folder_which_is_relative_beside_the_configuration() -> None:
    entry = {"command": "./run", "cwd": "sub", "envFile": ".env"}
    assert read("vscode", entry, "/project") == {
        "command": "./run",
        "cwd": "/project/sub",
        "envFile": "/project/.env",
    }
    assert read("vscode", entry, "/project", "/project") == {
        "command": "./run",
        "cwd": "sub",
        "envFile": ".env",
    }


def test_zeds_older_form_is_read_and_its_extensions_are_refused() -> None:
    older = {"command": {"path": "x", "args": ["1"], "env": {"A": "b"}}, "settings": {}}
    assert read("zed", older) == {"command": "x", "args": ["1"], "env": {"A": "b"}}
    with pytest.raises(Refused, match="extension of Zed"):
        read("zed", {"source": "extension", "settings": {}})


def test_codex_names_variables_where_others_have_values() -> None:
    entry = {
        "url": "https://x",
        "bearer_token_env_var": "TOKEN",
        "http_headers": {"A": "1"},
        "env_http_headers": {"B": "BEE"},
        "startup_timeout_sec": 20,
        "tool_timeout_sec": 90,
        "enabled_tools": ["a"],
        "disabled_tools": ["b"],
    }
    assert read("codex", entry) == {
        "url": "https://x",
        "headers": {"A": "1", "B": "${BEE}", "Authorization": "Bearer ${TOKEN}"},
        "toolFilters": ["a", "!b"],
        "limits": {"connectTimeout": 20, "timeout": 90},
    }
    assert read("codex", {"command": "x", "env_vars": ["A", {"name": "B"}]}) == {
        "command": "x",
        "inheritEnv": ["A", "B"],
    }


def test_an_empty_list_of_tools_to_offer_is_none_and_one_to_hide_is_nothing() -> None:
    none = {"command": "x", "toolFilters": []}
    assert read("codex", {"command": "x", "enabled_tools": [], "disabled_tools": ["b"]}) == none
    assert read("gemini", {"command": "x", "includeTools": []}) == none
    assert read("cursor", {"command": "x", "tools": [], "includeTools": ["a"]})["toolFilters"] == ["a"]
    assert read("gemini", {"command": "x", "excludeTools": []}) == {"command": "x"}


def test_codexs_approvals_of_single_tools_are_no_filter() -> None:
    entry = {"command": "x", "tools": {"search": {"approval_mode": "approve"}}}
    assert read("codex", entry) == {"command": "x"}


@pytest.mark.parametrize(
    ("client", "key", "value"),
    [
        ("cursor", "disabledTools", None),
        ("cursor", "disabledTools", 5),
        ("gemini", "includeTools", [5]),
        ("cursor", "tools", {"a": True}),
        ("codex", "enabled_tools", "a"),
        ("codex", "env_vars", [1]),
        ("codex", "env_vars", "A"),
        ("codex", "http_headers", ["A"]),
        ("codex", "env_http_headers", 1),
    ],
)
def test_a_value_of_a_kind_that_nobody_expects_is_refused(client: str, key: str, value: object) -> None:
    with pytest.raises(Refused, match=r"is no (list of names|table)"):
        read(client, {"command": "x", key: value})


def test_geminis_bare_variables_and_its_two_kinds_of_address_are_read() -> None:
    assert read("gemini", {"command": "x", "env": {"A": "$B"}}) == {"command": "x", "env": {"A": "${B}"}}
    assert read("gemini", {"url": "https://x"}) == {"url": "https://x", "transport": "sse"}
    assert read("gemini", {"httpUrl": "https://x"}) == {"url": "https://x"}


@pytest.mark.parametrize(
    "entry", [None, [], "npx", {}, {"args": ["x"]}, {"command": "x", "sandbox": {"on": 1}}]
)
def test_what_cannot_be_said_here_is_refused(entry: object) -> None:
    with pytest.raises(Refused):
        read("cursor", entry)


def test_our_own_entry_is_known_by_its_command() -> None:
    assert is_ours({"command": "/x/bin/mcp-workbench"})
    assert is_ours({"command": "python", "args": ["-m", "mcp_workbench"]})
    assert is_ours({"command": {"path": "mcp-workbench"}})
    assert not is_ours({"command": "npx"})
    assert not is_ours("mcp-workbench")
