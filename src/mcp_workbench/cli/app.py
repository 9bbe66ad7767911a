"""The commands of `mcp-workbench`, put together. Each is in a file of its own."""

import os
from typing import Annotated

import typer

from .. import __version__
from .call import call
from .check import check
from .connect import connect, disconnect
from .demo import demo
from .doctor import doctor
from .index import index
from .init import init
from .login import login
from .logs import logs
from .new import new
from .pin import pin
from .replay import replay
from .serve import serve
from .streams import forgive_odd_characters
from .toolboxes import toolboxes
from .tools import tools
from .trust import trust


def show_demo() -> None:
    """Show a short session with the built-in tools."""
    raise typer.Exit(demo())


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcp-workbench {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="mcp-workbench",
    no_args_is_help=True,
    # https://no-color.org; else it is for the terminal to say.
    context_settings={
        "help_option_names": ["--help", "-h"],
        "color": False if os.environ.get("NO_COLOR") else None,
    },
    # Its boxes and types of options leave little room for what is said.
    rich_markup_mode=None,
    # Its tracebacks show local variables, and with them secrets.
    pretty_exceptions_enable=False,
)


@app.callback()
def workbench(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """One MCP server in front of all your MCP servers. Without a command it serves MCP over stdio."""


# In the order in which somebody comes to need them.
app.command()(init)
app.command()(connect)
app.command()(disconnect)
app.command()(doctor)
app.command()(toolboxes)
app.command()(tools)
app.command()(call)
app.command()(logs)
app.add_typer(new, name="new")
app.command()(check)
app.command()(trust)
app.command()(login)
app.command()(pin)
app.command(short_help="Make tools known to find_tools before their toolbox is open.")(index)
app.command()(serve)
app.command()(replay)
app.command(name="demo")(show_demo)


def run(argv: list[str]) -> int:
    """The exit status: 0 fine, 1 problems, 2 a command line that makes no sense."""
    forgive_odd_characters()
    try:
        app(args=argv, prog_name="mcp-workbench")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
