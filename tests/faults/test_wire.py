"""Rows 16 to 25: what comes through the pipes."""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.http.served import Served, use
from tests.support.client import is_notification, is_response, text
from tests.support.launch import SERVERS, Launcher, child, configuration, environment, toolbox, write_config

from .bench import Bench, Rows, faulty, memory, within
from .lean import LeanClient

MB = 1_000_000
PROGRESS = "notifications/progress"


def answered_by(line: bytes) -> dict[str, str]:
    """The arguments of echo's `line`: its whole answer, in which ID stands for the call's id."""
    return {"base64": base64.b64encode(line).decode()}


def test_row_16_noise_on_a_childs_output(rows: Rows) -> None:
    bench = rows({"noisy": child("noisy"), "echo": child("echo")})
    assert bench.use("dev/noisy/hello") == "hello \u2028 there"
    bench.logged("dev/noisy/hello", "success")
    spellings = [
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"here"}]}}\r',
        b"\r\n\n \n\xff\xfe\n\xe2\x80\xa8\nID\nnull\n\x00\n"
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"here"}]}}',
        b'{"id": \n{"result":{"content":[{"type":"text","text":"here"}]},"id":ID}\n{"jsonrpc":"2.0"}',
    ]
    for line in spellings:
        assert bench.use("dev/echo/line", answered_by(line)) == "here"
    bench.logged("dev/echo/line", "success", count=len(spellings))


def test_row_17_a_result_of_50_mb(tmp_path: Path) -> None:
    size, most = 50 * MB, 8
    config = configuration(dev=toolbox(echo=child("echo"), other=child("echo")))
    path = write_config(tmp_path, config)
    env = environment(tmp_path)
    large = 0
    direct: list[float] = []
    through: list[float] = []
    beside: list[float] = []
    with (
        LeanClient([sys.executable, "-S", str(SERVERS / "echo.py")], env, tmp_path) as server,
        LeanClient(
            [sys.executable, "-m", "mcp_workbench", "--config", str(path)], env, tmp_path
        ) as workbench,
    ):

        def use_tool(server: str, name: str, **arguments: Any) -> int:
            ref = {"toolbox": "dev", "server": server, "name": name}
            called = {"tool": ref, "arguments": arguments}
            return workbench.ask("tools/call", name="use_tool", arguments=called)

        workbench.took(workbench.ask("tools/call", name="open_toolbox", arguments={"toolbox": "dev"}))
        workbench.took(use_tool("other", "echo"))
        before = memory(workbench.process.pid)
        # Again where it failed: a moment in which the machine was busy with something else is not ours.
        for _ in range(most):
            direct.append(server.took(server.ask("tools/call", name="large", arguments={"size": size})))
            large = use_tool("echo", "large", size=size)
            small: list[int] = []
            while not workbench.arrived(large):
                small += [use_tool("other", "echo"), workbench.ask("ping")]
                time.sleep(0.01)
            through.append(workbench.took(large))
            beside.append(max(workbench.took(id) for id in small))
            if through[-1] < 4 * direct[-1] and beside[-1] < 0.1:
                break
        used = memory(workbench.process.pid) - before
        assert len(text(workbench.answer(large))) == size
    assert min(through) < 4 * min(direct), (direct, through)
    assert min(beside) < 0.1, beside
    assert used < 4 * size
    log = [json.loads(line) for line in (tmp_path / "log" / "ToolBox.log").read_text().splitlines()]
    assert [line["stat"] for line in log if line["tool"] == "large"] == ["success"] * len(through)


def test_row_18_300_mb_without_a_newline(rows: Rows) -> None:
    bench = rows({"awkward": faulty("awkward")})
    before = memory(bench.client.process.pid)
    bench.fails("dev/awkward/torrent", {"bytes": 300 * MB}, "limits.maxLine", "67108864", "starts it again")
    assert memory(bench.client.process.pid) - before < 2 * 64 * 1024 * 1024
    bench.logged("dev/awkward/torrent")
    assert bench.use("dev/awkward/listed") == "1"


