"""`mcp-workbench init`: from the servers that clients have to a configuration that is shown to work."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
from typing import Annotated, Any

import typer

from ..clients.discovery import Discovery
from ..clients.known import BY_NAME
from ..clients.proposal import Proposal
from ..config import LOCAL_NAME, Config, load
from ..config.folders import user_config
from ..errors import WorkbenchError
from .difference import print_difference
from .new import write_tool
from .own_config import OwnConfig
from .proof import Proof, prove
from .question import agrees
from .session import Settled, fail, tell_notes
from .streams import outlast_readers
from .table import print_json, print_table
from .terminal import counted, good, plain, warning

# A variable without a default.
_REFERENCE = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*)\}")

STARTER = "hello"
"""The tool that somebody without a server begins with."""


def init(
    sources: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="PATH", help="A client's file; else all that are found. Repeatable."),
    ] = None,
    toolbox: Annotated[str | None, typer.Option(metavar="NAME", help="One toolbox for everything.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="PATH", help="The file to write; else ./workbench-config.json.")
    ] = None,
    user: Annotated[bool, typer.Option("--user", help="Write your own file, for every folder.")] = False,
    copy_secrets: Annotated[
        bool, typer.Option("--copy-secrets", help="Copy secrets in clear; the file is then for you alone.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written.")] = False,
    no_proof: Annotated[bool, typer.Option("--no-proof", help="Start no server afterwards.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Make toolboxes of the servers that your clients have.

    Shows what was found and what will be written, and opens every toolbox to see that it works. Status 1 if
    nothing could be written or no server works.
    """
    outlast_readers()
    asks = sys.stdin.isatty() and not (yes or dry_run or as_json)
    if not (asks or yes or dry_run):
        fail("there is nobody to ask: say --yes to write, or --dry-run to look", status=2)
    for path in sources or ():
        if not os.path.isfile(path):
            fail(f"{path} is no file")
    try:
        own = OwnConfig.chosen(config, user, os.environ)
        _FirstRun(sources or [], toolbox, own, copy_secrets, as_json).do(asks, dry_run, proves=not no_proof)
    except (WorkbenchError, OSError) as problem:
        fail(str(problem))


