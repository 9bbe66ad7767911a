"""Rows S1 to S6: secrets stay where they belong, and names and texts are nothing but names and texts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_workbench.config.filters import Filters
from tests.support.client import text
from tests.support.launch import Launcher, child, configuration, environment, toolbox

from .bench import Bench, Rows, within

CANARY = "canary-3f9a77c0-do-not-repeat"
ENVIRON = """
import json
import os

schema = {"name": "environ", "description": "Tells", "type": "object", "properties": {}}


def default(request):
    return json.dumps(dict(os.environ))
"""


def folder_of(parent: Path, **files: str) -> Path:
    """A folder of tool files that nobody else may write."""
    folder = parent / "tools"
    folder.mkdir(mode=0o755)
    for name, source in files.items():
        file = folder / f"{name}.py"
        file.write_text(source)
        file.chmod(0o644)
    return folder


def content(file: Path) -> bytes:
    """Nothing for a folder, or for a file that went away meanwhile: SQLite's come and go."""
    try:
        return file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return b""


def test_row_s1_a_secret_reaches_nobody_who_did_not_declare_it(rows: Rows, tmp_path: Path) -> None:
    secret = "${CANARY_TOKEN}"
    servers = {
        "plain": child("echo"),
        "declared": child("echo", env={"API_KEY": secret}),
        "mine": {"path": str(folder_of(tmp_path, environ=ENVIRON))},
        "remote": {
            "url": f"http://user:{secret}@127.0.0.1:9/mcp?key={secret}",
            "headers": {"Authorization": f"Bearer {secret}"},
            "limits": {"connectTimeout": 1},
        },
    }
    bench = rows(servers, env={"CANARY_TOKEN": CANARY, "OTHER_SECRET": CANARY})
    assert json.loads(bench.use("dev/declared/about"))["env"]["API_KEY"] == CANARY
    assert CANARY not in bench.use("dev/plain/about")
    assert CANARY not in bench.use("dev/mine/environ")
    bench.use("dev/declared/echo", {"said": f"it is {CANARY}!", "deep": [{CANARY: CANARY}]})
    bench.use("dev/plain/echo", {"password": "hunter2-canary", "Authorization": "Bearer hunter3-canary"})
    bench.fails("dev/declared/fail", {"message": f"bad key {CANARY}"})
    bench.fails("dev/declared/die", {"stderr": f"Error: key {CANARY} was refused\n"})
    listing = bench.client.open("dev")
    assert CANARY not in str(listing)
    bench.client.use("dev/remote/anything")
    log = bench.log_file.read_text()
    assert "canary" not in log, [line for line in log.splitlines() if "canary" in line]
    assert "canary" not in bench.client.stderr
    config = {bench.home / "workbench-config.json"}
    files = [each for each in bench.home.rglob("*") if each not in config]
    assert [each for each in files if b"canary-3f9a" in content(each)] == []


REFUSED_TOOLBOXES = ["../up", "a/b", "nul\0", "new\nline", "x" * 10_000, "", " ", "<script>", "\u202e"]
REFUSED_SERVERS = ["nul\0", "new\nline", "x" * 10_000, "", " ", "\x1b[31m"]


@pytest.mark.parametrize("kind", ["toolbox", "server"])
def test_row_s2_names_that_are_refused_at_the_start(workbench: Launcher, kind: str) -> None:
    if kind == "toolbox":
        names, config = REFUSED_TOOLBOXES, {"toolboxes": {name: toolbox() for name in REFUSED_TOOLBOXES}}
    else:
        names = REFUSED_SERVERS
        config = configuration(dev=toolbox(**{name: child("echo") for name in names}))
    client = workbench(config)
    workbench.expected_status[client] = 1
    assert client.wait() == 1
    problems = [line for line in client.stderr.splitlines() if line.startswith("  - ")]
    assert len(problems) >= len(names)
    assert "\0" not in client.stderr
    assert "\x1b" not in client.stderr


PLAIN_SERVERS = [
    "../../up",
    "__proto__",
    "/etc/passwd",
    "%2e%2e",
    "<script>",
    "..",
    "a b",
    "constructor",
    "'",
]
PLAIN_TOOLS = [
    "../up",
    "__proto__",
    "new\nline",
    "x" * 10_000,
    "\x1b[31m",
    "nul\0",
    "<script>",
    "a/b",
    "'",
    "é",
]


def test_row_s2_names_that_are_plain_text(workbench: Launcher, tmp_path: Path) -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in PLAIN_TOOLS]
    servers = {name: child("listed", json.dumps([[*tools]])) for name in PLAIN_SERVERS}
    boxes = {name: toolbox(**servers) for name in ("__proto__", "..")}
    client = workbench({"toolboxes": boxes})
    before = outside(tmp_path)
    for box in boxes:
        listing = client.open(box, timeout=20)
        assert "_errors" not in listing
        found = [(tool["server"], tool["name"]) for tool in listing["tools"]]
        assert found == [(server, name) for server in PLAIN_SERVERS for name in PLAIN_TOOLS]
        for server in PLAIN_SERVERS:
            for name in (*PLAIN_TOOLS, "missing\0", "toString"):
                ref = {"toolbox": box, "server": server, "name": name}
                said = text(client.call("use_tool", {"tool": ref}))
                assert (name in PLAIN_TOOLS) != said.startswith("Error executing tool: Tool '"), said
    assert outside(tmp_path) == before
    log = Path(client.mark).parent / "log" / "ToolBox.log"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == len(boxes) * len(PLAIN_SERVERS) * len(PLAIN_TOOLS)
    assert {line["tool"] for line in lines} == set(PLAIN_TOOLS)