ODD_RESULTS = {
    "nesting": b'{"content":[],"deep":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "1e400": b'{"content":[],"x":1e400}',
    "surrogates": b'{"content":[{"type":"text","text":"\\ud800"}],"\\udfff":1}',
    "keys": b'{"content":[],"content":[1],"x":1,"x":2}',
}


@pytest.mark.parametrize("odd", ODD_RESULTS)
def test_row_19_odd_json_in_a_result(rows: Rows, odd: str) -> None:
    bench = rows({"echo": child("echo")})
    answer = ODD_RESULTS[odd]
    with within(1):
        line = b'{"jsonrpc":"2.0","id":ID,"result":%b}' % answer
        id = bench.start("dev/echo/line", answered_by(line))
        # A client may be unable to parse it as well.
        mine = b'"id":%d,' % id
        bench.client.wait_for(
            lambda each: is_response(each, id) or (isinstance(each, bytes) and mine in each)
        )
    (heard,) = [line for line in bench.client.lines if mine in line]
    if answer not in heard:
        bench.failed("dev/echo/line", id, "nested too deeply")
        bench.logged("dev/echo/line", "error")
    else:
        bench.logged("dev/echo/line", "success")


def test_row_20_replies_with_wrong_ids(rows: Rows) -> None:
    awkward = faulty("awkward", limits={"timeout": 0.3})
    bench = rows({"echo": child("echo"), "awkward": awkward})
    wrong = [b"999999", b'"ID"', b"null", b"true", b"[ID]", b"-ID", b"ID.0", b"1e9", b'""']
    lines = [b'{"jsonrpc":"2.0","id":%b,"result":{"content":["wrong"]}}' % id for id in wrong]
    right = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"right"}]}}'
    again = b'{"jsonrpc":"2.0","id":ID,"result":{"content":["again"]}}'
    for _ in range(3):
        said = bench.use("dev/echo/line", answered_by(b"\n".join([*lines, right, again])))
        assert said == "right"
    bench.fails("dev/awkward/late", {"seconds": 0.5}, "time-out")
    time.sleep(0.4)
    assert bench.use("dev/awkward/listed") == "1"
    bench.logged("dev/echo/line", "success", count=3)
    bench.logged("dev/awkward/late")


