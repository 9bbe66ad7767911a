"""`mcp-workbench trust`: which ./workbench-config.json files may run their commands."""

import os
from typing import Annotated

import typer

from ..config import LOCAL_NAME, Trust, load
from ..config.loading import read
from ..errors import ConfigError
from .session import fail
from .table import print_json
from .terminal import error, good, plain


def trust(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file.")] = LOCAL_NAME,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Print the files that are trusted.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Trust this file no longer.")] = False,
) -> None:
    """Trust a configuration as it is now. A start in its folder then uses it, until it changes."""
    book = Trust(os.environ)
    if listed:
        _tell({"trusted": sorted(book.files())}, sorted(book.files()) or ["No file is trusted."], as_json)
        return
    path = os.path.abspath(path)
    if remove:
        try:
            known = book.remove(path)
        except OSError as unwritable:
            fail(f"What is trusted cannot be written: {unwritable}")
        sentence = f"{path} is not trusted any more." if known else f"{path} was not trusted."
        _tell({"path": path, "removed": known}, [sentence], as_json)
        raise typer.Exit(0 if known else 1)
    try:
        content = read(path)
        load(path, os.environ, content)
    except ConfigError as unusable:
        if as_json:
            _tell({"path": path, "trusted": False, "error": str(unusable)}, [], as_json)
        else:
            first, *rest = str(unusable).split("\n")
            typer.echo("\n".join([error(first), *map(plain, rest)]), err=True)
        raise typer.Exit(1) from None
    try:
        book.add(path, content)
    except OSError as unwritable:
        fail(f"What is trusted cannot be written: {unwritable}")
    _tell({"path": path, "trusted": True}, [good(f"{path} is trusted until it changes.")], as_json)


def _tell(facts: dict[str, object], lines: list[str], as_json: bool) -> None:
    if as_json:
        print_json(facts, indent=0)
    else:
        typer.echo("\n".join(lines))
