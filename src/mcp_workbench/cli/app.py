"""The commands of `mcp-workbench`, put together. Each is in a file of its own."""

import sys

import typer

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
from .toolboxes import toolboxes
from .tools import tools
from .trust import trust


def show_demo() -> None:
    """A short session on the embedded default, printed as it goes."""
    raise typer.Exit(demo())


app = typer.Typer(
    name="mcp-workbench",
    help="One MCP server in front of all your MCP servers. Without a command it serves MCP over stdio.",
    no_args_is_help=True,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    # Its tracebacks show local variables, and with them secrets.
    pretty_exceptions_enable=False,
)
app.command()(call)
app.command()(check)
app.command()(connect)
app.command(name="demo")(show_demo)
app.command()(disconnect)
app.command()(doctor)
app.command()(init)
app.command()(index)
app.command()(logs)
app.command()(pin)
app.command()(replay)
app.command()(serve)
app.command()(toolboxes)
app.command()(tools)
app.command()(trust)
app.command()(login)
app.add_typer(new, name="new")


def run(argv: list[str]) -> int:
    """The exit status: 0 fine, 1 problems, 2 a command line that makes no sense."""
    try:
        app(args=argv, prog_name="mcp-workbench")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