class _FirstRun:
    def __init__(
        self, sources: list[str], toolbox: str | None, own: OwnConfig, copy_secrets: bool, as_json: bool
    ) -> None:
        self._sources = sources
        self._toolbox = toolbox
        self._own = own
        self._copies = copy_secrets
        self._as_json = as_json
        self._look()

    def do(self, asks: bool, dry_run: bool, proves: bool) -> None:
        """Raises WorkbenchError, OSError; ends the command with its status."""
        if not self._as_json:
            self._tell_found()
        if asks:
            self._ask_about_secrets()
        starts_empty = self._propose()
        change = self._own.change(hidden=self._values().values())
        if not self._as_json:
            self._tell_proposed()
            if dry_run or change.before is not None:
                print_difference(change.difference())
        if dry_run or (asks and change and not self._agreed()):
            self._finish(None, written=False)
            return
        if starts_empty:
            write_tool(STARTER, os.path.join(os.path.dirname(self._own.path), "tools"), typed=False)
        self._own.save(private=self._copies and bool(self._values()))
        if not self._as_json:
            typer.echo(good(f"{plain(self._own.path)} {'written' if change else 'is as it should be'}."))
            self._tell_exports()
        proof = asyncio.run(prove(self._config(), self._progress)) if proves else None
        self._finish(proof, written=bool(change))
        if starts_empty and not self._as_json:
            typer.echo(f"Try it: mcp-workbench call mine/tools/{STARTER} who=Ann{self._named()}")
        raise typer.Exit(0 if proof is None or proof.works else 1)

    def _ask_about_secrets(self) -> None:
        count = len(self._values())
        if count and not self._copies:
            question = f"Copy {counted(count, 'secret')} in clear, instead of naming variables?"
            self._copies = agrees(question, default=False)
            self._look()

    def _agreed(self) -> bool:
        return agrees(f"Write {plain(self._own.path)}?", default=True)

    def _look(self) -> None:
        base = os.path.dirname(self._own.path)
        self._discovery = Discovery(os.environ, os.getcwd(), base, self._sources, self._copies)

    def _values(self) -> dict[str, str]:
        """The secrets that were found, by the variables that stand for them."""
        variables = self._discovery.secrets.variables.values()
        return {each.name: each.value for each in variables if each.value is not None}

    def _propose(self) -> bool:
        """Whether there was nothing to begin with, so that there will be a tool to try."""
        proposal = Proposal(self._discovery.servers, self._own.data, self._toolbox)
        toolboxes: dict[str, Any] = self._own.data["toolboxes"]
        for name, description in proposal.descriptions().items():
            if name not in toolboxes:
                self._own.add_toolbox(name, description)
        for each in proposal.servers:
            self._own.add_server(each.toolbox, each.name, each.entry)
        if self._own.data["toolboxes"]:
            return False
        self._own.add_toolbox("mine", "Tools of my own")
        self._own.add_server("mine", "tools", {"path": "./tools"})
        return not os.path.exists(os.path.join(os.path.dirname(self._own.path), "tools", f"{STARTER}.py"))

    def _config(self) -> Config:
        """As it will be once the variables are exported: their values are known here, and nowhere kept."""
        return load(self._own.path, {**os.environ, **self._values()})

    def _progress(self, outcome: Settled) -> None:
        if not self._as_json:
            typer.echo(outcome.line())
        elif sys.stderr.isatty():
            typer.echo(outcome.line(), err=True)
        tell_notes(outcome)

    def _tell_found(self) -> None:
        for problem in self._discovery.problems:
            typer.echo(warning(problem), err=True)
        if not self._discovery.servers:
            typer.echo("No client here has a server that could be taken over.")
            if not self._own.data["toolboxes"]:
                typer.echo("You begin with a tool of your own.")
            return
        rows = [
            (each.name, BY_NAME[each.client].title, each.refused or _short(each.path))
            for each in self._discovery.servers
        ]
        print_table(("SERVER", "CLIENT", "FROM"), rows)

    def _tell_proposed(self) -> None:
        typer.echo()
        toolboxes: dict[str, Any] = self._own.data["toolboxes"]
        rows = [
            (name, ", ".join(_names(body["mcpServers"])), body["description"])
            for name, body in toolboxes.items()
        ]
        print_table(("TOOLBOX", "SERVERS", "DESCRIPTION"), rows)
        typer.echo()

    def _exports(self) -> list[dict[str, str]]:
        """Variables that the configuration needs and the environment does not have."""
        purposes = {name: each.purpose for name, each in self._discovery.secrets.variables.items()}
        toolboxes: dict[str, Any] = self._own.data["toolboxes"]
        needed: dict[str, str] = {}
        for body in toolboxes.values():
            servers: dict[str, Any] = body["mcpServers"]
            for server, entry in servers.items():
                names: list[str] = [] if entry.get("disabled") else _REFERENCE.findall(json.dumps(entry))
                for name in names:
                    needed.setdefault(name, purposes.get(name, server))
        return [{"name": name, "for": why} for name, why in needed.items() if name not in os.environ]

    def _tell_exports(self) -> None:
        exports = self._exports()
        if exports:
            typer.echo("Secrets are not copied. Where your client is started, set:")
            for each in exports:
                typer.echo(f"  export {each['name']}=…  # {plain(each['for'])}")

    def _named(self) -> str:
        """What a command needs to find the file that was written; nothing where it finds it by itself."""
        path = self._own.path
        found = path in (os.path.abspath(LOCAL_NAME), user_config(os.environ))
        return "" if found else f" --config {shlex.quote(path)}"

    def _finish(self, proof: Proof | None, written: bool) -> None:
        if self._as_json:
            print_json(
                {
                    "config": self._own.path,
                    "written": written,
                    "found": [
                        {"name": each.name, "client": each.client, "path": each.path, "refused": each.refused}
                        for each in self._discovery.servers
                    ],
                    "problems": self._discovery.problems,
                    "toolboxes": {
                        name: list(body["mcpServers"]) for name, body in self._own.data["toolboxes"].items()
                    },
                    "difference": self._own.change(hidden=self._values().values()).difference(),
                    "exports": self._exports(),
                    "proof": None if proof is None else proof.as_json(),
                }
            )
            return
        if proof is not None:
            if proof.call is not None:
                typer.echo(proof.call.line())
            typer.echo(proof.summary())
            typer.echo(f"Next: mcp-workbench connect{self._named()}")
        elif not written:
            typer.echo("Nothing was written.")


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _names(servers: dict[str, Any]) -> list[str]:
    return [f"{name} (disabled)" if entry.get("disabled") else name for name, entry in servers.items()]