def outside(folder: Path) -> set[Path]:
    """What is there beside the workbench's own folders."""
    return {
        each for each in (*folder.iterdir(), *folder.parent.iterdir()) if not each.name.startswith("home")
    }


def test_row_s3_tools_called_as_ours_or_as_each_other(rows: Rows) -> None:
    names = ("open_toolbox", "use_tool", "find_tools", "about")
    bench = rows({"a": child("echo", *names), "b": child("echo", *names[:3])})
    listing = bench.client.open("dev")
    for server in ("a", "b"):
        assert set(names) <= {tool["name"] for tool in listing["tools"] if tool["server"] == server}
        for name in names[:3]:
            arguments = {"toolbox": "dev", "from": server}
            assert bench.use(f"dev/{server}/{name}", arguments) == json.dumps(arguments)
            bench.logged(f"dev/{server}/{name}", "success")
    # One server's own tool, and the other's namesake, which echoes.
    assert bench.use("dev/a/about") == "{}"
    assert "pid" in bench.use("dev/b/about")
    assert bench.client.open("calm")["servers_connected"] == 1


NASTY = "one\ntwo\r\x1b[31mred\x1b]0;title\x07<script>alert(1)</script>\u2028\u202e\x00\x7f"


def test_row_s4_control_characters_stay_one_escaped_line(rows: Rows) -> None:
    described = {"name": "nasty", "description": NASTY, "inputSchema": {"type": "object"}}
    servers = {
        "echo": child("echo"),
        "listed": child("listed", json.dumps([[described]])),
        "exits": child("starting", "exits", NASTY.replace("\0", "")),
    }
    bench = rows(servers)
    listing = bench.client.open("dev")
    assert [tool["description"] for tool in listing["tools"] if tool["server"] == "listed"] == [NASTY]
    (said,) = listing["_errors"]
    assert not set(said) & set("\n\r\x1b\x07\x00\x7f\u2028\u202e"), said
    bench.use("dev/echo/echo", {NASTY: NASTY})
    assert bench.client.use("dev/echo/fail", {"message": NASTY})["isError"]  # in the server's own words
    reason = bench.fails("dev/echo/die", {"stderr": NASTY.replace("\0", "")}, "<script>alert(1)</script>")
    assert not set(reason) & set("\n\r\x1b\x07\x00\x7f\u2028\u202e"), reason
    log = bench.log_file.read_text()
    for ref in ("dev/echo/echo", "dev/echo/fail", "dev/echo/die"):
        assert len(bench.log(ref)) == 1
    assert all(character.isprintable() for character in log.replace("\n", ""))
    shown = logs(bench)
    for line in shown.splitlines():
        assert not set(line) & set("\r\x1b\x07\x00\x7f\u2028\u202e"), line
    assert not any(line.startswith("two") for line in shown.splitlines())
    assert not set(bench.client.stderr) & set("\r\x1b\x07\x00\x7f")


def logs(bench: Bench) -> str:
    """What the command for the call log prints."""
    command = [sys.executable, "-m", "mcp_workbench", "logs", "--log", str(bench.log_file)]
    done = subprocess.run(
        command, env=environment(bench.home), cwd=bench.home, capture_output=True, timeout=20, check=True
    )
    return done.stdout.decode()


def test_row_s5_filters_take_no_time(rows: Rows) -> None:
    name = "a" * 10_000
    filters = ["*a*a*a*a*a*b", "!*a*a*a*a*a*c", "*" + "a?" * 50 + "*b"]
    with within(0.5):
        assert not Filters.parse(filters).allows(name)
    bench = rows({"echo": child("echo", name, toolFilters=[*filters, "echo"])}, opened=False)
    began = time.monotonic()
    listing = bench.client.open("dev")
    assert time.monotonic() - began < 2  # which is mostly the start of the server
    assert [tool["name"] for tool in listing["tools"]] == ["echo"]


TOOL = """
schema = {"name": "NAME", "description": "Says hello", "type": "object", "properties": {}}


def default(request):
    return "hello"
"""


def test_row_s6_tool_files_that_others_may_write(rows: Rows, tmp_path: Path) -> None:
    good, loose = (TOOL.replace("NAME", name) for name in ("good", "loose"))
    folder = folder_of(tmp_path, good=good, loose=loose)
    (folder / "loose.py").chmod(0o666)
    (tmp_path / "elsewhere").mkdir()
    shared = folder_of(tmp_path / "elsewhere", good=good)
    shared.chmod(0o777)
    bench = rows({"mine": {"path": str(folder)}, "shared": {"path": str(shared)}})
    listing = bench.client.open("dev")
    assert [(tool["server"], tool["name"]) for tool in listing["tools"]] == [("mine", "good")]
    of_file, of_folder = listing["_errors"]
    assert "loose.py" in of_file
    assert str(shared) in of_folder
    for said in (of_file, of_folder):
        assert "chmod" in said, said
    assert bench.use("dev/mine/good") == "hello"
    bench.logged("dev/mine/good", "success")
    (folder / "loose.py").chmod(0o644)
    shared.chmod(0o755)
    assert bench.use("dev/mine/loose") == "hello"
    assert bench.use("dev/shared/good") == "hello"
    assert "_errors" not in bench.client.open("dev")
