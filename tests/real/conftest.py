"""The real servers, and the workbench in front of them. How they are compared is oracle.py's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.stdio import StdioServerParameters

from . import node
from .oracle import Oracle, Server, oracle as opened

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what the servers read and write."""
    return tmp_path_factory.mktemp("real")


@pytest.fixture(scope="session")
def everything(node_program: str) -> Server:
    script = node.package("@modelcontextprotocol/server-everything", "dist", "index.js")
    return Server("everything", node_program, script, "stdio")


@pytest.fixture(scope="session")
def memory(node_program: str, place: Path) -> Server:
    script = node.package("@modelcontextprotocol/server-memory", "dist", "index.js")
    return Server("memory", node_program, script, env={"MEMORY_FILE_PATH": str(place / "memory.jsonl")})


@pytest.fixture(scope="session")
def files(place: Path) -> Path:
    """The one folder that server-filesystem may touch."""
    folder = place / "files"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "one.txt").write_text("first\nsecond\nthird\n")
    (folder / "notes" / "two.md").write_text("# Grüße, 世界 🌍\n")
    (folder / "dot.png").write_bytes(bytes.fromhex("89504e470d0a1a0a0000000d49484452"))
    return folder


@pytest.fixture(scope="session")
def filesystem(node_program: str, files: Path) -> Server:
    script = node.package("@modelcontextprotocol/server-filesystem", "dist", "index.js")
    return Server("filesystem", node_program, script, str(files))


@pytest.fixture(scope="session")
def time_server() -> Server:
    return Server("time", str(BIN / "mcp-server-time"), "--local-timezone", "UTC", modern=True)


@pytest.fixture(scope="session")
def repository(place: Path) -> Path:
    """A git repository with one commit and one change that is not staged."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    folder = place / "repository"
    folder.mkdir()
    person = {"NAME": "Ada", "EMAIL": "ada@example.com", "DATE": "2026-01-02T03:04:05Z"}
    env = dict(os.environ) | {
        f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in person.items()
    }
    (folder / "poem.txt").write_text("roses are red\n")
    for command in ("init -q -b main", "add poem.txt", "commit -q -m First"):
        subprocess.run(["git", *command.split()], cwd=folder, env=env, check=True, timeout=30)
    (folder / "poem.txt").write_text("roses are blue\n")
    return folder


@pytest.fixture(scope="session")
def git() -> Server:
    return Server("git", str(BIN / "mcp-server-git"), modern=True)


@pytest.fixture(scope="session")
def crafted() -> Server:
    """Our own, built with the SDK: what the others do not do."""
    return Server("crafted", sys.executable, str(HERE / "servers" / "crafted.py"), modern=True)


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """The event loop, in a thread, that connections live in."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="session")
def oracle(place: Path, portal: BlockingPortal, request: pytest.FixtureRequest) -> Iterator[Oracle]:
    """Knows every server; those that need Node only where there is Node."""
    names = ["time_server", "git", "crafted"]
    if node.problem() is None:
        names += ["everything", "memory", "filesystem"]
    config = workbench_config(place, *(request.getfixturevalue(name) for name in names))
    with opened(portal, workbench_parameters(config), place) as oracle:
        yield oracle


@pytest.fixture
def fresh_oracle(tmp_path: Path, portal: BlockingPortal, crafted: Server) -> Iterator[Oracle]:
    """For one test alone, which may change the crafted server or end the workbench."""
    with opened(portal, workbench_parameters(workbench_config(tmp_path, crafted)), tmp_path) as oracle:
        yield oracle


def workbench_config(folder: Path, *servers: Server) -> Path:
    """Each server in a toolbox of its own, and all of them in the toolbox `all`."""
    toolboxes = {
        server.name: {"description": f"Only {server.name}", "mcpServers": {server.name: server.entry}}
        for server in servers
    }
    entries = {server.name: server.entry for server in servers}
    toolboxes["all"] = {"description": "All of them", "mcpServers": entries}
    path = folder / "workbench-config.json"
    path.write_text(json.dumps({"toolboxes": toolboxes}))
    return path


def workbench_parameters(config: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "mcp_workbench"], env=workbench_environment(config)
    )


def workbench_environment(config: Path) -> dict[str, str]:
    """What a client's entry for the workbench says: its configuration, its state, and a secret of its own."""
    return {
        "WORKBENCH_CONFIG": str(config),
        "XDG_STATE_HOME": str(config.parent / "state"),
        "EXAMPLE_API_KEY": "hush",
    }
