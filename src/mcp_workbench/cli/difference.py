"""A difference between two texts, printed in the usual colours."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from .terminal import plain

_COLOURS = {"+": typer.colors.GREEN, "-": typer.colors.RED, "@": typer.colors.CYAN}


def print_difference(lines: Iterable[str]) -> None:
    for line in lines:
        typer.secho(
            plain(line.replace("\t", "    ")),
            fg=None if line.startswith(("+++", "---")) else _COLOURS.get(line[:1]),
        )
