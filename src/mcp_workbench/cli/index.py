"""`mcp-workbench index`: opens every toolbox once, so that its tools can be found before it is open."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from ..finder import Finder
from .session import Session, Settled, chosen, complete_toolbox, fail, named, progress_line
from .table import print_json
from .terminal import counted


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

    async def remember() -> tuple[list[Settled], Finder, bool]:
        async with Session(used) as session:
            outcomes = await session.open(names, progress_line)
            finder = Finder(session.workbench)
            finder.remember_soon()
            return outcomes, finder, await finder.settle()

    outcomes, finder, by_meaning = asyncio.run(remember())
    if finder.failure is not None:
        fail(f"The tools could not be remembered: {finder.failure}")
    known = [each for each in outcomes if each.failure is None]
    if as_json:
        print_json({"servers": [each.as_json() for each in outcomes], "semantic": by_meaning})
    else:
        tools = counted(sum(each.tools for each in known), "tool")
        how = "words and meaning" if by_meaning else "words"
        typer.echo(f"find_tools knows {tools} of {counted(len(known), 'server')} now, by {how}.")
    raise typer.Exit(1 if len(known) < len(outcomes) else 0)
