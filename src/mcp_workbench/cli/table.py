"""Rows in columns, and data as JSON: the two forms in which commands answer."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

import msgspec
import typer

from .terminal import plain


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Each row on one line; on a terminal the last column is cut where the line would break."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(headings, *cells, strict=True)]
    typer.secho(_line(headings, widths), bold=True)
    for row in cells:
        typer.echo(_line(row, widths))


def print_json(value: object, indent: int = 2) -> None:
    """Without `indent`, on one line."""
    try:
        encoded = msgspec.json.encode(value)
        text = (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()
    except UnicodeEncodeError:
        # Bytes that are no UTF-8, of a path or a variable, go out as escapes that Python reads back.
        text = json.dumps(msgspec.to_builtins(value), indent=indent or None)
    typer.echo(text)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *padded, last = cells
    start = "".join(
        cell + " " * (width - _width(cell) + 2) for cell, width in zip(padded, widths, strict=False)
    )
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - _width(start)
        if 1 < room < _width(last):
            last = last[: room - 1] + "…"
    return (start + last).rstrip()


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
