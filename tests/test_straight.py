"""The straight way of a call gives what the way that fits everything gives, however a line is worded."""

from __future__ import annotations

import base64
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, toolbox
from tests.support.processes import kill

CONFIG = configuration(dev=toolbox(echo=child("echo")))
SAID = {"content": [{"type": "text", "text": "said"}]}


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    client = shared_workbench(CONFIG)
    client.initialize()
    client.open("dev")
    return client


def reply(client: Client, line: str) -> Any:
    """What becomes of a call whose server replies with this line."""
    return client.use("dev/echo/line", {"base64": base64.b64encode(line.encode()).decode()})


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":ID,"result":SAID}',
        '{"jsonrpc": "2.0", "id": ID, "result": SAID}',
        '{"result":SAID,"jsonrpc":"2.0","id":ID}',
        '{"id":ID,"result":SAID}',
        '{"jsonrpc":"2.0","id":ID,"result":SAID }  ',
        '{"jsonrpc":"2.0","id":ID,"result":SAID}\r',
        '{"jsonrpc":"2.0","id":ID,"result":SAID,"more":{}}',
        '{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"result":SAID}',
        '{"jsonrpc":"2.0","id":ID,"result":SAID,"note":"\\ud800"}',
    ],
)
def test_a_reply_may_be_worded_as_a_server_likes(client: Client, line: str) -> None:
    assert reply(client, line.replace("SAID", json.dumps(SAID))) == SAID


@pytest.mark.parametrize("result", ["[]", '"text"', "7", "null"])
def test_a_result_that_is_no_object_is_an_error_that_says_so(client: Client, result: str) -> None:
    answer = reply(client, f'{{"jsonrpc":"2.0","id":ID,"result":{result}}}')
    assert answer["isError"] is True
    assert "no result object" in text(answer)


def test_a_reply_that_is_no_json_is_an_error_and_the_next_call_works(client: Client) -> None:
    answer = reply(client, '{"jsonrpc":"2.0","id":ID,"result":{"content":[}}')
    assert answer["isError"] is True
    assert "unreadable" in text(answer)
    assert text(client.use("dev/echo/echo", {"text": "still here"})).count("still here") == 1


def test_a_process_that_dies_over_a_call_is_told_of_and_started_again(client: Client) -> None:
    assert "exited with status 3 during the call" in text(client.use("dev/echo/die", {}))
    assert "again" in text(client.use("dev/echo/echo", {"text": "again"}))


@pytest.mark.parametrize("id", [7, "seven", -1, 1.5, "7", "ü"])
def test_an_answer_carries_the_id_of_its_request(client: Client, id: object) -> None:
    heard = len(client.messages)
    params = {"name": "use_tool", "arguments": invocation("dev/echo/raw", {"json": json.dumps(SAID)})}
    client.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    assert client.response(id, since=heard)["result"] == SAID


def test_two_hundred_calls_at_once_are_answered_each_with_its_own(client: Client) -> None:
    heard = len(client.messages)
    lines = b""
    for number in range(200):
        arguments = invocation("dev/echo/echo", {"text": f"number {number}."})
        params = {"name": "use_tool", "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": f"many-{number}", "method": "tools/call", "params": params}
        lines += json.dumps(request).encode() + b"\n"
    client.send_bytes(lines)
    for number in range(200):
        answer = client.response(f"many-{number}", since=heard)
        assert f"number {number}." in text(answer["result"])


def test_a_cancelled_call_has_no_answer_and_one_line_in_the_log(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.initialize()
    client.open("dev")
    arguments = invocation("dev/echo/slow", {"seconds": 30})
    id = client.start_request("tools/call", {"name": "use_tool", "arguments": arguments})
    time.sleep(0.3)
    client.notify("notifications/cancelled", {"requestId": id})
    client.use("dev/echo/echo", {"text": "next"})
    assert not [message for message in client.messages if message.get("id") == id]
    logged = [json.loads(line) for file in workbench.folder.rglob("ToolBox.log") for line in file.open()]
    assert [call["err"] for call in logged if call["tool"] == "slow"] == ["cancelled"]


def test_calls_cancelled_in_the_moment_in_which_their_server_dies_are_over(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.initialize()
    client.open("dev")
    server = json.loads(text(client.use("dev/echo/about")))["pid"]
    arguments = invocation("dev/echo/slow", {"seconds": 30})
    ids = [client.start_request("tools/call", {"name": "use_tool", "arguments": arguments}) for _ in range(3)]
    client.use("dev/echo/echo", {"text": "they are on their way"})
    # When the workbench looks again, the death and the cancelling are there at once, in this order.
    client.signal(signal.SIGSTOP)
    kill(server)
    for id in ids:
        client.notify("notifications/cancelled", {"requestId": id})
    client.signal(signal.SIGCONT)
    client.use("dev/echo/echo", {"text": "next"})
    assert not [message for message in client.messages if message.get("id") in ids]
    assert client.end() == 0
    assert "never awaited" not in client.stderr
    logged = [json.loads(line) for file in workbench.folder.rglob("ToolBox.log") for line in file.open()]
    assert [call["err"] for call in logged if call["tool"] == "slow"] == ["cancelled"] * 3


def test_progress_of_a_call_that_is_made_again_and_of_the_calls_of_a_tool_is_heard(
    workbench: Launcher, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir(0o755)
    file = tmp_path / "tools" / "outer.py"
    file.write_text(
        "from mcp_workbench import call_tool, tool\n"
        "@tool\n"
        "async def outer() -> str:\n"
        '    "Calls."\n'
        "    return (await call_tool('progress', {'steps': 3})).text\n"
    )
    file.chmod(0o644)
    client = workbench(configuration(dev=toolbox(echo=child("echo"), mine={"path": str(tmp_path / "tools")})))
    client.initialize()
    client.open("dev")
    kill(json.loads(text(client.use("dev/echo/about")))["pid"])
    for ref, arguments in (("dev/echo/progress", {"steps": 3}), ("dev/mine/outer", {})):
        params = {
            "name": "use_tool",
            "arguments": invocation(ref, arguments),
            "_meta": {"progressToken": ref},
        }
        client.response(client.start_request("tools/call", params))
        told = [each for each in client.messages if each.get("method") == "notifications/progress"]
        heard = [each["params"]["progress"] for each in told if each["params"]["progressToken"] == ref]
        assert heard == [1, 2, 3]
