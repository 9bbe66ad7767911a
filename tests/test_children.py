"""Child servers at work: calls in any order, deaths, time-outs, and everything a wire can carry."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from typing import Any

import pytest

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, toolbox
from tests.support.processes import kill

PROGRESS = "notifications/progress"


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    servers = toolbox(echo=child("echo"), other=child("echo"), noisy=child("noisy"))
    client = shared_workbench(configuration(dev=servers))
    client.initialize()
    client.open("dev")
    return client


def start_use(client: Client, ref: str, arguments: dict[str, Any], **meta: Any) -> int:
    params: dict[str, Any] = {"name": "use_tool", "arguments": invocation(ref, arguments)}
    return client.start_request("tools/call", {**params, "_meta": meta} if meta else params)


def pid_of(client: Client, ref: str = "dev/echo/about") -> int:
    return json.loads(text(client.use(ref)))["pid"]


def failed(ref: str) -> str:
    toolbox_name, server, name = ref.split("/")
    return f"Error executing tool '{name}' in server '{server}' (toolbox '{toolbox_name}'): "


# Concurrency


def test_calls_to_one_server_finish_in_any_order(client: Client) -> None:
    ids = [start_use(client, "dev/echo/slow", {"seconds": seconds}) for seconds in (0.4, 0.2, 0.0)]
    for id in ids:
        client.response(id)
    order = [each["id"] for each in client.messages if each.get("id") in ids]
    assert order == ids[::-1]


def test_one_slow_call_holds_up_nothing(client: Client) -> None:
    slow = start_use(client, "dev/echo/slow", {"seconds": 1})
    began = time.monotonic()
    for number in range(100):
        assert text(client.use("dev/echo/echo", {"n": number})) == json.dumps({"n": number})
    assert time.monotonic() - began < 1
    assert text(client.response(slow)["result"]) == "slept 1"


def test_progress_reaches_the_client_under_its_own_token(client: Client) -> None:
    id = start_use(client, "dev/echo/progress", {"steps": 5}, progressToken="mine")
    client.response(id)
    told = [each["params"] for each in client.notifications(PROGRESS)]
    mine = [each for each in told if each["progressToken"] == "mine"]
    assert [each["progress"] for each in mine] == [1, 2, 3, 4, 5]
    assert [each["x"] for each in mine] == [[1], [2], [3], [4], [5]]

    assert client.messages[-1]["id"] == id


def test_progress_of_two_calls_is_not_mixed_up(client: Client) -> None:
    tokens = [7, "7", "x"]
    ids = [
        start_use(client, "dev/echo/progress", {"steps": 10, "pause": 0.005}, progressToken=token)
        for token in tokens
    ]
    for id in ids:
        client.response(id)
    told = [each["params"] for each in client.notifications(PROGRESS)]
    for token in tokens:
        steps = [each["progress"] for each in told if each["progressToken"] == token]
        assert steps == list(range(1, 11))


def test_without_a_token_no_progress_is_asked_for(client: Client) -> None:
    seen = json.loads(text(client.use("dev/echo/seen", {"a": 1})))
    assert seen["name"] == "seen"
    assert seen["arguments"] == {"a": 1}
    assert "progressToken" not in seen.get("_meta", {})


# Deaths


def test_a_server_that_dies_in_a_call_is_told_with_its_last_words_and_started_again(client: Client) -> None:
    before = pid_of(client)
    began = time.monotonic()
    said = text(client.use("dev/echo/die", {"stderr": "\x1b[31mout of cheese\x1b[0m\n", "status": 3}))
    assert time.monotonic() - began < 1
    assert said.startswith(failed("dev/echo/die"))
    assert "status 3" in said
    assert "out of cheese" in said
    assert "\x1b" not in said
    began = time.monotonic()
    assert pid_of(client) != before
    assert time.monotonic() - began < 3


def test_fifty_calls_in_flight_all_hear_of_the_death(workbench: Launcher) -> None:
    limits = {"concurrency": 100}
    client = workbench(configuration(dev=toolbox(echo=child("echo", limits=limits), other=child("echo"))))
    client.open("dev")
    ids = [start_use(client, "dev/echo/slow", {"seconds": 60}) for _ in range(50)]
    time.sleep(0.2)
    dying = start_use(client, "dev/echo/die", {})
    began = time.monotonic()
    for id in [*ids, dying]:
        result = client.response(id)["result"]
        assert result["isError"] is True
        assert "status 3" in text(result)
    assert time.monotonic() - began < 1
    assert text(client.use("dev/echo/echo")) == "{}"


def test_an_idle_server_that_was_killed_is_started_by_the_next_call(client: Client) -> None:
    before = pid_of(client)
    kill(before)
    listed = client.open("dev")
    assert "_errors" not in listed
    assert pid_of(client) != before


def test_a_stopped_server_times_out_and_is_replaced(workbench: Launcher) -> None:
    limits = {"timeout": 0.5}
    client = workbench(configuration(dev=toolbox(echo=child("echo", limits=limits))))
    client.open("dev")
    stopped = pid_of(client)
    os.kill(stopped, signal.SIGSTOP)
    said = text(client.use("dev/echo/echo"))
    assert said.startswith(failed("dev/echo/echo"))
    assert "time-out" in said
    assert pid_of(client) != stopped


def test_a_call_over_its_limit_times_out_and_harms_no_other(workbench: Launcher) -> None:
    limits = {"timeout": 0.6, "idleTimeout": 0.3}
    client = workbench(configuration(dev=toolbox(echo=child("echo", limits=limits))))
    client.open("dev")
    silent = start_use(client, "dev/echo/slow", {"seconds": 20})
    alive = start_use(client, "dev/echo/progress", {"steps": 5, "pause": 0.1})
    endless = start_use(client, "dev/echo/progress", {"steps": 50, "pause": 0.1})
    assert "0.3 s" in text(client.response(silent)["result"])
    assert text(client.response(alive)["result"]) == "done"
    said = text(client.response(endless)["result"])
    assert said.startswith(failed("dev/echo/progress"))
    assert "0.6 s" in said
    assert text(client.use("dev/echo/echo")) == "{}"


def test_more_calls_than_places_wait_and_then_are_told_it_is_busy(workbench: Launcher) -> None:
    limits = {"concurrency": 2, "queue": 3}
    client = workbench(configuration(dev=toolbox(echo=child("echo", limits=limits))))
    client.open("dev")
    ids = [start_use(client, "dev/echo/slow", {"seconds": 0.2}) for _ in range(8)]
    said = [text(client.response(id)["result"]) for id in ids]
    assert said[:5] == ["slept 0.2"] * 5
    for busy in said[5:]:
        assert busy.startswith(failed("dev/echo/slow"))
        assert "busy" in busy


# The wire


def test_noise_on_a_servers_output_is_skipped(client: Client) -> None:
    assert text(client.use("dev/noisy/hello")) == "hello \u2028 there"


def emit(client: Client, line: bytes, **options: Any) -> Any:
    """What comes of a call that is answered by this very line, where ID stands for its id."""
    return client.use("dev/echo/line", {"base64": base64.b64encode(line).decode()}, **options)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\r',
        b'  {"id" : ID , "result" : {"content":[]} , "jsonrpc":"2.0"}  ',
        b'{"result":{"content":[]},"id":ID}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"extra":[{}]}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":null}',
        b'{"jsonrpc":"2.0","\\u0069d":ID,"result":{"content":[]}}',
        b'[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]',
        b'\xe2\x80\xa8\n{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\n{"jsonrpc":"2.0","id":ID,"result":1}',
    ],
)
def test_answers_in_every_lawful_spelling_are_understood(client: Client, line: bytes) -> None:
    assert emit(client, line) == {"content": []}


@pytest.mark.parametrize(
    "result",
    [
        b'{"content":[{"type":"text","text":"\\ud800"}]}',
        b'{"content":[],"x":1e400,"y":-1E-400}',
        b'{"content":[],"content":[1],"x":1,"x":2}',
        b'{"content":[],"x":123456789012345678901234567890}',
        b'{"content":[],"\\udfff":{"\\ud83d":"\\ud83d"}}',
        b'{"content":[],"deep":' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"content":[],"z":"\\u0000\\/\\u00e9\xc3\xa9"}',
    ],
    ids=lambda result: result[:40].decode(),
)
def test_odd_json_in_a_result_passes_byte_for_byte(client: Client, result: bytes) -> None:
    emit(client, b'{"jsonrpc":"2.0","id":ID,"result":%b}' % result)
    assert b'"result":%b}' % result in client.lines[-1]


def test_an_error_with_half_an_emoji_keeps_its_code(client: Client) -> None:
    error = b'{"code":-32602,"message":"no \\ud83d","data":{"why":"\\ud83d"}}'
    result = emit(client, b'{"jsonrpc":"2.0","id":ID,"error":%b}' % error)
    said, signature = (block["text"] for block in result["content"])
    assert said == f"{failed('dev/echo/line')}no \ufffd"
    assert signature.startswith("dev/echo/line(")  # how to call it, as after any -32602


def test_an_error_result_with_half_an_emoji_is_logged_with_its_text(workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(echo=child("echo"))))
    client.open("dev")
    client.use("dev/echo/raw", {"json": '{"content":[{"type":"text","text":"no \\ud83d"}],"isError":true}'})
    (line,) = (workbench.folder / "home0/log/ToolBox.log").read_text().splitlines()
    assert json.loads(line)["err"] == "no \ufffd"


def test_progress_with_half_an_emoji_is_heard(client: Client) -> None:
    said = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":%b}}'
    lines = said % b'1,"message":"\\ud83d"' + b'\n{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}'
    arguments = {"base64": base64.b64encode(lines).decode()}
    client.response(start_use(client, "dev/echo/line", arguments, progressToken="cut"))
    (heard,) = (each["params"] for each in client.notifications(PROGRESS) if "cut" in each["params"].values())
    assert heard == {"progressToken": "cut", "progress": 1, "message": "\ufffd"}


def test_a_message_without_params_is_a_message_all_the_same(client: Client) -> None:
    before = len(client.notifications("notifications/message"))
    said = b'{"jsonrpc":"2.0","method":"notifications/message"}\n'
    emit(client, said + b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}')
    assert [each["params"] for each in client.notifications("notifications/message")[before:]] == [{}]


def test_a_modern_client_gets_odd_json_with_its_result_type(client: Client) -> None:
    result = b'{"content":[{"type":"text","text":"\\ud800"}],"x":1,"x":1e400}'
    answered = emit(client, b'{"jsonrpc":"2.0","id":ID,"result":%b}' % result, modern=True)
    assert answered["resultType"] == "complete"
    assert result[1:-1] in client.lines[-1]


@pytest.mark.parametrize(
    "answer",
    [
        b'"result":{"deep":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'"result":{"text":"\xff\xfe"}',
        b'"result":[1]',
        b'"result":"text"',
        b'"result":null',
        b'"result":NaN',
        b'"result":{"a":tru}',
        b'"error":{"code":"x"}',
        b'"error":{}',
        b'"error":"it broke"',
        b'"error":null',
        b'"result":null,"error":{"code":1,"message":"both"}',
    ],
    ids=lambda answer: answer[:30].decode(errors="replace"),
)
def test_an_answer_that_is_no_result_is_an_error_at_once(client: Client, answer: bytes) -> None:
    began = time.monotonic()
    heard = len(client.lines)
    line = base64.b64encode(b'{"jsonrpc":"2.0","id":ID,%b}' % answer).decode()
    id = start_use(client, "dev/echo/line", {"base64": line})
    client.wait_for(lambda _: len(client.lines) > heard, since=heard, timeout=3)
    assert time.monotonic() - began < 1
    if isinstance(client.messages[heard], dict):
        result = client.response(id, since=heard)["result"]
        assert result["isError"] is True
        assert text(result).startswith(failed("dev/echo/line"))
    else:  # nested too deeply to be parsed here: then it was passed through
        assert answer in client.lines[heard]


def test_a_line_over_the_limit_ends_its_server_and_says_so(workbench: Launcher) -> None:
    limits = {"maxLine": 1_000_000}
    client = workbench(configuration(dev=toolbox(echo=child("echo", limits=limits), other=child("echo"))))
    client.open("dev")
    assert len(text(client.use("dev/echo/large", {"size": 900_000}))) == 900_000
    said = text(client.use("dev/echo/large", {"size": 2_000_000}))
    assert said.startswith(failed("dev/echo/large"))
    assert "maxLine" in said
    assert text(client.use("dev/echo/echo")) == "{}"


def test_much_on_stderr_stalls_nothing(client: Client) -> None:
    assert text(client.use("dev/echo/flood", {"bytes": 30_000_000})) == "flooded"


def test_a_large_result_does_not_hold_up_a_small_one(client: Client) -> None:
    large = start_use(client, "dev/echo/large", {"size": 20_000_000})
    assert text(client.use("dev/other/echo", timeout=2)) == "{}"
    assert len(text(client.response(large)["result"])) == 20_000_000
