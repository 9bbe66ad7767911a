"""The log of a whole workbench: killed, on a full disk, in an unwritable place, with secrets all around."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query
from tests.support.client import Client, text
from tests.support.launch import Launcher, child, configuration, toolbox, write_config

from .calls import lines
from .killing import kill_round


@pytest.mark.parametrize(("after", "record"), [(100, True), (500, False), (900, True)])
def test_no_line_of_an_answered_call_is_missing_when_the_workbench_is_killed(
    workbench: Launcher, after: int, record: bool
) -> None:
    """In a short form; `python -m tests.journal.killing 20` does it twenty times."""
    done = kill_round(workbench, after=after, record=record)
    assert len(done.answered) >= after
    assert done.answered <= done.logged
    if record:
        assert done.answered <= done.recorded


def test_a_torn_last_line_is_skipped_by_readers_and_ended_by_the_next_writer(workbench: Launcher) -> None:
    config = write_config(workbench.folder, configuration(dev=toolbox(echo=child("echo"))))
    path = workbench.folder / "log" / "ToolBox.log"
    for number in range(2):
        client = workbench(config)
        client.initialize()
        client.open("dev")
        client.use("dev/echo/echo", {"n": number})
        client.end()
        with path.open("ab") as file:
            file.write(b'{"ts":"2025-03-15T02:29:40.123Z","tool":"echo","args":{"n":')
    with Log(str(path)) as log:
        assert [json.loads(bytes(call.args)) for call, _ in log.calls(Query(), limit=10)] == [
            {"n": 1},
            {"n": 0},
        ]
        assert log.skipped == 1  # the other may still become a whole line


@pytest.mark.parametrize(
    "odd",
    [{"type": "custom", "text": 5}, {"type": "text", "text": None}, {"type": "text"}, {"text": "no type"}, 5],
)
def test_the_text_of_an_error_is_logged_whatever_else_is_in_the_result(
    workbench: Launcher, odd: object
) -> None:
    client = workbench(write_config(workbench.folder, configuration(dev=toolbox(echo=child("echo")))))
    client.initialize()
    client.open("dev")
    said = {"content": [odd, {"type": "text", "text": "the reason"}], "isError": True}
    assert client.use("dev/echo/raw", {"json": json.dumps(said)}) == said
    (line,) = lines(workbench.folder / "log" / "ToolBox.log")
    assert (line["stat"], line["err"]) == ("error", "the reason")


# Disks that are full, and places that cannot be written


class Disk:
    """A small one; where nothing may be mounted, a limit to the size of the workbench's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
        self._mounted = subprocess.run(mount, capture_output=True, timeout=10).returncode == 0

    def fill(self, client: Client) -> None:
        if not self._mounted:
            size = sum(file.stat().st_size for file in self.folder.iterdir())
            resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
            return
        filler = os.open(self.folder / "filler", os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):  # no space left on device
            while True:
                os.pwrite(filler, b"x" * 4096, os.fstat(filler).st_size)
        os.close(filler)

    def free(self, client: Client) -> None:
        if self._mounted:
            (self.folder / "filler").unlink()
        else:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, unlimited)

    def remove(self) -> None:
        if self._mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True, timeout=10)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path / "disk")
    yield disk
    disk.remove()


def told(client: Client) -> dict[str, Any]:
    """What the workbench says of itself."""
    run = Path(client.mark) / "mcp-workbench" / "run" / f"{client.process.pid}.json"
    return json.loads(run.read_bytes())


def eventually(so: Callable[[], bool], patience: float = 5.0) -> None:
    until = time.monotonic() + patience
    while not so():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("record", [False, True])
def test_on_a_full_disk_calls_go_on_with_one_warning_and_a_counter(
    disk: Disk, workbench: Launcher, record: bool
) -> None:
    log = disk.folder / "ToolBox.log"
    config = configuration(dev=toolbox(echo=child("echo")))
    client = workbench({**config, "log": {"path": str(log), "record": record}})
    client.initialize()
    client.open("dev")
    # More than a page, so that what is left of the last one does not take in the next lines.
    for number in range(30):
        client.use("dev/echo/echo", {"before": number})
    disk.fill(client)
    for number in range(100):
        arguments = {"n": number, "text": "x" * 200}
        assert json.loads(text(client.use("dev/echo/echo", arguments))) == arguments
    eventually(lambda: told(client)["calls"] == 130)
    dropped = told(client)["log_dropped"]
    assert 70 < dropped <= 100
    assert client.stderr.count("the call log") == 1
    assert client.stderr.count("cannot be recorded") == record
    disk.free(client)
    client.use("dev/echo/echo", {"after": 1})
    eventually(lambda: told(client)["calls"] == 131)
    assert told(client)["log_dropped"] == dropped
    assert (told(client)["log_unrecorded"] > 0) == record
    with Log(str(log)) as reader:
        assert reader.count(Query()) == 131 - dropped
        assert json.loads(bytes(reader.calls(Query(), limit=1)[0].call.args)) == {"after": 1}
    client.end()


