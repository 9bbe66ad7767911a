"""`mcp-workbench toolboxes`: what is configured. Nothing is started or connected."""

from __future__ import annotations

from typing import Annotated

import typer

from .session import chosen
from .table import print_json, print_table


def toolboxes(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """List the toolboxes and their servers, without starting anything."""
    used = chosen(config)
    if as_json:
        print_json(
            {
                "config": used.path,
                "toolboxes": [
                    {"name": each.name, "description": each.description, "servers": list(each.servers)}
                    for each in used.toolboxes.values()
                ],
            }
        )
    elif used.toolboxes:
        rows = [(each.name, ", ".join(each.servers), each.description) for each in used.toolboxes.values()]
        print_table(("TOOLBOX", "SERVERS", "DESCRIPTION"), rows)
    else:
        typer.echo("No toolboxes are configured. To make some of what your clients have: mcp-workbench init")
