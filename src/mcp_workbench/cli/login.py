"""`mcp-workbench login`: let a person in at a remote server, once; the workbench keeps the tokens fresh."""

import asyncio
import os
from typing import Annotated
from urllib.parse import unquote

import typer

from ..config import Config, RemoteConfig, ServerConfig, configuration
from ..errors import Unanswered, WorkbenchError
from .terminal import error, good, plain


def login(
    server: Annotated[str, typer.Argument(metavar="TOOLBOX/SERVER", help="A server of the configuration.")],
    config: Annotated[str | None, typer.Option("--config", help="The configuration file.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser; else print the address alone.")] = True,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the browser comes back to; 0 is any free port.")
    ] = 0,
) -> None:
    """Log in to a remote server with OAuth. The tokens are kept for this user alone."""
    try:
        found = _find(configuration(config, os.environ, os.getcwd()), server)
        _log_in(found, browser, port)
    except WorkbenchError as problem:
        typer.echo("\n".join(error(line) for line in str(problem).split("\n")), err=True)
        raise typer.Exit(1) from None
    typer.echo(good(f"Logged in to {plain(server)}."))


def _log_in(config: RemoteConfig, browser: bool, port: int) -> None:
    from ..servers.remote.login import log_in

    async def show(address: str) -> None:
        typer.echo(f"To log in, open this address in a browser:\n{plain(address)}")
        if browser:
            await asyncio.to_thread(typer.launch, address)

    asyncio.run(log_in(config, show, port))


def _find(config: Config, place: str) -> RemoteConfig:
    """Raises Unanswered where there is nothing to log in to."""
    toolbox, _, name = place.partition("/")
    if toolbox not in config.toolboxes:
        raise Unanswered(f"Toolbox '{toolbox}' not found. Available: {', '.join(config.toolboxes)}")
    servers = config.toolboxes[toolbox].servers
    found: ServerConfig | None = servers.get(unquote(name))
    if found is None:
        raise Unanswered(f"Server '{unquote(name)}' not found in toolbox '{toolbox}'")
    if found.problem is not None:
        raise Unanswered(found.problem)
    if not isinstance(found, RemoteConfig):
        raise Unanswered(f"Server '{found.name}' is no remote server: it has no url to log in to")
    if found.auth is not None and found.auth.type == "client_credentials":
        raise Unanswered(f"Server '{found.name}' uses client_credentials, which needs no person to log in")
    return found
