"""The entry: straight to serving on stdio, or on to the command line."""

from __future__ import annotations

import os
import sys


def main() -> int:
    if sys.platform == "win32":
        sys.stderr.write("mcp-workbench needs Linux or macOS; on Windows it runs under WSL.\n")
        return 1
    arguments = sys.argv[1:]
    # A shell that completes a command line calls us without arguments.
    completing = "_MCP_WORKBENCH_COMPLETE" in os.environ
    if not completing and (not arguments or arguments[0] == "--config"):
        if len(arguments) not in (0, 2):
            sys.stderr.write("mcp-workbench: --config needs a path; see mcp-workbench --help\n")
            return 2
        from .starting import serve_stdio

        return serve_stdio(*arguments[1:])
    if arguments[:2] == ["serve", "--toolbox"] and len(arguments) == 3:
        from .starting import serve_stdio  # the common form, without a command line's imports

        return serve_stdio(toolbox=arguments[2])
    from .cli.app import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
