"""The official conformance suite against a server that has all it asks for, alone and behind the workbench.

`docs/fidelity.md` has the table.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fidelity import suite
from tests.fidelity.shim import Shim
from tests.fidelity.suite import Report
from tests.http.served import Served
from tests.support.launch import configuration, toolbox

pytestmark = pytest.mark.node

SERVER = str(Path(__file__).parent / "servers" / "conformant.py")
LEAST = {"2025-11-25": 84, "2026-07-28": 152}
"""How many checks the server passes alone."""

NEEDLESS = {"server-sse-disconnect-resume"}
"""We have no reason to close the stream of a call in the middle of it, and the suite does not ask for one."""


UNUSABLE = {
    # The arguments of `use_tool` have no headers of their own: only a tool's own server knows which.
    "sep-2243-server-reject-param-mismatch",
    "sep-2243-server-reject-invalid-param-chars",
    "sep-2243-server-validate-param-match",
    # What stands between the suite and the meta-tools answers `tools/list` with plain JSON.
    "server-sse-streams-functional",
}
"""Checks that cannot be made of a tool that is called through `use_tool`."""


class Places(NamedTuple):
    """Where the same server is reached."""

    alone: str
    child: str
    remote: str
    used_child: str
    """Behind the meta-tools."""
    used_remote: str


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    remote = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    alone = f"http://localhost:{port}/mcp"
    entries = {"child": {"command": sys.executable, "args": [SERVER]}, "remote": {"url": alone}}
    options = ("--http", "127.0.0.1:0", "--no-token")
    folder = tmp_path_factory.mktemp
    try:
        _wait_until_open(port)
        # A workbench each for the meta-tools: with both in one, their prompts would clash.
        both = configuration(**{name: toolbox(it=entry) for name, entry in entries.items()})
        with (
            Served(folder("direct"), both, *options) as direct,
            Served(folder("child"), configuration(dev=toolbox(it=entries["child"])), *options) as child,
            Served(folder("far"), configuration(dev=toolbox(it=entries["remote"])), *options) as far,
            Shim(child.port, "dev", "it") as used_child,
            Shim(far.port, "dev", "it") as used_remote,
        ):
            base = f"http://localhost:{direct.port}/toolboxes"
            yield Places(alone, f"{base}/child/mcp", f"{base}/remote/mcp", used_child.url, used_remote.url)
    finally:
        remote.terminate()
        remote.wait(suite.PATIENCE)


@pytest.fixture(scope="module")
def alone(places: Places, node_program: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("alone")
    return {
        version: suite.run(node_program, places.alone, version, folder / version)
        for version in suite.VERSIONS
    }


@pytest.mark.parametrize("version", suite.VERSIONS)
def test_the_server_alone_passes_everything(alone: dict[str, Report], version: str) -> None:
    assert len(alone[version].passed()) >= LEAST[version]
    assert alone[version].failed() == [], alone[version].messages


@pytest.mark.parametrize("version", suite.VERSIONS)
@pytest.mark.parametrize("behind", ["child", "remote"])
def test_not_one_check_fewer_passes_through_the_direct_endpoint(
    places: Places, alone: dict[str, Report], node_program: str, tmp_path: Path, version: str, behind: str
) -> None:
    through = suite.run(node_program, getattr(places, behind), version, tmp_path / "through")
    assert [check for check in through.failed() if check.id not in NEEDLESS] == [], through.messages
    lost = Counter(alone[version].passed()) - Counter(through.passed())
    assert [check for check in lost if check.id not in NEEDLESS] == []


@pytest.mark.parametrize("version", suite.VERSIONS)
@pytest.mark.parametrize("behind", ["used_child", "used_remote"])
def test_the_suite_passes_as_well_where_its_calls_are_sent_as_use_tool(
    places: Places, alone: dict[str, Report], node_program: str, tmp_path: Path, version: str, behind: str
) -> None:
    through = suite.run(node_program, getattr(places, behind), version, tmp_path / "through")
    left_out = NEEDLESS | UNUSABLE
    assert [check for check in through.failed() if check.id not in left_out] == [], through.messages
    lost = Counter(alone[version].passed()) - Counter(through.passed())
    assert [check for check in lost if check.id not in left_out] == []


def _wait_until_open(port: int) -> None:
    until = time.monotonic() + suite.PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
