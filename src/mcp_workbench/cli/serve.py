"""`mcp-workbench serve`: the workbench over HTTP, for many clients, or one toolbox of it on stdio.

How it serves is for `http` and `stdio` to know.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from ..config import Config, configuration
from ..errors import ConfigError, WorkbenchError
from ..starting import chosen_configuration
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print where it serves as a line of JSON, once it does.")
    ] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """Serve MCP over HTTP, or one toolbox on stdio. Over HTTP everyone needs a token; Ctrl-C ends it."""
    if toolbox is not None:
        if http or unix:
            typer.echo(error(f"over HTTP the toolbox has an address: /toolboxes/{toolbox}/mcp"), err=True)
            raise typer.Exit(2)
        from ..starting import serve_stdio

        raise typer.Exit(serve_stdio(config, toolbox))
    if not (http or unix):
        typer.echo(
            error("say --http [HOST:PORT], --unix PATH or --toolbox NAME; on stdio, run mcp-workbench alone"),
            err=True,
        )
        raise typer.Exit(2)
    try:
        # A program that reads where we serve is not there to be asked anything.
        found = configuration(config, os.environ, os.getcwd()) if as_json else chosen_configuration(config)
    except ConfigError as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from None
    _tell_warnings(found)
    asked_for = config is not None or bool(os.environ.get("WORKBENCH_CONFIG"))
    tell = _tell_program if as_json else _introduce
    try:
        _serve(found, (listen or found.http.listen) if http else None, unix, no_token, asked_for, tell)
    except (WorkbenchError, OSError) as problem:
        typer.echo(error(str(problem)), err=True)
        raise typer.Exit(1) from None


def _serve(
    config: Config,
    listen: str | None,
    unix: str | None,
    no_token: bool,
    asked_for: bool,
    tell: Callable[[Config, list[str], str | None], None],
) -> None:
    from ..http.listening import Address
    from ..http.serving import Serving, serve

    address = Address.read(listen) if listen is not None else None
    serving = Serving(address=address, unix=unix, no_token=no_token)

    def started(addresses: list[str], token_file: str | None) -> None:
        tell(config, addresses, token_file)
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


def _tell_program(config: Config, addresses: list[str], token_file: str | None) -> None:
    """On one line, since there is no end of the output to wait for."""
    told = {"addresses": addresses, "token_file": token_file, "tokens": list(config.http.tokens)}
    print(json.dumps(told), flush=True)


def _introduce(config: Config, addresses: list[str], token_file: str | None) -> None:
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
            lines += ["", *_entries(address, token_file, needs_token)]
    typer.echo("\n".join(lines), err=True)


def _entries(address: str, token_file: str | None, needs_token: bool) -> Iterator[str]:
    """What to do in each client. The token is never printed: terminals are shared and recorded."""
    from ..clients.client import OURS
    from ..clients.known import CLIENTS
    from ..clients.ours import on_one_line, our_address

    token = "YOUR_TOKEN" if needs_token else None
    for client in CLIENTS:
        if client.name == "claude-code":
            kept = f"$(cat '{token_file}')" if token_file is not None else token
            header = f' --header "Authorization: Bearer {kept}"' if needs_token else ""
            told = f"claude mcp add --transport http {OURS} {address}{header}"
        else:
            told = on_one_line(client, our_address(client, address, token))
        yield f"{client.title}: {told}"
