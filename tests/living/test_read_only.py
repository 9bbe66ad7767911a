from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, toolbox

from .shifting import eventually, list_tools, names, shifting, tool, work

SAFE = {"readOnlyHint": True}


def opened(workbench: Launcher, dev: dict[str, Any]) -> Client:
    client = workbench(configuration(dev=dev))
    client.initialize()
    client.open("dev")
    return client


def refused(client: Client, name: str) -> str:
    result = client.use(f"dev/s/{name}")
    assert result["isError"]
    return text(result)


def reason(name: str) -> str:
    return (
        f"Error executing tool: Tool '{name}' in server 's' (toolbox 'dev') is not offered: "
        "only tools that declare readOnlyHint: true are (readOnly is set), and it does not"
    )


@pytest.mark.parametrize("level", ["server", "toolbox"])
def test_only_tools_that_declare_it_are_listed_and_called(
    tmp_path: Path, workbench: Launcher, level: str
) -> None:
    listed = tmp_path / "tools.json"
    unsafe = [None, {}, {"readOnlyHint": False}, {"readOnlyHint": "true"}, {"readOnlyHint": 1}, [], "x"]
    others = [tool(f"unsafe{at}", annotations=each) for at, each in enumerate(unsafe)]
    list_tools(listed, tool("silent"), *others, tool("safe", annotations={**SAFE, "destructiveHint": True}))
    dev = toolbox(s=shifting(listed))
    (dev if level == "toolbox" else dev["mcpServers"]["s"])["readOnly"] = True
    client = opened(workbench, dev)
    listing = client.open("dev")
    assert names(listing) == ["safe"]
    assert "_errors" not in listing
    assert work(client, "dev/s/safe")["tool"] == "safe"
    for name in ("silent", *(each["name"] for each in others)):
        assert refused(client, name) == reason(name)
    assert "not found in server" in refused(client, "nowhere")
    # Not even by way of a mistake: the exact identifier is given for tools that are offered only.
    assert '"toolbox": "dev"' not in text(client.call("silent", {}))


def test_a_server_may_be_free_in_a_read_only_toolbox(tmp_path: Path, workbench: Launcher) -> None:
    dev = toolbox(s=shifting(tmp_path / "a.json", readOnly=False), held=shifting(tmp_path / "b.json"))
    client = opened(workbench, {**dev, "readOnly": True})
    assert [each["server"] for each in client.open("dev")["tools"]] == ["s"]
    assert work(client, "dev/s/work")["tool"] == "work"


def test_a_filtered_tool_is_not_there_rather_than_not_offered(tmp_path: Path, workbench: Launcher) -> None:
    entry = shifting(tmp_path / "tools.json", readOnly=True, toolFilters=["!work"])
    assert "not found in server" in refused(opened(workbench, toolbox(s=entry)), "work")


def test_a_tool_that_loses_the_hint_is_withheld_from_then_on(tmp_path: Path, workbench: Launcher) -> None:
    listed = tmp_path / "tools.json"
    list_tools(listed, tool("change", annotations=SAFE), tool("work", annotations=SAFE))
    client = opened(workbench, toolbox(s=shifting(listed, readOnly=True)))
    assert work(client, "dev/s/work")["tool"] == "work"
    list_tools(listed, tool("change", annotations=SAFE), tool("work"))
    work(client, "dev/s/change")
    eventually(lambda: client.notifications("notifications/tools/list_changed"))
    assert refused(client, "work") == reason("work")
    assert names(client.open("dev")) == ["change"]


def test_a_tool_cannot_call_what_is_withheld_from_clients(tmp_path: Path, workbench: Launcher) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "outer.py").write_text(
        "from mcp_workbench import call_tool\n"
        "schema = {'name': 'outer', 'description': 'Calls', 'type': 'object', 'properties': {}}\n"
        "async def default(request):\n"
        "    target = {'toolbox': 'dev', 'server': 's', 'name': 'work'}\n"
        "    try:\n"
        "        return await call_tool(target, {})\n"
        "    except Exception as error:\n"
        "        return str(error)\n"
    )
    mine, held = {"path": str(folder)}, shifting(tmp_path / "tools.json", readOnly=True)
    client = opened(workbench, toolbox(mine=mine, s=held))
    assert "is not offered: only tools that declare readOnlyHint" in text(client.use("dev/mine/outer"))
