from __future__ import annotations

from typing import Any

from mcp_workbench.clients.discovery import FoundServer
from mcp_workbench.clients.proposal import Proposal


def found(name: str, client: str = "cursor", **entry: Any) -> FoundServer:
    entry = entry or {"command": name}
    return FoundServer(name=name, client=client, path="/x", entry=entry, forms=(entry,))


def test_few_servers_go_into_one_toolbox() -> None:
    proposal = Proposal([found("git"), found("fetch")], {})
    assert proposal.descriptions() == {
        "tools": "Source code, files and repositories; the web: search, pages, browsers (git, fetch)"
    }
    assert Proposal([found("unheard-of")], {}).descriptions() == {"tools": "Tools (unheard-of)"}


def test_many_servers_are_sorted_by_what_they_are_for() -> None:
    servers = [
        found("unheard-of"),
        found("x", command="npx", args=["-y", "@modelcontextprotocol/server-postgres"]),
        found("braveSearch"),
        found("git"),
        found("slack"),
        found("memory"),
    ]
    proposal = Proposal(servers, {})
    assert [(each.toolbox, each.name) for each in proposal.servers] == [
        ("code", "git"),
        ("data", "x"),
        ("web", "braveSearch"),
        ("office", "slack"),
        ("mind", "memory"),
        ("more", "unheard-of"),
    ]
    assert {each.toolbox for each in Proposal(servers, {}, "all").servers} == {"all"}


def test_the_same_server_of_two_clients_is_one_and_two_of_a_name_are_two() -> None:
    same = [found("git"), found("git", "zed"), found("git", "zed", command="other")]
    proposal = Proposal(same, {})
    assert [(each.name, len(each.found)) for each in proposal.servers] == [("git", 2), ("git-zed", 1)]


def test_what_the_configuration_has_already_is_left_out() -> None:
    existing = {"toolboxes": {"mine": {"mcpServers": {"git": {"command": "git"}}}}}
    proposal = Proposal([found("git"), found("git", command="other")], existing)
    assert [each.name for each in proposal.servers] == ["git-cursor"]
    assert [each.name for each in proposal.known] == ["git"]


def test_a_server_whose_secret_has_another_variable_now_is_still_the_same() -> None:
    existing = {"toolboxes": {"mine": {"mcpServers": {"git": {"command": "git", "env": {"A": "${A}"}}}}}}
    renewed = found("git", command="git", env={"A": "${A_2}"})
    assert Proposal([renewed], existing).servers == []
