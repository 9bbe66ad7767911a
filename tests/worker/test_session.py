"""The worker as an MCP server: the handshake, the methods, the errors."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from .conftest import Folder, WireError, wait_until


def test_a_worker_introduces_itself_as_a_server_whose_list_changes(folder: Folder) -> None:
    worker = folder.start()
    answer = worker.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    assert answer["protocolVersion"] == "2025-11-25"
    assert answer["capabilities"]["tools"] == {"listChanged": True}
    assert answer["serverInfo"]["name"] == "tools"


def test_a_client_of_an_older_revision_gets_its_own_and_an_unknown_one_the_newest(folder: Folder) -> None:
    worker = folder.start()
    assert worker.request("initialize", {"protocolVersion": "2024-11-05"})["protocolVersion"] == "2024-11-05"
    assert worker.request("initialize", {"protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-11-25"


def test_a_ping_is_answered(folder: Folder) -> None:
    assert folder.start().request("ping") == {}


@pytest.mark.parametrize("method", ["server/discover", "resources/list", "nonsense"])
def test_a_method_we_do_not_have_is_refused(folder: Folder, method: str) -> None:
    with pytest.raises(WireError) as refused:
        folder.start().request(method)
    assert refused.value.code == -32601


def test_an_unknown_tool_is_refused_by_name(folder: Folder) -> None:
    with pytest.raises(WireError, match="nope") as refused:
        folder.start().call("nope")
    assert refused.value.code == -32602


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{nonsense", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[1]", -32600),
        (b"3", -32600),
    ],
)
def test_a_bad_line_is_answered_and_the_next_one_served(folder: Folder, line: bytes, code: int) -> None:
    worker = folder.start()
    worker.send_line(line)
    reply = worker.strays.get(timeout=10)
    assert (reply["id"], reply["error"]["code"]) == (None, code)
    assert worker.request("ping") == {}


@pytest.mark.parametrize(
    "params", [{}, {"name": 3}, {"name": "a", "arguments": "x"}, {"name": "a", "_meta": 3}, [1]]
)
def test_a_call_that_is_none_is_refused(folder: Folder, params: Any) -> None:
    folder.plain("a", "return 'ran'")
    with pytest.raises(WireError) as refused:
        folder.start().request("tools/call", params)
    assert refused.value.code == -32602


def test_a_client_may_ask_for_fewer_log_messages(folder: Folder) -> None:
    folder.write(
        "a.py",
        """
        schema = {"name": "a", "description": "d", "type": "object", "properties": {}}
        def default(request, ctx):
            ctx.info("small")
            ctx.error("big")
            ctx.log("shout", "?")
        """,
    )
    worker = folder.start()
    assert worker.request("logging/setLevel", {"level": "warning"}) == {}
    assert "'shout' is no log level" in worker.error("a")
    assert [notice["params"]["data"] for notice in worker.notices] == ["big"]
    with pytest.raises(WireError):
        worker.request("logging/setLevel", {"level": "loud"})


def test_a_listing_says_form_and_file_of_each_tool(folder: Folder) -> None:
    folder.plain("a", "return 'a'")
    folder.write(
        "b.py", "from mcp_workbench import tool\n@tool\ndef one() -> str:\n    'One.'\n    return '1'\n"
    )
    tools = folder.start().tools()
    versions = {tools[name]["_meta"].pop("workbench/version") for name in ("a", "one")}
    assert len(versions) == 2
    assert tools["a"]["_meta"] == {"workbench/form": "plain", "workbench/file": "a.py"}
    assert tools["one"]["_meta"] == {"workbench/form": "typed", "workbench/file": "b.py"}


def test_a_folder_that_is_not_there_is_an_error_line_and_heals(folder: Folder) -> None:
    folder.path.rmdir()
    worker = folder.start()
    (line,) = worker.errors()
    assert "mkdir" in line
    folder.path.mkdir(mode=0o755)
    folder.plain("a", "return 'back'")
    assert worker.text("a") == "back"
    assert worker.errors() == []


def test_the_end_of_the_pipe_ends_the_worker_in_peace(folder: Folder) -> None:
    assert folder.start().close() == 0


def test_a_call_of_megabytes_in_both_directions_arrives_whole(folder: Folder) -> None:
    folder.plain("echo", "return request.params.arguments['x']")
    big = "é" * 3_000_000
    assert folder.start().text("echo", x=big) == big


def test_many_calls_at_once_are_all_answered(folder: Folder) -> None:
    folder.plain("plain", "return request.params.arguments['x']")
    folder.plain("soon", "return request.params.arguments['x']", "async def")
    worker = folder.start()
    calls = {worker.begin_call(name, {"x": str(n)}): str(n) for n in range(200) for name in ("plain", "soon")}
    assert all(worker.end(number)["content"][0]["text"] == text for number, text in calls.items())


def test_a_stopped_and_continued_worker_goes_on(folder: Folder) -> None:
    folder.plain("a", "return 'a'", "async def")
    worker = folder.start()
    assert worker.text("a") == "a"
    os.kill(worker.process.pid, signal.SIGSTOP)
    number = worker.begin_call("a")
    os.kill(worker.process.pid, signal.SIGCONT)
    assert json.dumps(worker.end(number)) == '{"content": [{"type": "text", "text": "a"}]}'


def test_a_request_that_python_cannot_read_is_answered_by_its_id(folder: Folder) -> None:
    folder.plain("a", "return 'ran'")
    worker = folder.start()
    number = worker.begin("ping")
    assert worker.end(number) == {}
    line = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","arguments":{"x":%s}}}'
    for hard in ("7" * 5000, "[" * 100_000):
        worker.send_line((line % (number, hard)).encode())
        with pytest.raises(WireError, match="Parse error") as refused:
            worker.end(number)
        assert refused.value.code == -32700
    assert worker.text("a") == "ran"


def test_an_answer_that_python_cannot_read_ends_the_call_that_waits_for_it(folder: Folder) -> None:
    folder.plain("a", "from mcp_workbench import call_tool\nreturn (await call_tool('b')).text", "async def")
    worker = folder.start()
    worker.hold_inner.set()
    number = worker.begin_call("a")
    wait_until(lambda: worker.held)
    worker.send_line(b'{"jsonrpc":"2.0","id":%d,"result":{"n":%s}}' % (worker.held[0], b"7" * 5000))
    result = worker.end(number)
    assert result["isError"]
    assert "Parse error" in result["content"][0]["text"]
