"""The official conformance suite against a server that has all it asks for, alone and behind the workbench.

`docs/fidelity.md` has the table. What is not passed on yet is listed here, and must not grow.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.http.served import Served
from tests.real import node
from tests.real.conftest import node_program, pytest_collection_finish
from tests.support.launch import configuration, toolbox

__all__ = ["node_program", "pytest_collection_finish"]

pytestmark = pytest.mark.node

SERVER = str(Path(__file__).parent / "servers" / "conformant.py")
VERSIONS = ("2025-11-25", "2026-07-28")
PATIENCE = 120.0

MISSING = {
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
}
"""Scenarios of 2025-11-25 that need log messages and questions of a server, which do not get through yet."""

OUR_OWN = {
    # The server's HTTP library does not trim what the header says; ours does.
    "sep-2243-server-accepts-whitespace-header-value",
}
"""Checks that the server alone fails and that pass through the workbench."""


NEEDLESS = {
    # We have no reason to close the stream of a call in the middle of it.
    "server-sse-disconnect-resume",
    # What is answered at once is answered as plain JSON.
    "server-sse-streams-functional",
}
"""Checks of what a server may do and need not; without it they are neither passed nor failed."""


class Check(NamedTuple):
    scenario: str
    id: str


class Places(NamedTuple):
    """Where the same server is reached."""

    alone: str
    child: str
    remote: str


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    remote = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    alone = f"http://localhost:{port}/mcp"
    try:
        _wait_until_open(port)
        config = configuration(
            child=toolbox(it={"command": sys.executable, "args": [SERVER]}), remote=toolbox(it={"url": alone})
        )
        home = tmp_path_factory.mktemp("conformance")
        with Served(home, config, "--http", "127.0.0.1:0", "--no-token") as served:
            base = served.url.removesuffix("/mcp").replace("127.0.0.1", "localhost")
            yield Places(alone, f"{base}/toolboxes/child/mcp", f"{base}/toolboxes/remote/mcp")
    finally:
        remote.terminate()
        remote.wait(PATIENCE)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_passes_alone_passes_through_the_workbench(
    places: Places, node_program: str, tmp_path: Path, version: str
) -> None:
    alone = _run(node_program, places.alone, version, tmp_path / "alone")
    assert len(_passed(alone)) >= {"2025-11-25": 84, "2026-07-28": 151}[version]
    assert {check.id for check, status in alone if status == "FAILURE"} <= OUR_OWN
    for name, place in (("child", places.child), ("remote", places.remote)):
        through = _run(node_program, place, version, tmp_path / name)
        missing = MISSING if version == "2025-11-25" else set[str]()
        lost = {check for check in _passed(alone) if check.id not in NEEDLESS} - set(_passed(through))
        assert {check for check in lost if check.scenario not in missing} == set(), name
        failed = {check for check, status in through if status in ("FAILURE", "WARNING")}
        assert {check for check in failed if check.scenario not in missing} == set(), name


def _run(program: str, url: str, version: str, folder: Path) -> list[tuple[Check, str]]:
    """Every check of every scenario of that revision, and what came of it."""
    suite = node.package("@modelcontextprotocol/conformance", "dist", "index.js")
    options = ["--url", url, "--suite", "all", "--spec-version", version, "-o", str(folder)]
    folder.mkdir()
    done = subprocess.run(
        [program, suite, "server", *options], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    reports = list(folder.rglob("checks.json"))
    assert reports, done.stdout + done.stderr
    return [
        (Check(_scenario(report), check["id"]), check["status"])
        for report in reports
        for check in json.loads(report.read_text())
    ]


def _scenario(report: Path) -> str:
    """Its folder is called `server-<scenario>-<when>`."""
    return report.parent.name.removeprefix("server-").partition("-2026-")[0].partition("-20")[0]


def _passed(checks: list[tuple[Check, str]]) -> list[Check]:
    return [check for check, status in checks if status == "SUCCESS"]


def _wait_until_open(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
