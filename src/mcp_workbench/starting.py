"""Starting on stdio: the configuration, what there is to say about it, and a person at the terminal."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .config import Config
    from .servers.guard import Watchdog


def serve_stdio(option: str | None = None, toolbox: str | None = None) -> int:
    """The exit status. `option` is the configuration that was asked for; with a `toolbox`, that one alone."""
    gc.disable()  # what is imported stays, and need not be looked through for garbage
    import_msgspec()
    from .errors import ConfigError, ToolboxUnknown
    from .greeting import UNGREETED, greet

    try:
        config = chosen_configuration(option)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if config.warnings or config.untrusted is not None:
        tell_warnings(config)
    if toolbox is not None and toolbox not in config.toolboxes:
        sys.stderr.write(f"{ToolboxUnknown(toolbox, config.toolboxes)}\n")
        return 1
    greeting = UNGREETED
    if sys.stdin.isatty():
        introduce()
    elif toolbox is None:  # one that is served as it is introduces itself, when it is open
        greeting = greet(config)
    watchdog = early_watchdog(config)
    from .stdio import serve
    from .workbench import Workbench

    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    gc.freeze()  # nor later on
    gc.enable()
    asked_for = option is not None or bool(os.environ.get("WORKBENCH_CONFIG"))
    run(serve(Workbench(config), asked_for=asked_for, toolbox=toolbox, greeting=greeting, watchdog=watchdog))
    return 0


def chosen_configuration(option: str | None) -> Config:
    """What a start uses; at a terminal, one that is not trusted is asked about. Raises ConfigError."""
    from .config import configuration

    config = configuration(option, os.environ, os.getcwd())
    if config.untrusted is not None and sys.stdin.isatty() and trust_now(config.untrusted):
        return configuration(option, os.environ, os.getcwd())
    return config


def early_watchdog(config: Config) -> Watchdog | None:
    """It starts while we import what serving needs; the first toolbox is opened so much faster."""
    if not config.has_children:
        return None
    from .servers.guard import start_watchdog

    try:
        return start_watchdog()
    except OSError:
        return None  # whoever needs it will try again, and tell


def import_msgspec() -> None:
    """Without typing_extensions, which it takes where it finds it, and which is a sixth of the start.

    In its place msgspec uses `typing`, which has all that we ask for. Should it ever need the other one, this
    import fails, and the next one, with nothing hidden, does not. Nobody else is kept from it.
    """
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # pyright: ignore[reportArgumentType]  (to Python: not installed)
    with contextlib.suppress(ImportError):
        __import__("msgspec")
    del sys.modules["typing_extensions"]


def tell_warnings(config: Config) -> None:
    from .stdio import warn

    for warning in config.warnings:
        warn(f"warning: {warning}")
    if config.untrusted is not None:
        used = config.path or "the embedded default"
        warn(
            f"{config.untrusted} runs commands and is not trusted, so {used} is used instead; "
            f"to trust it, run: mcp-workbench trust {config.untrusted}"
        )


def trust_now(path: str) -> bool:
    """Ask the person at the terminal whether a configuration that nobody asked for may run its commands."""
    from .config import Trust

    try:
        with open(path, "rb") as file:
            content = file.read()
        sys.stderr.write(
            f"{path} was found here. It runs commands on this machine. Use it, now and later? [y/N] "
        )
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return False
        Trust(os.environ).add(path, content)
    except OSError as error:
        sys.stderr.write(f"mcp-workbench: it cannot be trusted: {error}\n")
        return False
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
