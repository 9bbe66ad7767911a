"""A workbench in a toolbox of another: it is a server like any other, and nothing is lost on two hops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal

from .conftest import workbench_config, workbench_parameters
from .oracle import Json, Server, Tools, oracle as opened

ADD: Json = {
    "tool": {"toolbox": "crafted", "server": "crafted", "name": "add"},
    "arguments": {"a": 20, "b": 22},
}


@pytest.fixture
def inner(tmp_path: Path, crafted: Server) -> Server:
    folder = tmp_path / "inner"
    folder.mkdir()
    parameters = workbench_parameters(workbench_config(folder, crafted))
    return Server("inner", parameters.command, *parameters.args, env=parameters.env, modern=True)


def test_a_workbench_behind_a_workbench_is_itself(
    inner: Server, portal: BlockingPortal, tmp_path: Path
) -> None:
    async def body(tools: Tools) -> list[Any]:
        told: list[Any] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append([progress, total, message])

        closed = await tools.call("use_tool", ADD)
        opening = await tools.call("open_toolbox", {"toolbox": "crafted"}, on_progress=hear)
        used = await tools.call("use_tool", ADD)
        wrong = await tools.call("use_tool", {"tool": {"toolbox": "crafted"}, "extra": 1})
        return [await tools.listed(), closed, opening, told, used, wrong]

    with opened(portal, workbench_parameters(workbench_config(tmp_path, inner)), tmp_path) as oracle:
        definitions, closed, opening, told, used, wrong = oracle.everywhere(inner, body)
    assert [tool["name"] for tool in definitions] == ["open_toolbox", "use_tool", "find_tools"]
    assert closed["content"][0]["text"].endswith("Call open_toolbox first.")
    assert opening["structuredContent"]["servers_connected"] == 1
    assert told[-1][:2] == [1, 1]
    assert used["structuredContent"] == {"result": 42}
    assert wrong["content"][0]["text"].startswith("Invalid tool invocation parameters: Unrecognized key")
