"""`mcp-workbench replay`: a recorded toolbox as a server on stdio. What it answers, `replay` knows."""

from typing import Annotated

import typer

from ..errors import NoRecording
from .terminal import error


def replay(
    log: Annotated[str, typer.Argument(metavar="LOG", help="The call log, with its recording beside it.")],
    toolbox: Annotated[str, typer.Option(metavar="NAME", help="The recorded toolbox.")],
) -> None:
    """Serve a recorded toolbox on stdio. Its tools are as they were listed, its results as they were."""
    from ..replay.workbench import Replay
    from ..stdio import serve

    try:
        workbench = Replay(log, toolbox)
    except NoRecording as problem:
        typer.echo(error(str(problem)), err=True)
        raise typer.Exit(1) from None
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    run(serve(workbench, toolbox=toolbox))
