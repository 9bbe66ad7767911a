"""Two processes behind nginx, as docs/deployment.md shows it: nobody needs to know who opened what."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.client import PATIENCE

from .conftest import ECHO, Serve
from .served import Served, use

DOCUMENT = Path(__file__).parents[2] / "docs" / "deployment.md"
CONFIG = {**ECHO, "openOnUse": True, "http": {"tokens": {"team": {"token": "team-token"}}}}


class Front(Served):
    """What clients see: nginx."""

    def __init__(self, port: int) -> None:
        self.unix = None
        self.port = port
        self.headers = {"Authorization": "Bearer team-token"}


@pytest.fixture
def replicas(serve: Serve) -> list[Served]:
    return [serve(CONFIG), serve(CONFIG)]


@pytest.fixture
def front(replicas: list[Served], tmp_path: Path) -> Iterator[Front]:
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if nginx is None:
        pytest.skip("no nginx")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    config = tmp_path / "nginx.conf"
    config.write_text(nginx_config(tmp_path, port, *(each.port for each in replicas)))
    process = subprocess.Popen([nginx, "-c", str(config), "-p", str(tmp_path), "-e", "stderr"])
    try:
        until = time.monotonic() + PATIENCE
        with socket.socket() as probe:
            while probe.connect_ex(("127.0.0.1", port)):
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)
        yield Front(port)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def nginx_config(folder: Path, port: int, *upstream: int) -> str:
    """The one in the documentation, with our ports."""
    found = re.search(r"```nginx\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    text = found[1].replace(":8080", f":{port}")
    for documented, real in zip((8481, 8482), upstream, strict=True):
        text = text.replace(f":{documented}", f":{real}")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )


def pid(front: Front) -> int:
    return json.loads(front.use("dev/echo/about")["content"][0]["text"])["pid"]


def test_a_tool_is_used_through_either_process_without_opening_its_toolbox(front: Front) -> None:
    assert len({pid(front) for _ in range(40)}) == 2


def test_an_older_client_stays_with_the_process_that_has_its_session(front: Front) -> None:
    session = front.session()
    for number in range(20):
        answer = session.ask("tools/call", use("dev/echo/echo", {"n": number}))
        assert json.loads(answer.message["result"]["content"][0]["text"]) == {"n": number}
    assert session.end().status == 204


def test_streams_come_through_as_they_are_written(front: Front) -> None:
    params = use("dev/echo/progress", {"steps": 3, "pause": 0.5}, progressToken="t")
    live = front.modern_stream("tools/call", params)
    began = time.monotonic()
    assert live.message()["params"]["progress"] == 1
    assert time.monotonic() - began < 1.0
    assert json.loads(live.rest()[-1]["data"])["result"]["content"][0]["text"] == "done"


def test_one_process_can_end_and_the_other_serves_on(front: Front, replicas: list[Served]) -> None:
    assert pid(front)
    assert replicas[0].end() == 0
    assert len({pid(front) for _ in range(20)}) == 1
