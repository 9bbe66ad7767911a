"""`mcp-workbench tools`: what the servers offer, each tool in a line that it can be called from."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any

import msgspec
import typer

from ..config import Config
from ..names import ToolRef
from ..signatures import line
from .session import Session, Settled, chosen, complete_toolbox, named, progress_line
from .table import print_json
from .terminal import plain

_ADDRESS = ("toolbox", "server")
"""What we add to a server's own definition."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def tools(
    toolbox: Annotated[
        str | None, typer.Argument(help="The toolbox; else all of them.", autocompletion=complete_toolbox)
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only those that fit, the best first.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many of them.")] = 10,
    schema: Annotated[bool, typer.Option("--schema", help="Print whole definitions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print definitions as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """List the tools of one toolbox or of all. Status 1 if a server could not be connected."""
    used = chosen(config)
    names = named(used, toolbox)
    definitions, outcomes = asyncio.run(_look(used, names))
    if search is not None:
        definitions = _found(definitions, search, limit)
        if not definitions:
            typer.echo("No tools found. Try other words.", err=True)
    if as_json:
        print_json({"tools": definitions, "servers": [each.as_json() for each in outcomes]})
    else:
        for each in definitions:
            typer.echo(plain(line(_ref(each), each)))
            if schema:
                print_json(each)
    raise typer.Exit(1 if any(each.failure for each in outcomes) else 0)


async def _look(config: Config, names: list[str]) -> tuple[list[dict[str, Any]], list[Settled]]:
    async with Session(config) as session:
        outcomes = await session.open(names, progress_line)
        entries = [entry for name in names for entry in session.workbench.toolboxes[name].entries()]
        return [_decode(msgspec.json.encode(entry)) for entry in entries], outcomes


def _found(definitions: list[dict[str, Any]], words: str, limit: int) -> list[dict[str, Any]]:
    """As find_tools would have them."""
    from ..search import Catalogue, Index
    from ..search.extra import semantic_index

    by_ref = {_ref(each): each for each in definitions}
    own = [(ref, {key: each[key] for key in each if key not in _ADDRESS}) for ref, each in by_ref.items()]
    by_meaning = semantic_index(Catalogue(os.environ))
    index = Index() if by_meaning is None else by_meaning
    index.put(("", ""), own)
    if by_meaning is not None:
        by_meaning.read_all()
    return [by_ref[ref] for ref, _ in index.find(words, limit)]


def _ref(definition: dict[str, Any]) -> ToolRef:
    return ToolRef(definition["toolbox"], definition["server"], definition["name"])
