"""`mcp-workbench connect` and `disconnect`: our entry in and out of a client's configuration."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
import typer

from ..clients import jsonc
from ..clients.change import Backups, Change, ChangedSince, read
from ..clients.client import ClientFile, Home
from ..clients.discovery import Discovery
from ..clients.known import BY_NAME, CLIENTS
from ..clients.ours import our_entry
from ..clients.proposal import is_among, shape
from ..clients.standing import Standing
from ..config import Config
from ..errors import WorkbenchError
from .difference import print_difference
from .not_found import NotFound
from .question import agrees
from .session import chosen, fail
from .streams import outlast_readers
from .table import print_json, print_table
from .terminal import error, good, plain

_REFERENCE = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*)")
_ALWAYS_SET = frozenset({"HOME", "PATH", "USER", "SHELL", "LANG", "PWD", "TMPDIR"})


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
    """Add the workbench to clients.

    The difference is shown, the file is backed up, and written at once. Status 1 if a file cannot be read or
    written, or if nobody agreed.
    """
    if listed:
        _list(as_json)
        return
    edits = _Edits(yes, dry_run, as_json)
    backups = Backups(os.environ)
    if undo:
        edits.make(_files(clients, project, connected=True), lambda file: file.undoing(backups), keeps=False)
        return
    used = chosen(config)
    unchanged: list[str] = []

    def connecting(file: ClientFile) -> Change:
        imported = tuple(_imported(file, used))
        if imported and not replace:
            unchanged.append(file.client.title)
        leaving_out = imported if replace else ()
        return file.connecting(our_entry(file.client, used.path, _variables(used)), leaving_out)

    edits.make(_files(clients, project), connecting)
    if unchanged and not as_json:
        typer.echo(
            f"Servers that the workbench has now are also started by {', '.join(unchanged)} as before; "
            "to take them out there, run: mcp-workbench connect --replace"
        )


def disconnect(
    clients: Clients = None,
    project: Project = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take the workbench out of clients.

    What `connect --replace` took out is put back. Status 1 if a file cannot be read or written, or if nobody
    agreed.
    """
    backups = Backups(os.environ)
    edits = _Edits(yes, dry_run, as_json)
    edits.make(_files(clients, project, connected=True), lambda file: file.disconnecting(backups))


class _Edits:
    """Changes of clients' files: each is shown, agreed to, kept for undoing, and written."""

    def __init__(self, yes: bool, dry_run: bool, as_json: bool) -> None:
        outlast_readers()
        self._yes = yes
        self._dry_run = dry_run
        self._as_json = as_json
        self._asks = sys.stdin.isatty() and not (yes or dry_run or as_json)
        self._backups = Backups(os.environ)
        self._outcomes: list[dict[str, Any]] = []
        self._problems: list[str] = []

    def make(
        self, files: list[ClientFile], wanted: Callable[[ClientFile], Change | None], keeps: bool = True
    ) -> None:
        """One file that cannot be changed does not keep the others from it; it makes the status 1."""
        for file in files:
            try:
                change = wanted(file)
                if change is not None:
                    self._one(file, change, keeps)
            except ChangedSince as problem:
                way_out = f"mcp-workbench disconnect {file.client.name}"
                self._problems.append(f"{problem}. To take our entry out all the same, run: {way_out}")
            except (WorkbenchError, OSError) as problem:
                self._problems.append(str(problem))
            except UnicodeEncodeError:
                self._problems.append(f"{file.path} cannot hold a path that is not in UTF-8")
        if self._as_json:
            print_json({"files": self._outcomes, "problems": self._problems})
        elif not self._outcomes and not self._problems:
            typer.echo("There is nothing to change.")
        for problem in self._problems:
            typer.echo(error(problem), err=True)
        if self._problems:
            raise typer.Exit(1)

    def _one(self, file: ClientFile, change: Change, keeps: bool) -> None:
        if not self._as_json:
            print_difference(change.difference())
        agreed = bool(change) and not self._dry_run and (self._yes or (self._asks and _agrees(change)))
        copy = None
        if agreed:
            copy = self._backups.keep(change) if keeps else None
            change.write()
            if not keeps:
                self._backups.forget(change.path)
        elif change and not self._dry_run:
            self._problems.append(f"{change.path} was not written" + ("" if self._asks else ": say --yes"))
        self._outcomes.append(
            {"path": change.path, "written": agreed, "backup": copy, "difference": change.difference()}
        )
        if not self._as_json:
            _tell(file, change, agreed, copy)


def _agrees(change: Change) -> bool:
    return agrees(f"Write {plain(change.path)}?", default=True)


def _files(names: list[str] | None, project: bool, connected: bool = False) -> list[ClientFile]:
    """The files to change: of the clients that were named, else of those that are here, or connected."""
    home, folder = Home.of(os.environ), os.getcwd()
    files: list[ClientFile] = []
    for name in names or BY_NAME:
        if name not in BY_NAME:
            fail(str(NotFound("client", name, BY_NAME)))
        own = [file for file in BY_NAME[name].files(home, folder) if (file.project is not None) == project]
        if names and not own:
            fail(f"{BY_NAME[name].title} has no file in a project")
        files += [file for file in own if names or _stands(file, home, connected)]
    if not files and not connected:
        fail(f"No client was found on this machine. Name one: {', '.join(BY_NAME)}")
    return files


def _stands(file: ClientFile, home: Home, connected: bool) -> bool:
    standing = Standing.of(file, home)
    return standing.entry is not None if connected else standing.here or file.client.is_here(home)


def _tell(file: ClientFile, change: Change, written: bool, copy: str | None) -> None:
    if not change:
        typer.echo(f"{plain(change.path)} is as it should be.")
    elif written:
        kept = f" What it was is in {plain(copy)}." if copy is not None else ""
        typer.echo(good(f"{plain(change.path)} written.") + kept)
        if file.our_entry() is not None:
            typer.echo(f"{file.client.title}: {file.client.restart}.")


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
    for each in Discovery(os.environ, os.getcwd(), base).servers:
        if each.path == file.path and each.project == file.project and is_among(entries, each):
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
