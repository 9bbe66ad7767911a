"""A workbench of a command's own: its configuration, and its toolboxes opened with a line for each server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, NoReturn

import msgspec
import typer

from ..config import Config, ServerConfig, configuration
from ..errors import ConfigError, OpeningFailed
from ..names import joined
from ..servers.base import Server
from ..workbench import Workbench
from .not_found import NotFound
from .terminal import counted, error, good, plain, warning

SLOW = 3.0
"""Seconds after which somebody wonders whether anything happens."""


class Settled(msgspec.Struct):
    """How a server fared: connected with its tools, or failed for a reason, after so many seconds."""

    toolbox: str
    server: str
    seconds: float
    tools: int
    failure: str | None = None
    fix: str | None = None
    notes: list[str] = []

    def line(self) -> str:
        place = plain(joined(self.toolbox, self.server))
        if self.failure is None:
            return f"{good('✓')} {place}  {self.seconds:.2f} s  {counted(self.tools, 'tool')}"
        cross = typer.style("✗", fg=typer.colors.RED, bold=True)
        line = f"{cross} {place}  {self.seconds:.2f} s  {plain(self.failure)}"
        return f"{line}\n  → {plain(self.fix)}" if self.fix is not None else line

    def as_json(self) -> dict[str, Any]:
        return {**msgspec.structs.asdict(self), "seconds": round(self.seconds, 3)}


class Session:
    """Enter it to have a workbench; leaving ends every process that it started."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.workbench: Workbench

    async def __aenter__(self) -> Session:
        self.workbench = Workbench(self._config)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.workbench.close()

    async def open(
        self, toolboxes: Iterable[str], tell: Callable[[Settled], None] | None = None
    ) -> list[Settled]:
        """Open toolboxes side by side. A failure is an outcome too; `tell` hears of each as it comes.

        Whoever watches at a terminal is told what is waited for.
        """
        began = time.perf_counter()
        outcomes: dict[tuple[str, str], Settled] = {}

        def on_settled(server: Server) -> None:
            outcome = _outcome(server, time.perf_counter() - began)
            outcomes[outcome.toolbox, outcome.server] = outcome
            if tell is not None:
                tell(outcome)

        async def open_one(name: str) -> None:
            with contextlib.suppress(OpeningFailed):  # which its servers' outcomes say as well
                await self.workbench.open(name, on_settled=on_settled)

        names = list(toolboxes)
        order = [(name, server) for name in names for server in self.workbench.toolboxes[name].config.servers]

        def still_waiting() -> None:
            slow = ", ".join(joined(*place) for place in order if place not in outcomes)
            typer.echo(f"  waiting for {plain(slow)} (the first start may have to download it)", err=True)

        notice = asyncio.get_running_loop().call_later(SLOW, still_waiting) if sys.stderr.isatty() else None
        await asyncio.gather(*map(open_one, names))
        if notice is not None:
            notice.cancel()
        return [outcomes[place] for place in order if place in outcomes]


def chosen(config: str | None) -> Config:
    """The configuration that a command works with; one that cannot be used ends the command."""
    try:
        used = configuration(config, os.environ, os.getcwd())
    except ConfigError as problem:
        fail(str(problem))
    if used.untrusted is not None:
        where = used.path or "the embedded default"
        say = f"{used.untrusted} is not trusted, so {where} is used; to trust it, run: mcp-workbench trust"
        typer.echo(warning(say), err=True)
    return used


def named(config: Config, toolbox: str | None) -> list[str]:
    """The toolboxes that a command is about: the one that was named, or all; ends it where there is none."""
    if toolbox is None:
        return list(config.toolboxes)
    if toolbox not in config.toolboxes:
        fail(str(NotFound("toolbox", toolbox, config.toolboxes)))
    return [toolbox]


def complete_toolbox(incomplete: str) -> list[str]:
    """For the shell: the toolboxes of the configuration that would be used here."""
    try:
        used = configuration(None, os.environ, os.getcwd())
    except ConfigError:
        return []
    return [name for name in used.toolboxes if name.startswith(incomplete)]


def progress_line(outcome: Settled) -> None:
    """On stderr: a failure always, a success for whoever watches."""
    if outcome.failure is not None or sys.stderr.isatty():
        typer.echo(outcome.line(), err=True)
    tell_notes(outcome)


def tell_notes(outcome: Settled) -> None:
    """On stderr: what a server that was connected had to leave out, as a tool file that cannot be loaded."""
    for note in outcome.notes:
        typer.echo(warning(note), err=True)


def fail(message: str, status: int = 1) -> NoReturn:
    first, *rest = message.split("\n")
    typer.echo("\n".join([error(first), *map(plain, rest)]), err=True)
    raise typer.Exit(status)


def _outcome(server: Server, seconds: float) -> Settled:
    config = server.config
    failure = server.failure
    return Settled(
        toolbox=config.toolbox,
        server=config.name,
        seconds=seconds,
        tools=len(server.tools),
        failure=failure.reason if failure is not None else None,
        fix=_fix(config) if failure is not None else None,
        notes=list(server.notes),
    )


def _fix(config: ServerConfig) -> str | None:
    if config.problem is not None:
        return "Set it where your client is started (export NAME=…), or give it a default: ${NAME:-…}"
    return None
