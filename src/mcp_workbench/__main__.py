"""The entry: straight to serving on stdio, or on to the command line."""

from __future__ import annotations

import os
import sys


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] == "--config":
        if len(arguments) not in (0, 2):
            return misused("--config needs a path, and serving on stdio takes nothing else")
        return serve_stdio(*arguments[1:])
    match arguments:
        case ["serve", "--toolbox", toolbox] | ["serve", "--toolbox", toolbox, "--config", _]:
            return serve_stdio(*arguments[4:], toolbox=toolbox)
        case ["serve", "--config", path, "--toolbox", toolbox]:
            return serve_stdio(path, toolbox)
        case _:
            pass
    from .cli.app import run

    return run(arguments)


def misused(what: str) -> int:
    from .stdio import warn

    warn(f"{what}; see mcp-workbench --help")
    return 2


def serve_stdio(option: str | None = None, toolbox: str | None = None) -> int:
    """The exit status. `option` is the configuration that was asked for; with a `toolbox`, that one alone."""
    from .config import configuration
    from .errors import ConfigError, ToolboxUnknown
    from .stdio import serve, warn
    from .workbench import Workbench

    try:
        config = configuration(option, os.environ, os.getcwd())
        if config.untrusted is not None and sys.stdin.isatty() and trust_now(config.untrusted):
            config = configuration(option, os.environ, os.getcwd())
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for warning in config.warnings:
        warn(f"warning: {warning}")
    if config.untrusted is not None:
        used = config.path or "the embedded default"
        warn(
            f"{config.untrusted} runs commands and is not trusted, so {used} is used instead; "
            f"to trust it, run: mcp-workbench trust {config.untrusted}"
        )
    if toolbox is not None and toolbox not in config.toolboxes:
        sys.stderr.write(f"{ToolboxUnknown(toolbox, config.toolboxes)}\n")
        return 1
    if sys.stdin.isatty():
        introduce()
    try:
        import uvloop

        run = uvloop.run
    except ImportError:
        from asyncio import run
    asked_for = option is not None or bool(os.environ.get("WORKBENCH_CONFIG"))
    run(serve(Workbench(config), asked_for=asked_for, toolbox=toolbox))
    return 0


def trust_now(path: str) -> bool:
    """Ask the person at the terminal whether a configuration that nobody asked for may run its commands."""
    from .config import Trust

    with open(path, "rb") as file:
        content = file.read()
    sys.stderr.write(
        f"{path} was found here. It runs commands on this machine. Use it, now and later? [y/N] "
    )
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    Trust(os.environ).add(path, content)
    return True


def introduce() -> None:
    """For a person who started us in a terminal to see what happens."""
    from . import __version__

    sys.stderr.write(
        f"MCP Workbench {__version__} is waiting for an MCP client on standard input (Ctrl-C ends it).\n"
        "Connect a client with this entry in its configuration:\n"
        '  {"mcpServers": {"workbench": {"command": "mcp-workbench", '
        '"env": {"WORKBENCH_CONFIG": "/path/to/workbench-config.json"}}}}\n'
        "Commands: mcp-workbench --help\n"
    )


if __name__ == "__main__":
    sys.exit(main())
