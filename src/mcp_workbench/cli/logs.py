"""`mcp-workbench logs`: the call log on the command line. The Log finds calls, LogPage draws them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, NoReturn, TypeVar

import typer

from ..config import configuration
from ..errors import ConfigError
from ..journal.log import Log
from ..journal.query import Query
from ..journal.times import NotADuration, NotATime, milliseconds, moment
from .log_page import LogPage
from .terminal import counted

_EVERY = 0.25

T = TypeVar("T")


class Status(StrEnum):
    success = "success"
    error = "error"


def logs(
    log: Annotated[str | None, typer.Option(help="The log file; the configuration's by default.")] = None,
    config: Annotated[str | None, typer.Option(help="The configuration whose log is meant.")] = None,
    tool: Annotated[str | None, typer.Option(help="Tool name; * and ? stand for anything.")] = None,
    server: Annotated[str | None, typer.Option(help="Server name.")] = None,
    toolbox: Annotated[str | None, typer.Option(help="Toolbox name.")] = None,
    status: Annotated[Status | None, typer.Option(help="How the call ended.")] = None,
    caller: Annotated[str | None, typer.Option(help="A client's name, or a tool's.")] = None,
    shortest: Annotated[
        str | None, typer.Option("--min", metavar="DURATION", help="Took at least: 250, 250ms, 1.5s, 2m.")
    ] = None,
    longest: Annotated[str | None, typer.Option("--max", metavar="DURATION", help="Took at most.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="15m, 2h, yesterday, 14:30, 2025-03-15T14:30:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="The same forms.")] = None,
    page: Annotated[int, typer.Option(min=1, help="Which page; 1 has the newest calls.")] = 1,
    page_size: Annotated[int, typer.Option(min=1, help="Calls on a page.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on showing calls as they come.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines, as they are in the log.")] = False,
    chain: Annotated[str | None, typer.Option(metavar="ID", help="Draw the chain that a call is in.")] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Calls, errors and durations of each tool.")] = False,
    show: Annotated[str | None, typer.Option(metavar="ID", help="Everything about one call.")] = None,
) -> None:
    """Show the call log, the newest calls first."""
    if sum((follow, stats, chain is not None, show is not None)) > 1:
        raise typer.BadParameter("--follow, --stats, --chain and --show exclude each other")
    query = Query(
        tool=(lambda name: fnmatchcase(name, tool)) if tool is not None else None,
        server=server,
        toolbox=toolbox,
        caller=caller,
        failed=status is Status.error if status else None,
        min_cost=_option("--min", shortest, milliseconds),
        max_cost=_option("--max", longest, milliseconds),
        since=_option("--since", since, moment),
        until=_option("--until", until, lambda text: moment(text, is_end=True)),
    )
    path = log or _configured(config)
    if not follow and not os.path.exists(path):
        _fail(f"There is no call log at {path}: nothing has been called yet.")
    view = LogPage(as_json)
    try:
        with Log(path) as reader:
            if show is not None:
                view.whole(reader.call(show) or _fail(f"No call {show} in {path}."))
            elif chain is not None:
                view.chain(reader.chain(chain) or _fail(f"No call {chain} in {path}."))
            elif stats:
                view.stats(reader.stats(query))
            elif follow:
                view.lines(reversed(reader.calls(query, limit=page_size)))
                for new in reader.follow(query):
                    view.lines(new)
                    time.sleep(_EVERY)
            else:
                view.table(reader.calls(query, limit=page_size, offset=(page - 1) * page_size))
            if reader.skipped:
                typer.echo(f"{counted(reader.skipped, 'line')} of the log could not be read.", err=True)
    except KeyboardInterrupt:
        pass  # how following ends
    except BrokenPipeError:
        # Whoever read this has gone; nothing may be left for Python to flush at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:
        _fail(f"{path} cannot be read: {problem.strerror}")


def _configured(config: str | None) -> str:
    try:
        return configuration(config, os.environ, os.getcwd()).log.path
    except ConfigError as problem:
        _fail(f"{problem}\n(--log PATH reads a log without a configuration.)")


def _option(name: str, text: str | None, parse: Callable[[str], T]) -> T | None:
    try:
        return None if text is None else parse(text)
    except (NotATime, NotADuration) as problem:
        raise typer.BadParameter(str(problem), param_hint=name) from None


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(1)
