"""`mcp-workbench new toolbox` and `new server`: entries of the configuration, checked before written."""

from __future__ import annotations

import os
from typing import Annotated, Any
from urllib.parse import unquote

import typer

from ..clients.secrets import Secrets
from ..config import find
from ..errors import WorkbenchError
from .not_found import NotFound
from .own_config import OwnConfig
from .question import answer
from .session import complete_toolbox, fail
from .table import print_json
from .terminal import good, plain

ConfigOption = Annotated[
    str | None, typer.Option(metavar="PATH", help="The file; else the one in use, or a new one here.")
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]


class AlreadyThere(WorkbenchError):
    def __init__(self, what: str, name: str, path: str) -> None:
        super().__init__(f"{what} '{name}' is in {path} already")


def toolbox(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, '.', '_' and '-'.")],
    description: Annotated[
        str | None, typer.Option(help="What it is for; asked for where it is left out.")
    ] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Add an empty toolbox to the configuration. Status 1 if it cannot be."""
    try:
        own = _own(config)
        if name in own.data["toolboxes"]:
            raise AlreadyThere("Toolbox", name, own.path)
        if description is None:
            description = answer("What is it for (a model reads this)")
        own.add_toolbox(name, description)
        own.save()
    except (WorkbenchError, OSError) as problem:
        fail(str(problem))
    if as_json:
        print_json({"config": own.path, "toolbox": name})
        return
    typer.echo(good(f"Toolbox {plain(name)} is in {plain(own.path)}."))
    typer.echo(f"To put a server into it: mcp-workbench new server {plain(name)}/NAME -- COMMAND ARGS…")


def server(
    place: Annotated[
        str,
        typer.Argument(
            metavar="TOOLBOX/NAME", help="Where it goes; / in NAME as %2F.", autocompletion=complete_toolbox
        ),
    ],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND [ARGS]...]", help="What starts it.")
    ] = None,
    url: Annotated[str | None, typer.Option(metavar="URL", help="The address of a remote server.")] = None,
    path: Annotated[str | None, typer.Option(metavar="FOLDER", help="A folder of tool files.")] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A variable of the process. Repeatable.")
    ] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Add a server to a toolbox. A command, a url or a folder of tool files; status 1 if it cannot be."""
    toolbox, _, written = place.partition("/")
    name = unquote(written)
    if not (toolbox and name) or sum((bool(command), url is not None, path is not None)) != 1:
        fail("say TOOLBOX/NAME and one of: -- COMMAND ARGS…, --url URL, --path FOLDER", status=2)
    variables = _variables(env or [], command)
    try:
        own = _own(config)
        toolboxes: dict[str, Any] = own.data["toolboxes"]
        if toolbox not in toolboxes:
            raise NotFound("toolbox", toolbox, toolboxes)
        if name in toolboxes[toolbox].get("mcpServers", {}):
            raise AlreadyThere("Server", name, own.path)
        secrets = Secrets(os.environ)
        own.add_server(toolbox, name, secrets.replaced(name, _entry(command, url, path, variables)))
        own.save()
    except (WorkbenchError, OSError) as problem:
        fail(str(problem))
    if as_json:
        exports = list(secrets.variables)
        print_json({"config": own.path, "toolbox": toolbox, "server": name, "exports": exports})
        return
    typer.echo(good(f"Server {plain(name)} is in {plain(own.path)}."))
    for variable in secrets.variables:
        typer.echo(f"The secret was not copied. Where your client is started, set: export {variable}=…")
    typer.echo(f"To see whether it works: mcp-workbench doctor {plain(toolbox)}")


def _variables(written: list[str], command: list[str] | None) -> dict[str, str]:
    """Ends the command where they make no sense: a variable that is dropped would be missed much later."""
    if written and not command:
        fail("--env is for a process that is started here: it goes with -- COMMAND ARGS…", status=2)
    variables: dict[str, str] = {}
    for each in written:
        variable, equals, value = each.partition("=")
        if not (variable and equals):
            fail(f"--env {each}: say NAME=VALUE, or NAME='${{NAME}}' for a variable of yours", status=2)
        variables[variable] = value
    return variables


def _entry(
    command: list[str] | None, url: str | None, path: str | None, env: dict[str, str]
) -> dict[str, Any]:
    if url is not None:
        return {"url": url}
    if path is not None:
        return {"path": path}
    program, *args = command or [""]
    return {"command": program, "args": args, **({"env": env} if env else {})}


def _own(config: str | None) -> OwnConfig:
    """The file that a start here uses, or a new one. Raises ConfigError, NotTrustedYet."""
    used = find(config, os.environ, os.getcwd()) if config is None else None
    existing = (used.untrusted or used.path) if used is not None else None
    return OwnConfig.chosen(config or existing, False, os.environ)
