"""Questions to the person at the terminal, on stderr: on stdout is what a command has to tell."""

from __future__ import annotations

import sys

import typer


def agrees(question: str, default: bool) -> bool:
    choices = "[Y/n]" if default else "[y/N]"
    while True:
        match _answer(f"{question} {choices}: ").lower():
            case "":
                return default
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
            case _:
                typer.echo("Say y or n.", err=True)


def answer(question: str) -> str:
    """Asked until there is one."""
    while True:
        if said := _answer(f"{question}: "):
            return said


def _answer(prompt: str) -> str:
    """Ends the command where the input has ended; Ctrl-C ends it too, with its own status."""
    typer.echo(prompt, nl=False, err=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        typer.echo(err=True)
        raise
    if not line:
        typer.echo(err=True)
        raise typer.Abort
    return line.strip()
