"""`mcp-workbench pin`: look at what tools have become, and accept it. Comparing is the pins' own business."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated, Any, NoReturn

import msgspec
import typer

from ..config import Config, configuration
from ..errors import ConfigError, OpeningFailed, PinsUnusable, ToolboxUnknown
from ..pins.comparison import Comparison
from ..pins.definition import written
from ..pins.difference import in_short
from ..pins.file import PinFile
from ..workbench import Workbench
from .question import agrees
from .streams import outlast_readers
from .table import print_json
from .terminal import counted, error, good, plain, warning


def pin(
    toolbox: Annotated[
        str | None, typer.Argument(metavar="TOOLBOX", help="The toolbox; else all of them.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Record what has changed, too.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Record nothing; status 1 for a difference.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration.")] = None,
) -> None:
    """Record the definitions of tools, and show what has changed. Status 1 if anything waits."""
    outlast_readers()
    if accept and check:
        raise typer.BadParameter("--accept and --check exclude each other")
    try:
        used = configuration(config, os.environ, os.getcwd())
        if used.untrusted is not None:
            typer.echo(warning(f"{used.untrusted} is not trusted, and not used"), err=True)
        if used.path is None:
            _fail("There is no configuration file whose tools could be pinned.")
        if toolbox is not None and toolbox not in used.toolboxes:
            raise ToolboxUnknown(toolbox, used.toolboxes)
        outcome = asyncio.run(_look(used, [toolbox] if toolbox is not None else list(used.toolboxes)))
        file = PinFile.beside(used.path)
        if not as_json:
            for line in outcome.lines():
                typer.echo(line)
            accept = accept or (not check and outcome.waits and _accepted_at_the_terminal())
        if not check:
            outcome.record(file, everything=accept)
    except (ConfigError, ToolboxUnknown, PinsUnusable) as problem:
        _fail(str(problem))
    done = not outcome.failures and not (outcome.differs if check else outcome.waits and not accept)
    if as_json:
        print_json(outcome.as_json(file.path, done), indent=0)
    else:
        typer.echo(outcome.verdict(file.path, check=check, accept=accept))
    raise typer.Exit(0 if done else 1)


class Outcome(msgspec.Struct):
    """What the servers say now beside what was recorded; `failures` are of those that said nothing."""

    servers: list[Comparison]
    failures: list[str]

    @property
    def differs(self) -> bool:
        return any(server.differs for server in self.servers)

    @property
    def waits(self) -> bool:
        """Whether something would be recorded only if it was accepted."""
        return any(
            server.changed or server.gone or len(server.recordable) < len(server.new)
            for server in self.servers
        )

    def record(self, file: PinFile, *, everything: bool) -> None:
        recorded = file.read()
        before = msgspec.json.encode(recorded)
        for server in self.servers:
            server.record(recorded, everything=everything)
        if msgspec.json.encode(recorded) != before:
            file.write(recorded)

    def lines(self) -> list[str]:
        lines: list[str] = []
        for server in self.servers:
            for name, definition in server.new.items():
                said = in_short([written(definition)])
                lines.append(f"new      {plain(str(server.ref(name)))}: {said}")
            for name, change in server.changed.items():
                lines.append(f"changed  {plain(str(server.ref(name)))}")
                lines += [f"           {plain(line)}" for line in change.lines]
            lines += [f"gone     {plain(str(server.ref(name)))}" for name in server.gone]
        return [*lines, *map(error, self.failures)]

    def verdict(self, path: str, *, check: bool, accept: bool) -> str:
        where = plain(path)
        if self.failures:
            return f"{counted(len(self.failures), 'server')} could not be looked at."
        if not self.differs:
            return good(f"All tools are as they are recorded in {where}.")
        if check:
            return f"The tools are not as they are recorded in {where}."
        if self.waits and not accept:
            return "What has changed is not recorded. To accept it, run this again with --accept."
        return good(f"Recorded in {where}.")

    def as_json(self, path: str, done: bool) -> dict[str, Any]:
        return {
            "path": path,
            "done": done,
            "new": [server.ref(name) for server in self.servers for name in server.new],
            "changed": [
                {"tool": server.ref(name), "difference": change.lines}
                for server in self.servers
                for name, change in server.changed.items()
            ],
            "gone": [server.ref(name) for server in self.servers for name in server.gone],
            "failures": self.failures,
        }


async def _look(config: Config, toolboxes: list[str]) -> Outcome:
    """Open toolboxes and compare what their servers offer. Raises PinsUnusable."""
    workbench = Workbench(config)
    try:
        openings = [workbench.open(name) for name in toolboxes]
        for problem in await asyncio.gather(*openings, return_exceptions=True):
            if isinstance(problem, BaseException) and not isinstance(problem, OpeningFailed):
                raise problem
        servers = [each for name in toolboxes for each in workbench.toolboxes[name].servers.values()]
        return Outcome(
            [
                workbench.pins.compare(server.config, server.found.values())
                for server in servers
                if server.failure is None
            ],
            [server.failure.sentence for server in servers if server.failure is not None],
        )
    finally:
        await workbench.close()


def _accepted_at_the_terminal() -> bool:
    return sys.stdin.isatty() and agrees("Accept this?", default=False)


def _fail(message: str) -> NoReturn:
    typer.echo(error(message), err=True)
    raise typer.Exit(1)