def test_row_20_a_client_that_uses_one_id_for_everything(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    numbers = range(20)
    for number in numbers:
        ref = {"toolbox": "dev", "server": "echo", "name": "echo"}
        params = {"name": "use_tool", "arguments": {"tool": ref, "arguments": {"n": number}}}
        bench.client.send({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params})
    until = time.monotonic() + 5
    while len(heard := [each for each in bench.client.messages if is_response(each, "same")]) < len(numbers):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert sorted(json.loads(text(each["result"]))["n"] for each in heard) == list(numbers)
    bench.logged("dev/echo/echo", "success", count=len(numbers))


def test_row_20_two_clients_that_use_the_same_ids(tmp_path: Path) -> None:
    with Served(tmp_path, configuration(dev=toolbox(echo=child("echo")))) as served:
        sessions = [served.session() for _ in range(2)]
        for session in sessions:
            opening = {"name": "open_toolbox", "arguments": {"toolbox": "dev"}}
            assert session.ask("tools/call", opening).status == 200
        calls = {}
        for number, session in enumerate(sessions):  # the one that asks first is answered last
            slow = use("dev/echo/slow", {"seconds": 0.6 - number * 0.3})
            calls[number] = session.stream("tools/call", slow, id=1)
        said = [text(_last_message(call)["result"]) for call in calls.values()]
        assert said == ["slept 0.6", "slept 0.3"]


def _last_message(live: Any) -> Any:
    if live.headers["Content-Type"].startswith("text/event-stream"):
        return json.loads(live.rest()[-1]["data"])
    return json.loads(live.response.read())


def test_row_21_100_mb_on_stderr(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    before = memory(bench.client.process.pid)
    flooding = bench.start("dev/echo/flood", {"bytes": 100 * MB})
    while not any(is_response(each, flooding) for each in list(bench.client.messages)):
        with within(1):
            assert bench.use("dev/echo/echo") == "{}"
    assert bench.said(flooding) == "flooded"
    assert memory(bench.client.process.pid) - before < 10 * MB
    bench.logged("dev/echo/flood", "success")


def test_row_22_a_child_that_stops_reading(rows: Rows) -> None:
    bench = rows({"awkward": faulty("awkward", limits={"timeout": 2}), "echo": child("echo")})
    assert bench.use("dev/awkward/deaf") == "deaf"
    large = {"text": "x" * 20 * MB}
    before = memory(bench.client.process.pid)
    first = bench.start("dev/awkward/listed", large)
    others = [bench.start("dev/awkward/listed", large) for _ in range(6)]
    with within(1):
        assert bench.use("dev/echo/echo") == "{}"
    bench.failed("dev/awkward/listed", first, "time-out", "limits.timeout")
    reasons = [bench.failed("dev/awkward/listed", id) for id in others]
    # What waits is bounded; whoever would make it more is told so at once.
    assert any("busy: the server does not read" in reason for reason in reasons), reasons
    assert memory(bench.client.process.pid) - before < 2 * 64 * 1024 * 1024 + 2 * 20 * MB
    bench.logged("dev/awkward/listed", count=7)
    assert bench.use("dev/awkward/late", {"seconds": 0}) == "late"


def steps(bench: Bench, token: str) -> list[int]:
    told = [each["params"] for each in bench.client.notifications(PROGRESS)]
    return [each["progress"] for each in told if each["progressToken"] == token]


def test_row_23_progress(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    steady = bench.start("dev/echo/progress", {"steps": 190, "pause": 0.01}, progressToken="steady")
    flood = bench.start("dev/echo/progress", {"steps": 20_000}, progressToken="flood")
    began = time.monotonic()
    assert bench.said(flood) == "done"
    took = time.monotonic() - began
    assert bench.said(steady) == "done"
    assert steps(bench, "steady") == list(range(1, 191))
    told = steps(bench, "flood")
    assert told == sorted(set(told))
    assert told[-1] == 20_000
    assert len(told) < 150 * (took + 1)
    bench.logged("dev/echo/progress", "success", count=2)


def test_row_24_200_list_changed_at_once(rows: Rows) -> None:
    bench = rows({"awkward": faulty("awkward")})
    assert bench.use("dev/awkward/listed") == "1"
    assert bench.use("dev/awkward/shout", {"times": 200}) == "shouted"
    bench.client.wait_for(lambda each: is_notification(each, "notifications/tools/list_changed"))
    time.sleep(0.5)
    assert int(bench.use("dev/awkward/listed")) <= 3
    assert len(bench.client.notifications("notifications/tools/list_changed")) == 1
    bench.logged("dev/awkward/shout", "success")


GARBAGE = [
    (b"hello\n", -32700),
    (b"\xff\xfe\n", -32700),
    (b'{"jsonrpc":"2.0","id":1,\n', -32700),
    (b"[]\n", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600),
    (b"42\n", -32600),
    (b'{"jsonrpc":"2.0","id":1,"result":{}}\n', None),
    (b'{"jsonrpc":"2.0","method":"notifications/never_heard_of"}\n', None),
    (b"\n \r\n", None),
]


def test_row_25_garbage_from_the_client(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    client = bench.client
    for garbage, code in GARBAGE:
        with bench.watch.hold():
            heard = len(client.messages)
            client.send_bytes(garbage)
            if code is not None:
                answer = client.wait_for(lambda each: is_response(each, None), since=heard)
                assert answer["error"]["code"] == code, garbage
        assert bench.use("dev/echo/echo") == "{}"
    with bench.watch.hold():
        client.send_bytes(b'{"jsonrpc":"2.0","id":"half","met')
        time.sleep(0.3)
        client.send_bytes(b'hod":"ping"}\n')
        assert client.response("half")["result"] == {}
    bench.logged("dev/echo/echo", "success", count=len(GARBAGE))


def test_row_25_half_a_line_at_the_end(workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(echo=child("echo"))))
    client.send_bytes(b'{"jsonrpc":"2.0","id":1,"met')
    assert client.end() == 0
    assert client.left_behind(0) == []
