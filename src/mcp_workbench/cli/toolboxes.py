"""`mcp-workbench toolboxes`: what is configured; and, where that is asked for, what it costs a model."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from ..config import Config, ToolboxConfig
from .session import Session, chosen, progress_line
from .table import print_json, print_table
from .tokens import COUNTED, Cost, tokens


def toolboxes(
    count: Annotated[
        bool, typer.Option("--tokens", help="Open each, and count what its listing costs a model.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """List the toolboxes. Nothing is started, but for --tokens; then it is status 1 if a server fails."""
    used = chosen(config)
    if count:
        _tell_costs(used, as_json)
    elif as_json:
        print_json({"config": used.path, "toolboxes": [*map(_as_json, used.toolboxes.values())]})
    elif used.toolboxes:
        rows = [(each.name, ", ".join(each.servers), each.description) for each in used.toolboxes.values()]
        print_table(("TOOLBOX", "SERVERS", "DESCRIPTION"), rows)
    else:
        typer.echo("No toolboxes are configured. To make some of what your clients have: mcp-workbench init")


def _tell_costs(config: Config, as_json: bool) -> None:
    costs, start, failed = asyncio.run(_costs(config))
    everything = sum(each.tools_alone for each in costs)
    if as_json:
        print_json({"toolboxes": costs, "everything": everything, "workbench": start, "counted": COUNTED})
    else:
        rows = [(each.toolbox, str(each.tools), f"{each.json:,}", f"{each.signatures:,}") for each in costs]
        print_table(("TOOLBOX", "TOOLS", "AS JSON", "AS SIGNATURES"), rows)
        typer.echo(f"Every tool up front, without the workbench: {everything:,} tokens.")
        typer.echo(f"The workbench up front: {start:,} tokens, and a toolbox when it is opened.")
        typer.echo(COUNTED)
    raise typer.Exit(1 if failed else 0)


async def _costs(config: Config) -> tuple[list[Cost], int, bool]:
    from ..endpoint.introduction import instructions
    from ..metatools import definitions

    async with Session(config) as session:
        workbench = session.workbench
        outcomes = await session.open(config.toolboxes, progress_line)
        costs = [Cost.of(toolbox) for toolbox in workbench.toolboxes.values()]
        start = tokens(definitions(workbench, None)) + tokens(instructions(config, None).encode())
        return costs, start, any(each.failure for each in outcomes)


def _as_json(toolbox: ToolboxConfig) -> dict[str, Any]:
    return {"name": toolbox.name, "description": toolbox.description, "servers": list(toolbox.servers)}
