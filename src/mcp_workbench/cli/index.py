"""`mcp-workbench index`: opens every toolbox once, so that its tools can be found before it is open."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from ..finder import Finder
from .session import Session, Settled, chosen, complete_toolbox, named, progress_line
from .table import print_json


def index(
    toolbox: Annotated[
        str | None, typer.Argument(help="The toolbox; else all of them.", autocompletion=complete_toolbox)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """Open toolboxes, remember their tools for find_tools, and close them. Status 1 if a server failed."""
    used = chosen(config)
    names = named(used, toolbox)

    async def remember() -> list[Settled]:
        async with Session(used) as session:
            outcomes = await session.open(names, progress_line)
            finder = Finder(session.workbench)
            finder.remember_soon()
            await finder.finish()
            return outcomes

    outcomes = asyncio.run(remember())
    if as_json:
        print_json({"servers": [each.as_json() for each in outcomes]})
    else:
        typer.echo(f"{len(outcomes)} servers are known to find_tools now.")
    raise typer.Exit(1 if any(each.failure for each in outcomes) else 0)
