"""`mcp-workbench serve`: the workbench over HTTP, for many clients, or one toolbox of it on stdio.

How it serves is for `http` and `stdio` to know.
"""

import os
from typing import Annotated

import typer

from ..config import Config, configuration
from ..errors import ConfigError, WorkbenchError
from .terminal import error, good, plain, warning


def serve(
    listen: Annotated[
        str | None, typer.Argument(metavar="HOST:PORT", help="Where; else http.listen, or 127.0.0.1:8484.")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve Streamable HTTP at /mcp.")] = False,
    unix: Annotated[str | None, typer.Option(metavar="PATH", help="Serve on a Unix socket.")] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Ask for no token; on this machine alone.")
    ] = False,
    toolbox: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Serve one toolbox on stdio, its tools as they are."),
    ] = None,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """Serve MCP over HTTP: several clients at once, each with a token. Ctrl-C ends it."""
    if toolbox is not None:
        # The forms that make sense were taken before a command line was imported.
        typer.echo(
            error(
                "on stdio, say serve --toolbox NAME [--config PATH]; "
                f"over HTTP the toolbox has an address of its own: /toolboxes/{toolbox}/mcp"
            ),
            err=True,
        )
        raise typer.Exit(2)
    if not (http or unix):
        typer.echo(
            error("say --http [HOST:PORT], --unix PATH or --toolbox NAME; on stdio, run mcp-workbench alone"),
            err=True,
        )
        raise typer.Exit(2)
    try:
        found = configuration(config, os.environ, os.getcwd())
    except ConfigError as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from None
    _tell_warnings(found)
    asked_for = config is not None or bool(os.environ.get("WORKBENCH_CONFIG"))
    try:
        _serve(found, (listen or found.http.listen) if http else None, unix, no_token, asked_for)
    except (WorkbenchError, OSError) as problem:
        typer.echo(error(str(problem)), err=True)
        raise typer.Exit(1) from None


def _serve(config: Config, listen: str | None, unix: str | None, no_token: bool, asked_for: bool) -> None:
    from ..http.listening import Address
    from ..http.serving import Serving, serve

    address = Address.read(listen) if listen is not None else None
    serving = Serving(address=address, unix=unix, no_token=no_token)

    def started(addresses: list[str], token_file: str | None) -> None:
        _introduce(config, addresses, token_file)
        if no_token:
            warn("anyone on this machine can use it (--no-token)")

    def warn(message: str) -> None:
        typer.echo(warning(message), err=True)

    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    run(serve(config, serving, asked_for=asked_for, warn=warn, started=started))


def _tell_warnings(config: Config) -> None:
    for each in config.warnings:
        typer.echo(warning(each), err=True)
    if config.untrusted is not None:
        used = config.path or "the embedded default"
        typer.echo(
            warning(
                f"{config.untrusted} runs commands and is not trusted, so {used} is used instead; "
                f"to trust it, run: mcp-workbench trust {config.untrusted}"
            ),
            err=True,
        )


def _introduce(config: Config, addresses: list[str], token_file: str | None) -> None:
    from ..http.entries import entries

    lines = [good(f"MCP Workbench serves {address}") for address in addresses]
    if token_file is not None:
        lines.append(f"The token is in {plain(token_file)}")
    elif config.http.tokens:
        lines.append(f"Tokens of the configuration: {plain(', '.join(config.http.tokens))}")
    if config.http.oauth is not None:
        lines.append(f"Tokens of {plain(config.http.oauth.issuer)} are accepted")
    needs_token = token_file is not None or bool(config.http.tokens) or config.http.oauth is not None
    for address in addresses:
        if address.startswith("http:"):
            lines.append("")
            for client, entry in entries(address, token_file, needs_token).items():
                lines.append(f"{client}: {entry}")
    typer.echo("\n".join(lines), err=True)