def test_in_an_unwritable_place_calls_go_on_with_one_warning_and_a_counter(workbench: Launcher) -> None:
    (workbench.folder / "log").touch()  # nobody, not even root, can make a folder of it
    config = {**configuration(dev=toolbox(echo=child("echo"))), "log": {"record": True}}
    client = workbench(write_config(workbench.folder, config))
    client.initialize()
    client.open("dev")
    for number in range(20):
        assert text(client.use("dev/echo/echo", {"n": number})) == json.dumps({"n": number})
    eventually(lambda: told(client)["log_dropped"] == 20)
    assert client.stderr.count("the call log") == 1
    assert client.stderr.count("cannot be recorded") == 1
    # As soon as it can be written, it is.
    (workbench.folder / "log").unlink()
    client.use("dev/echo/echo", {"after": 1})
    (line,) = lines(workbench.folder / "log" / "ToolBox.log")
    assert line["args"] == {"after": 1}
    assert told(client)["log_dropped"] == 20


# Secrets

TOOL = """
schema = {"name": "fails", "description": "Fails", "type": "object",
          "properties": {"text": {"type": "string", "description": "Why"}}}

def default(request):
    raise ValueError("because of " + request.params.arguments["text"])
"""


class _Telltale(BaseHTTPRequestHandler):
    """Answers every request with an error that quotes its headers."""

    def do_POST(self) -> None:
        body = f"refused: {self.headers['Authorization']} {self.headers['X-Api-Key']}".encode()
        self.send_response(403)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def telltale() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Telltale)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def holding(folder: Path, secret: str) -> list[str]:
    """The files in which a secret is."""
    found: list[str] = []
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # SQLite's files come and go
            if secret.encode() in file.read_bytes():
                found.append(str(file.relative_to(folder)))
    return found


def test_a_canary_is_in_no_file(workbench: Launcher) -> None:
    folder = workbench.folder
    (folder / "secrets.env").write_text("SERVICE=canary-in-env-file\n")
    (folder / "tools").mkdir()
    (folder / "tools" / "fails.py").write_text(TOOL)
    keys: dict[str, Any] = {
        "env": {"API_TOKEN": "canary-in-env", "FROM_OURS": "${OURS}"},
        "envFile": "secrets.env",
        "inheritEnv": ["GIVEN_*"],
    }
    ours = {"OURS": "canary-expanded", "GIVEN_NAME": "canary-inherited", "REMOTE": "canary-in-header"}
    canaries = [*ours.values(), "canary-in-env", "canary-in-env-file", "canary-key-0123"]
    with telltale() as url:
        headers = {"Authorization": "Bearer ${REMOTE}", "X-Api-Key": "canary-key-0123"}
        servers = {"echo": child("echo", **keys), "mine": {"path": "tools"}}
        config = configuration(dev=toolbox(**servers, far={"url": url, "headers": headers}))
        path = write_config(folder, {**config, "log": {"record": True}})
        client = workbench(path, env=ours)
        client.initialize()
        listing = client.open("dev", timeout=30)
        assert [tool["name"] for tool in listing["tools"] if tool["server"] == "mine"] == ["fails"]
        about = json.loads(text(client.use("dev/echo/about")))
        assert {about["env"][name] for name in ("API_TOKEN", "SERVICE", "GIVEN_NAME", "FROM_OURS")} == {
            "canary-in-env",
            "canary-in-env-file",
            "canary-inherited",
            "canary-expanded",
        }
        for canary in canaries:
            assert canary in text(client.use("dev/echo/echo", {"a": [{canary: f"x{canary}y"}]}))
            said = json.dumps({"content": [{"type": "text", "text": f"bad {canary}"}], "isError": True})
            assert client.use("dev/echo/raw", {"json": said})["isError"]
            assert canary in text(client.use("dev/echo/fail", {"message": canary, "data": [canary]}))
            assert canary in text(client.use("dev/mine/fails", {"text": canary}))
        died = text(client.use("dev/echo/die", {"stderr": f"died of {' and '.join(canaries)}\n"}))
        assert "died of [masked] and [masked]" in died  # the client need not hear of them either
        assert not any(canary in died for canary in canaries)
        client.use("dev/echo/slow", {"seconds": 0, "password": "canary-argument"})
        client.use("dev/far/anything", {})
        eventually(lambda: told(client)["calls"] > len(canaries) * 4)
        logged = lines(folder / "log" / "ToolBox.log")
        assert len([line for line in logged if "[masked]" in line.get("err", "")]) == len(canaries) * 3 + 1
        assert len([line for line in logged if "[masked]" in line.get("trace", "")]) == len(canaries)
        for canary in [*canaries, "canary-argument"]:
            # `API_TOKEN` and `X-Api-Key` were written into the configuration by its author.
            written = {"secrets.env", "workbench-config.json"}
            assert set(holding(folder, canary)) <= written, canary
            assert canary not in client.stderr
        client.end()
    assert len(list(folder.glob("log/ToolBox.log.recorded/calls/*"))) == len(logged)


def test_a_secret_of_an_env_file_stays_hidden_when_the_configuration_changes(workbench: Launcher) -> None:
    folder = workbench.folder
    (folder / "secrets.env").write_text('export DB_PASSWORD="hunter22"\n')
    config = configuration(dev=toolbox(echo=child("echo", envFile="secrets.env")))
    path = write_config(folder, config)
    client = workbench(path)
    client.initialize()
    client.open("dev")
    pid = json.loads(text(client.use("dev/echo/about")))["pid"]
    write_config(folder, {**config, "log": {"valueLimit": 1000}})
    eventually(lambda: "configuration reloaded" in client.stderr)
    client.use("dev/echo/echo", {"text": "it is hunter22"})
    assert json.loads(text(client.use("dev/echo/about")))["pid"] == pid
    assert lines(folder / "log" / "ToolBox.log")[1]["args"] == {"text": "it is [masked]"}
    assert holding(folder, "hunter22") == ["secrets.env"]
