"""Workbench, from within: what no server can bring about."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from mcp_workbench.config import load
from mcp_workbench.names import ToolRef
from mcp_workbench.protocol.results import Result
from mcp_workbench.servers.call import Call
from mcp_workbench.workbench import Workbench


def test_a_call_that_failed_by_a_mistake_of_ours_is_logged_as_failed(tmp_path: Path) -> None:
    path = tmp_path / "workbench-config.json"
    path.write_text(json.dumps({"toolboxes": {"dev": {"description": "d", "mcpServers": {}}}}))

    async def mistaken() -> Result:
        raise RuntimeError("a mistake")

    async def call() -> None:
        workbench = Workbench(load(str(path), {}))
        called = Call(ref=ToolRef("dev", "echo", "echo"), arguments=b"{}", caller="test", id="1")
        with pytest.raises(RuntimeError):
            await workbench.see_through(called, mistaken())
        await workbench.close()

    asyncio.run(call())
    (line,) = map(json.loads, (tmp_path / "log" / "ToolBox.log").read_text().splitlines())
    assert (line["stat"], line["err"]) == ("error", "Internal error: a mistake")
