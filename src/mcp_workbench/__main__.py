"""The entry: straight to serving on stdio, or on to the command line."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> int:
    if sys.platform == "win32":
        sys.stderr.write("mcp-workbench needs Linux or macOS; on Windows it runs under WSL.\n")
        return 1
    _open_closed_streams()
    try:
        os.getcwd()
    except OSError as error:
        # Servers are started in it, and most would fail in ways that say less.
        sys.stderr.write(f"mcp-workbench: the working folder cannot be used: {error.strerror}\n")
        return 1
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    # A shell that completes a command line calls us without arguments.
    completing = "_MCP_WORKBENCH_COMPLETE" in os.environ
    if not completing and (not arguments or arguments[0].partition("=")[0] == "--config"):
        return _serve(arguments)
    if arguments[:2] == ["serve", "--toolbox"] and len(arguments) == 3:
        from .starting import serve_stdio  # the common form, without a command line's imports

        return serve_stdio(toolbox=arguments[2])
    from .cli.app import run

    return run(arguments)


def _serve(arguments: list[str]) -> int:
    """What a client starts: nothing, or `--config PATH`, or `--config=PATH`."""
    words = arguments[0].split("=", 1) + arguments[1:] if arguments else []
    if len(words) == 1 or "" in words[1:2]:
        sys.stderr.write("mcp-workbench: --config needs a path; see mcp-workbench --help\n")
        return 2
    if len(words) > 2:
        sys.stderr.write(
            "mcp-workbench: a command has --config behind it, as in: mcp-workbench toolboxes --config PATH\n"
        )
        return 2
    from .starting import serve_stdio

    return serve_stdio(*words[1:])


def _open_closed_streams() -> None:
    """Who closes our streams wants to hear nothing, and no other file may get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Which gets the lowest number that is free: this one's.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
