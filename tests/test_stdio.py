"""Standard input and output: nothing but protocol goes out, and nothing that comes in silences us."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import time
from pathlib import Path

import pytest

from mcp_workbench.endpoint.question import METHODS
from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, toolbox

CONFIG = configuration(dev=toolbox(echo=child("echo")))


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    client = shared_workbench(CONFIG)
    client.initialize()
    client.open("dev")
    return client


def error_code(client: Client, line: bytes) -> int:
    """The code of the error with a null id that this line gets; a following ping is answered."""
    heard = len(client.messages)
    client.send_bytes(line + b"\n")
    response = client.response(None, since=heard)
    assert client.request("ping")["result"] == {}
    assert len(client.messages) == heard + 2
    assert isinstance(response["error"]["message"], str)
    return response["error"]["code"]


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
        b"{'jsonrpc':'2.0'}",
        b"\x00\x01\x02\xff\xfe",
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":01}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\x01"}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0"',
        b"[1,2",
    ],
)
def test_bad_json_is_a_parse_error(client: Client, line: bytes) -> None:
    assert error_code(client, line) == -32700


@pytest.mark.parametrize(
    "line",
    [
        b"1",
        b'"ping"',
        b"null",
        b"true",
        b"{}",
        b'{"foo":"boo"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"jsonrpc":"2.0","method":null}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    ],
)
def test_json_that_is_no_request_is_an_invalid_request(client: Client, line: bytes) -> None:
    assert error_code(client, line) == -32600


def test_an_unknown_method_is_not_found(client: Client) -> None:
    error = client.request("tools/destroy", {"x": 1})["error"]
    assert error["code"] == -32601


@pytest.mark.parametrize("params", [[1], {"name": 5}, None, {"cursor": []}])
def test_an_unknown_method_is_not_found_whatever_comes_with_it(client: Client, params: object) -> None:
    heard = len(client.messages)
    client.send_bytes(encoded({"jsonrpc": "2.0", "id": "odd", "method": "foo/bar", "params": params}))
    assert client.response("odd", since=heard)["error"]["code"] == -32601


def encoded(message: object) -> bytes:
    """As it is, where `send` leaves out what is None."""
    return json.dumps(message).encode() + b"\n"


def test_every_method_that_is_known_is_told_what_is_wrong_with_its_parameters(client: Client) -> None:
    for method in METHODS:
        error = client.request(method, {"cursor": 5})["error"]
        assert error["code"] == -32602, method


def test_half_a_character_in_what_a_client_says_of_itself_costs_nothing(workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(echo=child("echo"))))
    said = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x\ud83d"}}
    client.send_bytes(encoded({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": said}))
    assert client.response("first")["result"]["protocolVersion"] == "2025-11-25"
    client.open("dev")
    called = {"name": "use_tool", "arguments": invocation("dev/echo/seen", {"a": "\ud83d"})}
    called["_meta"] = {"note": "\ud83d"}
    client.send_bytes(encoded({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": called}))
    seen = json.loads(text(client.response("call")["result"]))
    assert seen["arguments"] == {"a": "\ud83d"}


def test_a_batch_with_half_a_character_in_it_is_a_batch(workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(echo=child("echo"))))
    client.initialize("2025-03-26")
    params = {"_meta": {"note": "\ud83d"}}
    batch = [{"jsonrpc": "2.0", "id": each, "method": "ping", "params": params} for each in ("a", "b")]
    client.send_bytes(encoded(batch))
    answers = client.wait_for(lambda each: isinstance(each, list))
    assert sorted(each["id"] for each in answers) == ["a", "b"]


def test_a_method_of_half_a_character_is_not_found_and_costs_no_other_line(client: Client) -> None:
    heard = len(client.messages)
    client.send_bytes(
        b'{"jsonrpc":"2.0","id":"a","method":"\\ud800"}\n{"jsonrpc":"2.0","id":"b","method":"ping"}\n'
    )
    assert client.response("b", since=heard)["result"] == {}
    assert client.response("a", since=heard, timeout=1)["error"]["code"] == -32601


@pytest.mark.parametrize("params", [[], [1], "x", 5])
def test_params_that_are_no_object_are_an_error_with_the_id(client: Client, params: object) -> None:
    heard = len(client.messages)
    client.send({"jsonrpc": "2.0", "id": "odd", "method": "tools/list", "params": params})
    assert client.response("odd", since=heard)["error"]["code"] == -32602


@pytest.mark.parametrize("id", ["", "x", 'quote " and é \u2028', 0, -1, 2**63, 10**30, 1.5, "1"])
def test_an_id_comes_back_as_it_was(client: Client, id: object) -> None:
    heard = len(client.messages)
    client.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
    answer = client.response(id, since=heard)
    assert answer == {"jsonrpc": "2.0", "id": id, "result": {}}
    assert type(answer["id"]) is type(id)


def test_one_id_for_everything_is_answered_every_time(client: Client) -> None:
    heard = len(client.messages)
    for number in range(20):
        call = {"name": "use_tool", "arguments": invocation("dev/echo/echo", {"n": number})}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    client.wait_for(lambda _: len(client.messages) >= heard + 20)
    said = {text(each["result"]) for each in client.messages[heard:]}
    assert said == {json.dumps({"n": number}) for number in range(20)}


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\n\n\n \t\n"])
def test_line_ends_and_empty_lines_do_not_matter(client: Client, end: bytes) -> None:
    heard = len(client.messages)
    client.send_bytes(b'  {"jsonrpc":"2.0","id":"e","method":"ping"}' + end)
    assert client.response("e", since=heard)["result"] == {}
    client.request("ping")
    assert len(client.messages) == heard + 2


def test_a_message_may_come_byte_by_byte_and_several_at_once(client: Client) -> None:
    heard = len(client.messages)
    line = b'{"jsonrpc":"2.0","id":"b","method":"ping"}\n'
    for position in range(len(line)):
        client.send_bytes(line[position : position + 1])
    client.response("b", since=heard)
    client.send_bytes(line * 50)
    client.wait_for(lambda _: len(client.messages) >= heard + 51)


def test_unknown_notifications_and_stray_replies_are_ignored(client: Client) -> None:
    heard = len(client.messages)
    client.notify("notifications/never_heard_of", {"x": 1})
    client.send({"jsonrpc": "2.0", "id": 77, "result": {}})
    client.send({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}})
    client.request("ping")
    assert len(client.messages) == heard + 1


@pytest.mark.parametrize("depth", [300, 900, 980, 1000, 1100, 5_000, 50_000])
@pytest.mark.parametrize("place", ["toolbox", "arguments"])
def test_any_depth_of_nesting_is_answered_under_its_id(client: Client, depth: int, place: str) -> None:
    deep = b"[" * depth + b"]" * depth
    tool = b'{"toolbox":"dev","server":"echo","name":"echo"}'
    call = {
        "toolbox": b'{"name":"open_toolbox","arguments":{"toolbox":%b}}' % deep,
        "arguments": b'{"name":"use_tool","arguments":{"tool":%b,"arguments":%b}}' % (tool, deep),
    }
    heard = len(client.messages)
    client.send_bytes(b'{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":%b}\n' % call[place])
    answer = client.response("deep", since=heard, timeout=3)
    if depth < 900:
        assert answer["result"]["isError"] is True
    else:
        assert answer.get("error", {}).get("code") != -32603
    assert client.request("ping")["result"] == {}


def test_unreadable_lines_are_counted_on_stderr(workbench: Launcher) -> None:
    client = workbench(configuration())
    client.send_bytes(b"garbage\n" * 8)
    client.request("ping")
    client.end()
    assert "8 unreadable" in client.stderr
    assert len(client.stderr.splitlines()) < 8


def test_a_line_of_100_mb_is_refused_and_the_next_request_works(workbench: Launcher) -> None:
    client = workbench(configuration())
    begin = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'
    client.send_bytes(begin)
    chunk = b"x" * 1_000_000
    for _ in range(100):
        client.send_bytes(chunk)
    client.send_bytes(b'"}}\n')
    assert client.response(None)["error"]["code"] in (-32600, -32700)
    assert client.request("ping")["result"] == {}
    assert _peak_memory(client) < 300_000_000


def _peak_memory(client: Client) -> int:
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_a_large_call_and_its_large_result_pass(client: Client) -> None:
    given = "é\\" * 2_000_000
    assert json.loads(text(client.use("dev/echo/echo", {"x": given}, timeout=30))) == {"x": given}


def test_half_a_line_at_the_end_of_input_is_answered(workbench: Launcher) -> None:
    client = workbench(configuration())
    client.send_bytes(b'{"jsonrpc":"2.0","id":"half","meth')
    assert client.end() == 0
    assert client.response(None)["error"]["code"] == -32700


def test_a_last_request_without_a_newline_is_answered(workbench: Launcher) -> None:
    client = workbench(configuration())
    client.send_bytes(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    assert client.end() == 0
    assert client.response("last")["result"] == {}


def test_requests_from_a_regular_file_are_all_answered(workbench: Launcher, tmp_path: Path) -> None:
    call = {"name": "use_tool", "arguments": invocation("dev/echo/slow", {"seconds": 1.5})}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "open_toolbox"}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "open_toolbox", "arguments": {"toolbox": "dev"}},
        },
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call},
    ]
    path = tmp_path / "requests.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in requests))
    with path.open("rb") as file:
        client = workbench(CONFIG, stdin=file)
    assert client.wait() == 0
    assert client.response(3)["result"]["structuredContent"]["servers_connected"] == 1
    assert text(client.response(4)["result"]) == "slept 1.5"
    assert len(client.messages) == 4


def test_an_empty_input_is_a_clean_end(workbench: Launcher) -> None:
    client = workbench(CONFIG, stdin=subprocess.DEVNULL)
    assert client.wait() == 0
    assert client.lines == []


def test_whatever_prints_prints_to_stderr(client: Client) -> None:
    own = f"/proc/{client.process.pid}/fd"
    assert os.readlink(f"{own}/1") == os.readlink(f"{own}/2")
    assert os.readlink(f"{own}/0") == os.devnull


def test_on_a_terminal_it_says_on_stderr_what_it_is(workbench: Launcher) -> None:
    ours, theirs = pty.openpty()
    client = workbench(CONFIG, stdin=theirs)
    os.close(theirs)
    os.write(ours, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert client.response(1)["result"] == {}
    os.write(ours, b"\x04")  # Ctrl-D
    assert client.wait() == 0
    os.close(ours)
    assert "MCP Workbench" in client.stderr
    assert '"command": "mcp-workbench"' in client.stderr


def test_starting_connects_nothing(workbench: Launcher, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    config = configuration(dev=toolbox(echo=child("echo", env={"STARTS": str(starts)})))
    client = workbench(config)
    client.initialize()
    client.request("tools/list")
    client.request("server/discover", modern=True)
    client.use("dev/echo/echo")
    time.sleep(0.1)
    assert client.servers() == []
    assert not starts.exists()
