"""`mcp-workbench connect` and `disconnect`: our entry in and out of a client's configuration."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from ..clients import jsonc
from ..clients.change import Backups, Change, ChangedSince, read
from ..clients.client import ClientFile, Home
from ..clients.discovery import Discovery
from ..clients.known import BY_NAME, CLIENTS, our_entry
from ..clients.proposal import shape
from ..clients.standing import Standing
from ..config import Config
from ..errors import WorkbenchError
from .difference import print_difference
from .not_found import NotFound
from .session import chosen, fail
from .table import print_json, print_table
from .terminal import good, plain

_REFERENCE = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*)")
_ALWAYS_SET = frozenset({"HOME", "PATH", "USER", "SHELL", "LANG", "PWD", "TMPDIR"})


class Nobody(WorkbenchError):
    def __init__(self) -> None:
        super().__init__(f"No client was found on this machine. Name one: {', '.join(BY_NAME)}")


def _complete_client(incomplete: str) -> list[str]:
    return [name for name in BY_NAME if name.startswith(incomplete)]


Clients = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CLIENT]...", help=f"{', '.join(BY_NAME)}; else all found.", autocompletion=_complete_client
    ),
]
Project = Annotated[bool, typer.Option("--project", help="The client's file in this folder.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the difference alone.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]


def connect(
    clients: Clients = None,
    project: Project = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take out the servers that the workbench has now.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last change of the file.")] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Print which clients are here and connected.")
    ] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration to serve.")] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Add the workbench to clients: the difference is shown, the file is backed up, and written at once.

    Status 1 if a file cannot be read or written, or if nobody agreed.
    """
    if listed:
        _list(as_json)
        return
    try:
        if undo:
            backups = Backups(os.environ)
            undone = [file.undoing(backups) for file in _files(clients, project, connected=True)]
            _apply([change for change in undone if change is not None], yes, dry_run, as_json, undoes=True)
            return
        used = chosen(config)
        changes = [
            file.connecting(
                our_entry(file.client, used.path, _variables(used)),
                tuple(_imported(file, used)) if replace else (),
            )
            for file in _files(clients, project)
        ]
        _apply(changes, yes, dry_run, as_json)
    except ChangedSince as problem:
        fail(f"{problem}. To take our entry out all the same, run: mcp-workbench disconnect")
    except (WorkbenchError, OSError) as problem:
        fail(str(problem))


def disconnect(
    clients: Clients = None,
    project: Project = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take the workbench out of clients, and put back what `connect --replace` took out.

    Status 1 if a file cannot be read or written, or if nobody agreed.
    """
    try:
        backups = Backups(os.environ)
        changes = [file.disconnecting(backups) for file in _files(clients, project, connected=True)]
        _apply(changes, yes, dry_run, as_json)
    except (WorkbenchError, OSError) as problem:
        fail(str(problem))


def _files(names: list[str] | None, project: bool, connected: bool = False) -> list[ClientFile]:
    """The files to change: of the clients that were named, else of those that are here, or connected."""
    home, folder = Home.of(os.environ), os.getcwd()
    files: list[ClientFile] = []
    for name in names or BY_NAME:
        if name not in BY_NAME:
            raise NotFound("client", name, BY_NAME)
        client = BY_NAME[name]
        own = [file for file in client.files(home, folder) if (file.project is not None) == project]
        if names and not own:
            raise NotFound(
                "project file of client", name, [each.name for each in CLIENTS if each.project_file]
            )
        if names or (connected and own and own[0].exists) or (not connected and client.is_here(home)):
            files += own
    if not files:
        raise Nobody
    return files if names or not connected else [file for file in files if file.our_entry() is not None]


def _apply(changes: list[Change], yes: bool, dry_run: bool, as_json: bool, undoes: bool = False) -> None:
    """Show each change, and make those that somebody agrees to."""
    backups = Backups(os.environ)
    asks = sys.stdin.isatty() and not (yes or dry_run or as_json)
    outcomes: list[dict[str, Any]] = []
    waits = False
    for change in changes:
        if not as_json:
            print_difference(change.difference())
        agreed = (
            bool(change)
            and not dry_run
            and (yes or (asks and typer.confirm(f"Write {plain(change.path)}?", default=True)))
        )
        waits = waits or (bool(change) and not agreed and not dry_run)
        copy = None
        if agreed:
            if undoes:
                change.write()
                backups.forget(change.path)
            else:
                copy = backups.keep(change)
                change.write()
        outcomes.append(
            {"path": change.path, "written": agreed, "backup": copy, "difference": change.difference()}
        )
        if not as_json:
            _tell(change, agreed, copy)
    if as_json:
        print_json({"files": outcomes})
    elif not changes:
        typer.echo("There is nothing to change.")
    if waits:
        if not asks:
            fail("nothing was written: say --yes to write")
        raise typer.Exit(1)


def _tell(change: Change, written: bool, copy: str | None) -> None:
    if not change:
        typer.echo(f"{plain(change.path)} is as it should be.")
    elif written:
        kept = f" What it was is in {plain(copy)}." if copy is not None else ""
        typer.echo(good(f"{plain(change.path)} written.") + kept)
        for client in CLIENTS:
            if change.after is not None and change.path in _paths(client.name):
                typer.echo(f"{client.title}: {client.restart}.")


def _paths(client: str) -> list[str]:
    return [file.path for file in BY_NAME[client].files(Home.of(os.environ), os.getcwd())]


def _variables(config: Config) -> list[str]:
    """What the configuration needs from the environment."""
    text = read(config.path) if config.path is not None else None
    return [name for name in dict.fromkeys(_REFERENCE.findall(text or "")) if name not in _ALWAYS_SET]


def _imported(file: ClientFile, config: Config) -> Iterator[str]:
    """The servers in a client's file that are in the configuration as well, entry for entry."""
    if config.path is None:
        return
    toolboxes: dict[str, dict[str, Any]] = jsonc.parse(read(config.path) or "{}")["toolboxes"]
    entries = {shape(entry) for body in toolboxes.values() for entry in body.get("mcpServers", {}).values()}
    base = os.path.dirname(config.path)
    for keep_secrets in (False, True):
        for each in Discovery(os.environ, os.getcwd(), base, keep_secrets=keep_secrets).servers:
            if each.path == file.path and each.project == file.project and shape(each.entry) in entries:
                yield each.name


def _list(as_json: bool) -> None:
    home, folder = Home.of(os.environ), os.getcwd()
    found = [Standing.of(file, home) for client in CLIENTS for file in client.files(home, folder)]
    found = [each for each in found if each.here]
    if as_json:
        print_json({"clients": [msgspec.structs.asdict(each) for each in found]})
    else:
        rows = [(each.client, each.title, each.state, each.path) for each in found]
        print_table(("CLIENT", "", "WORKBENCH", "FILE"), rows)
