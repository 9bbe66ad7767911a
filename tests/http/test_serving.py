"""Starting and ending: what is refused, what is said, and that calls under way may finish."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import PATIENCE
from tests.support.launch import environment, write_config

from .conftest import ECHO, Serve
from .served import COMMAND, Served, modern_body, modern_headers, use


def refused(tmp_path: Path, *args: str, config: dict[str, Any] = ECHO) -> str:
    """What a start that comes to nothing says."""
    env = {**environment(tmp_path), "WORKBENCH_CONFIG": str(write_config(tmp_path, config))}
    done = subprocess.run(
        [*COMMAND, *args], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode in (1, 2), done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("where", ["0.0.0.0:0", ":0", "[::]:0"])
def test_without_a_token_only_this_machine_is_served(tmp_path: Path, where: str) -> None:
    said = refused(tmp_path, "--http", where, "--no-token")
    assert "--no-token would let everyone in" in said


def test_no_token_contradicts_configured_tokens(tmp_path: Path) -> None:
    config = {**ECHO, "http": {"tokens": {"a": {"token": "t"}}}}
    assert "contradicts" in refused(tmp_path, "--http", "127.0.0.1:0", "--no-token", config=config)


def test_a_port_that_is_taken_a_wrong_address_and_nothing_to_serve_are_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert f"cannot listen on {where}" in refused(tmp_path, "--http", where)
    assert "HOST:PORT" in refused(tmp_path, "--http", "nonsense")
    assert "--http" in refused(tmp_path)


def test_a_configuration_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, "--http", config={"toolboxes": {"dev": {}}})
    assert "cannot be used" in said


def test_every_interface_is_served_with_a_token(serve: Serve) -> None:
    served = serve(ECHO, "--http", "0.0.0.0:0")
    assert served.modern("tools/list").status == 200
    assert served.modern("tools/list", headers={"Authorization": None}).status == 401
    for host in (socket.gethostname(), "192.0.2.7:8484", "[2001:db8::7]"):
        assert served.modern("tools/list", headers={"Host": host}).status == 200
    assert served.modern("tools/list", headers={"Host": "evil.example"}).status == 421


def test_on_this_machine_the_token_can_be_left_out_with_a_warning(serve: Serve) -> None:
    served = serve(ECHO, "--http", "127.0.0.1:0", "--no-token")
    assert not (served.state / "http-token").exists()
    assert served.modern("tools/list").status == 200
    served.wait_for("--no-token")
    served.open("dev")
    served.use("dev/echo/echo")
    [line] = (served.home / "log" / "ToolBox.log").read_text().splitlines()
    assert "principal" not in json.loads(line)


def test_a_start_tells_the_address_the_token_and_the_entry_of_each_client(served: Served) -> None:
    for client in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "Windsurf", "Gemini CLI"):
        [line] = [line for line in served.stderr.splitlines() if line.startswith(f"{client}: ")]
        assert served.url in line
        entry = line.removeprefix(f"{client}: ")
        assert entry.startswith("claude mcp add") or json.loads(entry)
    assert f"serves {served.url}" in served.stderr


def test_a_unix_socket_serves_both_eras_and_is_gone_afterwards(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "workbench.sock"
    served = serve(ECHO, unix=str(path))
    assert served.modern("tools/list").status == 200
    assert served.modern("tools/list", headers={"Host": "anything.example"}).status == 200
    assert served.session().ask("tools/list").status == 200
    assert served.modern("tools/list", headers={"Authorization": None}).status == 401
    assert path.stat().st_mode & 0o777 == 0o600
    assert served.end() == 0
    assert not path.exists()


def test_a_start_that_fails_leaves_the_socket_of_another_alone(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "workbench.sock"
    served = serve(ECHO, unix=str(path))
    said = refused(tmp_path, "--http", "127.0.0.1:0", "--unix", str(path))
    assert "somebody listens there already" in said
    assert served.modern("tools/list").status == 200


def test_both_sockets_can_be_served_at_once(serve: Serve, tmp_path: Path) -> None:
    path = str(tmp_path / "workbench.sock")
    served = serve(ECHO, "--http", "127.0.0.1:0", "--unix", path)
    assert served.modern("tools/list").status == 200
    served.unix = path
    assert served.modern("tools/list").status == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_accepting_and_lets_calls_finish(serve: Serve, number: signal.Signals) -> None:
    served = serve()
    served.open("dev")
    session = served.session()
    own = session.listen()
    own.event()
    plain = served.modern_begun("tools/call", use("dev/echo/slow", {"seconds": 1.5}))
    streamed = session.stream("tools/call", use("dev/echo/slow", {"seconds": 1.5}))
    streamed.event()
    began = time.monotonic()
    ending = threading.Thread(target=served.end, args=(number,))
    ending.start()
    time.sleep(0.5)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", served.port), 5)
    assert own.rest() == []
    response = plain.getresponse()
    assert json.loads(response.read())["result"]["content"][0]["text"] == "slept 1.5"
    assert json.loads(streamed.rest()[-1]["data"])["result"]["content"][0]["text"] == "slept 1.5"
    ending.join(PATIENCE)
    assert served.process.returncode == 0
    assert time.monotonic() - began < 5


def test_a_call_that_takes_too_long_is_told_that_we_are_ending(serve: Serve) -> None:
    served = serve(ECHO, patience={"serving.FINISH": 2})
    served.open("dev")
    plain = served.modern_begun("tools/call", use("dev/echo/slow", {"seconds": 60}))
    time.sleep(0.2)
    began = time.monotonic()
    ending = threading.Thread(target=served.end)
    ending.start()
    answer = json.loads(plain.getresponse().read())
    assert "shutting down" in answer["error"]["message"]
    assert 1.5 < time.monotonic() - began < 5
    ending.join(PATIENCE)
    assert served.process.returncode == 0


def test_a_second_signal_ends_at_once(serve: Serve) -> None:
    served = serve()
    served.open("dev")
    connection = served.modern_begun("tools/call", use("dev/echo/slow", {"seconds": 60}))
    time.sleep(0.2)
    served.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    began = time.monotonic()
    assert served.end() == 0
    assert time.monotonic() - began < 3
    connection.close()


def test_nothing_is_at_other_paths(served: Served) -> None:
    for path in ("/", "/mcp/", "/sse", "/metricsx"):
        assert served.request("GET", path).status == 404


def test_a_message_is_json_and_nothing_else(served: Served) -> None:
    for kind in ("text/plain", None, "application/x-www-form-urlencoded"):
        headers = {**modern_headers("tools/list"), "Content-Type": kind}
        assert served.request("POST", body=modern_body("tools/list"), headers=headers).status == 415
    headers = {**modern_headers("tools/list"), "Content-Type": "application/json; charset=utf-8"}
    assert served.request("POST", body=modern_body("tools/list"), headers=headers).status == 200
    headers["Accept"] = "text/html"
    assert served.request("POST", body=modern_body("tools/list"), headers=headers).status == 406
