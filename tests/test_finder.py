"""find_tools through a running workbench: what is open, what was open before, and what never was."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.search.extra import installed
from tests.support.client import Client, text
from tests.support.launch import Launcher, child, configuration, environment, toolbox, write_config

TWO = configuration(
    files=toolbox(disk=child("echo", "read_file", "delete_file"), description="Files on this machine"),
    sky=toolbox(weather=child("echo", "forecast"), description="Weather of the coming days"),
)


def started(workbench: Launcher, config: dict[str, Any], **keys: Any) -> Client:
    client = workbench(config, **keys)
    client.initialize()
    return client


def find(client: Client, queries: object, **keys: object) -> str:
    return text(client.call("find_tools", {"queries": queries, **keys}))


def test_a_tool_of_an_open_toolbox_is_found_in_a_line_that_it_can_be_called_from(workbench: Launcher) -> None:
    client = started(workbench, TWO)
    client.open("files")
    assert find(client, "read a file").splitlines()[0].startswith("files/disk/read_file(")
    result = client.call("find_tools", {"queries": "read a file"})
    assert "structuredContent" not in result


def test_a_toolbox_never_opened_is_found_by_its_own_words(workbench: Launcher) -> None:
    client = started(workbench, TWO)
    (line,) = find(client, "weather").splitlines()
    assert line.startswith("sky (a toolbox not opened yet")


def test_what_was_open_once_is_found_by_a_later_workbench_and_can_be_used_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = write_config(home, TWO)
    env = {**environment(home), "WORKBENCH_CONFIG": str(path)}
    command = [sys.executable, "-m", "mcp_workbench"]
    done = subprocess.run(
        [*command, "index", "--json"], env=env, cwd=home, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    client = Client(command, env=env, cwd=home, mark=f"{home}/state")
    try:
        client.initialize()
        closed = client.use("sky/weather/forecast")
        assert text(closed) == "Error executing tool: Toolbox 'sky' is not open. Call open_toolbox first."
        assert find(client, "forecast").startswith("sky/weather/forecast(")
        assert "isError" not in client.use("sky/weather/forecast", {"x": 1})
        other = client.use("files/disk/read_file")
        assert "Toolbox 'files' is not open" in text(other)
    finally:
        assert client.end() == 0
        assert client.left_behind() == []


@pytest.mark.skipif(not installed(), reason="the extra is not installed")
def test_with_the_extra_tools_are_found_by_meaning_once_they_were_read(workbench: Launcher) -> None:
    client = started(workbench, TWO)
    client.open("sky")
    query = "do I need an umbrella tomorrow?"
    deadline = time.monotonic() + 30
    while not (said := find(client, query, limit=1)).startswith("sky/weather/forecast("):
        assert said.startswith(("No tools found.", "sky/")), said
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_serving_imports_nothing_of_the_extra_before_it_is_asked() -> None:
    code = (
        "import sys\n"
        "import mcp_workbench.stdio, mcp_workbench.finder\n"
        "print(sys.modules.keys() & {'numpy', 'tokenizers', 'sqlite3', 'mcp_workbench.search'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr


def test_several_queries_are_answered_each_under_its_own_heading(workbench: Launcher) -> None:
    client = started(workbench, TWO)
    client.open("files")
    client.open("sky")
    said = find(client, ["read file", "forecast"], limit=2)
    assert said.splitlines()[0] == "## read file"
    assert "## forecast" in said
    assert "files/disk/read_file(" in said
    assert "sky/weather/forecast(" in said


def test_what_may_not_be_called_is_never_found(workbench: Launcher) -> None:
    servers = {
        "filtered": child("echo", "erase_everything", toolFilters=["!erase_*"]),
        "guarded": child("echo", "erase_carefully", readOnly=True),
    }
    client = started(workbench, configuration(dev=toolbox(**servers)))
    client.open("dev")
    assert "erase" not in find(client, "erase", limit=100)


def test_one_toolbox_can_be_searched_alone(workbench: Launcher) -> None:
    client = started(workbench, TWO)
    client.open("files")
    client.open("sky")
    assert "sky/" not in find(client, "forecast file", toolbox="files")


def test_without_search_there_is_no_such_tool(workbench: Launcher) -> None:
    client = started(workbench, {**TWO, "search": False})
    names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
    assert names == ["open_toolbox", "use_tool"]
    assert text(client.call("find_tools", {"queries": "x"})).startswith("Unknown tool 'find_tools'.")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "Invalid parameters: queries is required"),
        ({"queries": 5}, "Invalid parameters: queries must be a string or an array of strings"),
        ({"queries": ["a", 5]}, "Invalid parameters: queries must be a string or an array of strings"),
        ({"queries": " "}, "Invalid parameters: queries cannot be empty"),
        ({"queries": []}, "Invalid parameters: queries cannot be empty"),
        ({"queries": "x", "limit": 0}, "Invalid parameters: limit must be an integer from 1 to 100"),
        ({"queries": "x", "limit": True}, "Invalid parameters: limit must be an integer from 1 to 100"),
        ({"queries": "x", "detail": "json"}, "Invalid parameters: detail must be 'signature' or 'full'"),
        ({"queries": "x", "toolbox": "no"}, "Error: Toolbox 'no' not found. Available toolboxes: files, sky"),
        ({"query": "x"}, "Invalid parameters: Unrecognized key: 'query'; queries is required"),
        ([], "Invalid parameters: Expected an object"),
    ],
)
def test_arguments_that_do_not_fit_are_told(shared: Client, arguments: object, problem: str) -> None:
    result = shared.call("find_tools", arguments)
    assert result["isError"]
    assert text(result) == problem


@pytest.fixture(scope="module")
def shared(shared_workbench: Launcher) -> Client:
    return started(shared_workbench, TWO)


def test_the_description_says_what_can_be_found(shared: Client) -> None:
    tools = {tool["name"]: tool for tool in shared.request("tools/list")["result"]["tools"]}
    assert "- sky (weather): Weather of the coming days" in tools["find_tools"]["description"]
