"""`mcp-workbench doctor`: is everything in order here? Each problem comes with what mends it."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Literal

import msgspec
import typer

from .. import __version__
from ..clients.client import Home
from ..clients.known import CLIENTS
from ..clients.standing import Standing
from ..config import ChildConfig, Config, ServerConfig, configuration
from ..config.folders import state_folder
from ..errors import ConfigError, WorkbenchError
from ..names import joined
from .programs import USUAL, Program
from .session import Session, Settled, complete_toolbox, named
from .table import print_json
from .terminal import counted, good, plain

State = Literal["good", "note", "problem"]
_MARKS = {
    "good": ("✓", typer.colors.GREEN),
    "note": ("·", typer.colors.YELLOW),
    "problem": ("✗", typer.colors.RED),
}


class Finding(msgspec.Struct):
    """One thing that was looked at. A note is worth knowing and harms nothing."""

    area: str
    subject: str
    state: State
    detail: str
    fix: str | None = None

    def line(self) -> str:
        mark, colour = _MARKS[self.state]
        line = f"{typer.style(mark, fg=colour)} {self.area}: {plain(self.subject)}  {plain(self.detail)}"
        return f"{line.rstrip()}\n  → {plain(self.fix)}" if self.fix is not None else line.rstrip()


def doctor(
    toolbox: Annotated[
        str | None,
        typer.Argument(
            metavar="TOOLBOX", help="Start this toolbox's servers only.", autocompletion=complete_toolbox
        ),
    ] = None,
    no_servers: Annotated[bool, typer.Option("--no-servers", help="Start no server.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """Look at everything that a working setup needs. Status 1 if there is a problem."""
    findings: list[Finding] = []

    def tell(finding: Finding) -> None:
        findings.append(finding)
        if not as_json:
            typer.echo(finding.line())

    _examine(toolbox, not no_servers, config, tell)
    problems = sum(finding.state == "problem" for finding in findings)
    if as_json:
        print_json({"healthy": not problems, "findings": findings})
    else:
        typer.echo(f"{counted(problems, 'problem')}." if problems else good("Everything is in order."))
    raise typer.Exit(1 if problems else 0)


def _examine(toolbox: str | None, servers: bool, option: str | None, tell: Callable[[Finding], None]) -> None:
    def tell_all(findings: Iterable[Finding]) -> None:
        for finding in findings:
            tell(finding)

    config: Config | None = None
    unusable: list[Finding] = []
    names: list[str] = []
    try:
        config = configuration(option, os.environ, os.getcwd())
        names = named(config, toolbox)
    except ConfigError as problem:
        name = problem.path
        unusable = [Finding("configuration", name, "problem", str(problem), f"mcp-workbench check {name}")]
    tell_all(_versions())
    tell_all(unusable)
    tell_all(_programs(config))
    if config is not None:
        tell_all(_configuration(config))
        tell(_log(config))
        tell(_port(config))
        if servers:
            asyncio.run(_servers(config, names, lambda settled: tell(_server(settled))))
    tell_all(_clients())
    tell_all(_running())


def _versions() -> Iterator[Finding]:
    yield Finding("version", "mcp-workbench", "good", __version__)
    system = f"{platform.python_version()}, {sys.executable}, {platform.system()} {platform.machine()}"
    if sys.platform == "win32":
        fix = "Run it in WSL: servers are processes in groups and pipes, which Windows has not"
        yield Finding("version", "Python", "problem", system, fix)
    else:
        yield Finding("version", "Python", "good", system)


def _programs(config: Config | None) -> Iterator[Finding]:
    """The usual ones, and whatever the configuration starts; only the latter can be a problem."""
    needed: dict[str, list[str]] = {}
    for server in _configured(config):
        if isinstance(server, ChildConfig) and server.problem is None and not os.path.dirname(server.command):
            needed.setdefault(server.command, []).append(joined(server.toolbox, server.name))
    for name in dict.fromkeys((*USUAL, *needed)):
        program = Program.find(name)
        if program.path is not None:
            told = ", ".join(each for each in (program.version, program.path) if each)
            yield Finding("program", name, "good", told)
        elif name in needed:
            users = f"not on PATH, and needed by {', '.join(needed[name])}"
            yield Finding("program", name, "problem", users, program.how_to_install)
        else:
            yield Finding("program", name, "note", "not on PATH; no server here needs it")


def _configured(config: Config | None) -> Iterator[ServerConfig]:
    if config is not None:
        for toolbox in config.toolboxes.values():
            yield from toolbox.servers.values()


def _configuration(config: Config) -> Iterator[Finding]:
    name = config.path or "the embedded default"
    if config.untrusted is not None:
        fix = f"mcp-workbench trust {config.untrusted}"
        yield Finding("configuration", config.untrusted, "problem", "not trusted, so not used", fix)
    servers = counted(len(list(_configured(config))), "server")
    yield Finding("configuration", name, "good", _toolboxes(len(config.toolboxes)) + f", {servers}")
    if config.path is None and config.untrusted is None:
        yield Finding("configuration", "none of your own", "note", "no file was found", "mcp-workbench init")
    told = {server.complaint for server in _configured(config)}
    for warning in config.warnings:
        if warning not in told:  # its server is about to say it
            yield Finding("configuration", name, "note", warning)


def _toolboxes(count: int) -> str:
    return "1 toolbox" if count == 1 else f"{count} toolboxes"


def _log(config: Config) -> Finding:
    path = config.log.path
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.exists(path):
            with open(path, "ab"):
                pass
        else:
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        fix = f"mkdir -p '{folder}' && chmod u+rwx '{folder}'"
        return Finding("log", path, "problem", f"cannot be written: {error.strerror}", fix)
    return Finding("log", path, "good", "can be written")


def _port(config: Config) -> Finding:
    from ..http.listening import Address

    listen = config.http.listen
    try:
        Address.read(listen).open().close()
    except (WorkbenchError, OSError):
        fix = "Where that is no workbench of yours, choose another: mcp-workbench serve --http 127.0.0.1:8485"
        return Finding("port", listen, "note", "in use, so `serve --http` could not start there", fix)
    return Finding("port", listen, "good", "free for `serve --http`")


async def _servers(config: Config, toolboxes: list[str], tell: Callable[[Settled], None]) -> None:
    async with Session(config) as session:
        await session.open(toolboxes, tell)


def _server(settled: Settled) -> Finding:
    name = joined(settled.toolbox, settled.server)
    time = f"{settled.seconds:.2f} s"
    if settled.failure is not None:
        fix = settled.fix or f"Correct its entry: toolboxes.{settled.toolbox}.mcpServers.{settled.server}"
        return Finding("server", name, "problem", f"{time}  {settled.failure}", fix)
    tools = counted(settled.tools, "tool")
    if settled.notes:
        return Finding("server", name, "note", f"{time}  {tools}; {'; '.join(settled.notes)}")
    return Finding("server", name, "good", f"{time}  {tools}")


def _clients() -> Iterator[Finding]:
    home, folder = Home.of(os.environ), os.getcwd()
    for client in CLIENTS:
        standings = [Standing.of(file, home) for file in client.files(home, folder)]
        for each in standings:
            if each.problem is not None:
                yield Finding("client", client.title, "problem", each.problem, f"Correct {each.path}")
            elif each.entry is not None:
                yield _connected(each)
        if standings[0].here and not any(each.entry or each.problem for each in standings):
            fix = f"mcp-workbench connect {client.name}"
            yield Finding("client", client.title, "note", "not connected", fix)


def _connected(standing: Standing) -> Finding:
    command = standing.command or ""
    if os.path.dirname(command) and not os.access(command, os.X_OK):
        fix = f"mcp-workbench connect {standing.client}"
        return Finding("client", standing.title, "problem", f"its entry starts {command}, which is gone", fix)
    return Finding("client", standing.title, "good", f"connected ({standing.path})")


class _Told(msgspec.Struct):
    """What a running workbench tells of itself."""

    pid: int
    transport: str = ""
    config: str | None = None
    reload_error: str | None = None
    calls: int = 0
    errors: int = 0
    log_dropped: int = 0
    log_unrecorded: int = 0


def _running() -> Iterator[Finding]:
    folder = os.path.join(state_folder(os.environ), "run")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                told = msgspec.json.decode(file.read(), type=_Told)
        except (OSError, msgspec.MsgspecError):
            continue  # it has just ended, or is being written
        if not _lives(told.pid):
            os.unlink(path)  # it was killed, and could not do that itself
            continue
        subject = f"pid {told.pid}, {told.transport}"
        counts = f"{counted(told.calls, 'call')}, {counted(told.errors, 'error')}"
        if told.reload_error is not None:
            trust = f"mcp-workbench trust {told.config}"
            fix = trust if trust in told.reload_error else f"mcp-workbench check {told.config}"
            yield Finding("running", subject, "problem", told.reload_error, fix)
        elif told.log_dropped:
            lost = f"{counted(told.log_dropped, 'line')} of the log could not be written"
            yield Finding("running", subject, "problem", lost, "Make room on the disk of the log")
        elif told.log_unrecorded:
            lost = f"{counted(told.log_unrecorded, 'result')} could not be recorded"
            yield Finding("running", subject, "problem", lost, "Make room on the disk of the log")
        else:
            yield Finding("running", subject, "good", counts)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
