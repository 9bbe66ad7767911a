"""The servers that people use: what they say through the workbench is what they say directly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from .oracle import ERAS, LEGACY, Json, Oracle, Server, Tools, as_text

NODE_SERVERS = [pytest.param(name, marks=pytest.mark.node) for name in ("everything", "memory", "filesystem")]


def calling(name: str, arguments: Json | None = None) -> Callable[[Tools], Awaitable[Json]]:
    return lambda tools: tools.call(name, arguments)


@pytest.mark.parametrize("name", ["time_server", "git", *NODE_SERVERS])
def test_the_definitions_of_a_server_are_listed_as_it_wrote_them(
    name: str, oracle: Oracle, request: pytest.FixtureRequest
) -> None:
    tools = oracle.everywhere(request.getfixturevalue(name), lambda tools: tools.listed())
    assert tools
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)


@pytest.mark.node
def test_a_server_is_shown_a_client_that_declares_nothing_and_lists_its_tools_for_that(
    oracle: Oracle, everything: Server
) -> None:
    tools = oracle.everywhere(everything, lambda tools: tools.listed())
    names = [tool["name"] for tool in tools]
    assert len(names) == 13
    assert "trigger-sampling-request" not in names


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_a_toolbox_of_many_servers_lists_them_in_the_order_of_the_configuration(
    era: str, oracle: Oracle, request: pytest.FixtureRequest
) -> None:
    names = ["time_server", "git", "crafted", "everything", "memory", "filesystem"]
    request.getfixturevalue("repository")  # skips where there is no git, without which that server ends
    servers = [request.getfixturevalue(name) for name in names]

    async def listing() -> Json:
        result = await oracle.workbench(era).call_tool("open_toolbox", {"toolbox": "all"})
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    seen = oracle.run(listing)
    assert "_errors" not in seen
    assert seen["servers_connected"] == len(servers)
    expected = [
        (server.name, tool["name"]) for server in servers for tool in oracle.run(oracle.direct(server).listed)
    ]
    assert [(tool["server"], tool["name"]) for tool in seen["tools"]] == expected


EVERYTHING: list[tuple[str, Json, str]] = [
    ("echo", {"message": 'Grüße, 世界 🌍 \u0000 \\ " \u2028'}, "text"),
    ("get-sum", {"a": 0.1, "b": 0.2}, "text"),
    ("get-tiny-image", {}, "text image text"),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}, "text image"),
    ("get-annotated-message", {"messageType": "debug"}, "text"),
    ("get-structured-content", {"location": "Chicago"}, "text"),
    ("get-resource-links", {"count": 4}, "text" + " resource_link" * 4),
    (
        "gzip-file-as-resource",
        {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"},
        "resource",
    ),
    ("get-sum", {"a": "one"}, "text"),
    ("get-structured-content", {}, "text"),
]


@pytest.mark.node
@pytest.mark.parametrize(("tool", "arguments", "kinds"), EVERYTHING)
def test_a_result_of_server_everything_comes_out_as_it_went_in(
    tool: str, arguments: Json, kinds: str, oracle: Oracle, everything: Server
) -> None:
    result = oracle.everywhere(everything, calling(tool, arguments))
    assert " ".join(block["type"] for block in result["content"]) == kinds


@pytest.mark.node
def test_arguments_that_a_server_refuses_in_a_result_stay_its_own_result(
    oracle: Oracle, everything: Server
) -> None:
    result = oracle.everywhere(everything, calling("get-sum", {"a": "one", "b": 2}))
    assert result["isError"] is True
    assert not result["content"][0]["text"].startswith("Error executing tool")


@pytest.mark.node
def test_an_embedded_resource_has_its_contents(oracle: Oracle, everything: Server) -> None:
    async def body(tools: Tools) -> list[str]:
        result = await tools.call("get-resource-reference", {"resourceType": "Blob", "resourceId": 1})
        kinds = [block["type"] for block in result["content"]]
        # The server puts the time of day into it, so that only its shape can be compared.
        return kinds + sorted(result["content"][1]["resource"])

    assert "resource" in oracle.everywhere(everything, body)


@pytest.mark.node
def test_progress_reaches_the_client_as_the_server_tells_it(oracle: Oracle, everything: Server) -> None:
    async def body(tools: Tools) -> list[Any]:
        told: list[Any] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append([progress, total, message])

        result = await tools.call(
            "trigger-long-running-operation", {"duration": 0.4, "steps": 4}, on_progress=hear
        )
        return [*told, result["content"]]

    *told, content = oracle.everywhere(everything, body)
    assert told == [[step, 4, None] for step in (1, 2, 3, 4)]
    assert "completed" in content[0]["text"]


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_a_slow_call_holds_up_no_other(era: str, oracle: Oracle, everything: Server) -> None:
    tools = oracle.through(everything, era)

    async def race() -> list[str]:
        order: list[str] = []

        async def run(name: str, arguments: Json) -> None:
            await tools.call(name, arguments)
            order.append(name)

        slow = run("trigger-long-running-operation", {"duration": 1, "steps": 1})
        await asyncio.gather(slow, run("echo", {"message": "quick"}))
        return order

    assert oracle.run(race) == ["echo", "trigger-long-running-operation"]


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_calls_of_one_server_run_side_by_side(era: str, oracle: Oracle, everything: Server) -> None:
    tools = oracle.through(everything, era)

    async def many() -> float:
        began = time.monotonic()
        call = {"duration": 0.5, "steps": 1}
        await asyncio.gather(*(tools.call("trigger-long-running-operation", call) for _ in range(10)))
        return time.monotonic() - began

    assert oracle.run(many) < 3.0


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_of_many_calls_at_once_each_gets_its_own_answer(era: str, oracle: Oracle, everything: Server) -> None:
    tools = oracle.through(everything, era)

    async def many() -> list[str]:
        results = await asyncio.gather(*(tools.call("echo", {"message": str(n)}) for n in range(200)))
        return [result["content"][0]["text"] for result in results]

    assert oracle.run(many) == [f"Echo: {n}" for n in range(200)]


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_a_server_does_not_see_the_secrets_in_the_environment_of_the_workbench(
    era: str, oracle: Oracle, everything: Server
) -> None:
    result = oracle.run(oracle.through(everything, era).call, "get-env")
    seen = result["content"][0]["text"]
    assert '"PATH"' in seen
    assert "EXAMPLE_API_KEY" not in seen


@pytest.mark.node
def test_a_tool_that_must_run_as_a_task_is_refused_in_the_words_of_its_server(
    oracle: Oracle, everything: Server
) -> None:
    arguments = {"topic": "tea"}
    result = oracle.everywhere(everything, calling("simulate-research-query", arguments))
    assert result["isError"] is True
    assert "task" in result["content"][0]["text"]


@pytest.mark.node
def test_what_server_memory_is_told_it_remembers(oracle: Oracle, memory: Server) -> None:
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program", "née Byron"]}
    engine = {"name": "Engine", "entityType": "machine", "observations": []}
    relation = {"from": "Ada", "to": "Engine", "relationType": "programmed"}
    steps: list[tuple[str, Json | None]] = [
        ("create_entities", {"entities": [ada, engine]}),
        ("create_relations", {"relations": [relation]}),
        ("add_observations", {"observations": [{"entityName": "Engine", "contents": ["was never built"]}]}),
        ("read_graph", None),
        ("search_nodes", {"query": "program"}),
        ("open_nodes", {"names": ["Ada"]}),
        ("add_observations", {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}),
        ("create_entities", {"entities": "no array"}),
        ("delete_entities", {"entityNames": ["Ada", "Engine"]}),
        ("read_graph", {}),
    ]

    async def body(tools: Tools) -> list[Json]:
        return [await tools.call(name, arguments) for name, arguments in steps]

    results = oracle.everywhere(memory, body)
    assert results[3]["structuredContent"]["relations"] == [relation]
    assert [bool(result.get("isError")) for result in results] == [False] * 6 + [True, True, False, False]


@pytest.mark.node
def test_files_are_written_and_read_through_server_filesystem(
    oracle: Oracle, filesystem: Server, files: Path
) -> None:
    notes, poem = str(files / "notes"), str(files / "poem.txt")
    edits = [{"oldText": "red", "newText": "blue"}]
    steps: list[tuple[str, Json]] = [
        ("list_allowed_directories", {}),
        ("list_directory", {"path": notes}),
        ("directory_tree", {"path": notes}),
        ("search_files", {"path": str(files), "pattern": "**/*.txt"}),
        ("read_text_file", {"path": f"{notes}/one.txt", "head": 2}),
        ("read_multiple_files", {"paths": [f"{notes}/one.txt", f"{notes}/two.md"]}),
        ("read_media_file", {"path": str(files / "dot.png")}),
        ("get_file_info", {"path": f"{notes}/two.md"}),
        ("write_file", {"path": poem, "content": "roses are red\r\nviolets…\n"}),
        ("edit_file", {"path": poem, "edits": edits, "dryRun": True}),
        ("edit_file", {"path": poem, "edits": edits}),
        ("read_text_file", {"path": poem}),
        ("move_file", {"source": poem, "destination": f"{poem}.old"}),
        ("read_text_file", {"path": poem}),
        ("read_text_file", {"path": "/etc/hostname"}),
    ]

    async def body(tools: Tools) -> list[Json]:
        (files / "poem.txt.old").unlink(missing_ok=True)
        return [await tools.call(name, arguments) for name, arguments in steps]

    results = oracle.everywhere(filesystem, body)
    assert "世界" in as_text_of(results[5])
    assert "blue" in as_text_of(results[11])
    assert [bool(result.get("isError")) for result in results] == [False] * 13 + [True, True]


def as_text_of(result: Json) -> str:
    return "\n".join(block["text"] for block in result["content"])


@pytest.mark.node
@pytest.mark.parametrize("era", ERAS)
def test_a_long_file_arrives_whole(era: str, oracle: Oracle, filesystem: Server, files: Path) -> None:
    long = files / "long.txt"
    long.write_text("äöü 0123456789 🌍\n" * 100_000)
    result = oracle.run(oracle.through(filesystem, era).call, "read_text_file", {"path": str(long)})
    assert as_text_of(result) == long.read_text()


def test_server_time_tells_the_time(oracle: Oracle, time_server: Server) -> None:
    arguments = {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Europe/Berlin"}
    result = oracle.everywhere(time_server, calling("convert_time", arguments))
    assert result["structuredContent"]["source"]["timezone"] == "Asia/Tokyo"


@pytest.mark.parametrize(
    "arguments",
    [
        {"timezone": "Atlantis/Capital"},
        {},
        {"timezone": 7},
    ],
)
def test_what_server_time_refuses_comes_back_in_its_own_words(
    arguments: Json, oracle: Oracle, time_server: Server
) -> None:
    assert oracle.everywhere(time_server, calling("get_current_time", arguments))["isError"] is True


def test_server_git_shows_a_repository(oracle: Oracle, git: Server, repository: Path) -> None:
    here = {"repo_path": str(repository)}
    steps: list[tuple[str, Json]] = [
        ("git_status", here),
        ("git_diff_unstaged", here),
        ("git_log", here),
        ("git_show", {**here, "revision": "HEAD"}),
        ("git_branch", {**here, "branch_type": "local"}),
        ("git_add", {**here, "files": ["poem.txt"]}),
        ("git_diff_staged", {**here, "context_lines": 0}),
        ("git_reset", here),
        ("git_checkout", {**here, "branch_name": "nowhere"}),
        ("git_log", {"repo_path": str(repository / "not-there")}),
    ]

    async def body(tools: Tools) -> list[Json]:
        return [await tools.call(name, arguments) for name, arguments in steps]

    results = oracle.everywhere(git, body)
    assert "+roses are blue" in as_text_of(results[1])
    assert "Ada" in as_text_of(results[2])
    assert [bool(result.get("isError")) for result in results] == [False] * 8 + [True, True]


@pytest.mark.parametrize("name", ["time_server", "git"])
def test_a_server_of_both_eras_lists_the_same_tools_in_each(
    name: str, oracle: Oracle, request: pytest.FixtureRequest
) -> None:
    """Or the comparisons above, which use its newer one, would say little of the other."""
    server: Server = request.getfixturevalue(name)
    old = oracle.run(oracle.direct(server, LEGACY).listed)
    assert as_text(old) == as_text(oracle.run(oracle.direct(server).listed))
