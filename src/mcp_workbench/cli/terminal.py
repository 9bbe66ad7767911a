"""Text on a terminal: one line, no control characters. Colours are left out where it is no terminal."""

import typer


def plain(text: str) -> str:
    """Safe to print: what would move the cursor or start a new line is shown as an escape."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def good(text: str) -> str:
    return typer.style(text, fg=typer.colors.GREEN)


def warning(text: str) -> str:
    return typer.style("warning: ", fg=typer.colors.YELLOW) + plain(text)


def error(text: str) -> str:
    return typer.style("error: ", fg=typer.colors.RED, bold=True) + plain(text)
