"""`mcp-workbench call`: one call of one tool, as a client would make it, with its line in the log."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated, Any, cast
from urllib.parse import unquote

import msgspec
import typer

from ..config import Config, FolderConfig
from ..errors import WorkbenchError
from ..names import ToolRef
from ..protocol.results import Result
from ..servers.call import Call
from ..signatures import signature
from .arguments import Arguments, BadArgument, MissingArguments
from .not_found import NotFound
from .result_page import ResultPage
from .session import Session, Settled, chosen, complete_toolbox, fail, tell_notes
from .table import print_json
from .terminal import plain, warning

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_BAR = 30
INTERRUPTED = 130


def _complete_place(incomplete: str) -> list[str]:
    return [f"{name}/" for name in complete_toolbox(incomplete)]


def call(
    tool: Annotated[
        str,
        typer.Argument(
            metavar="TOOLBOX/SERVER/TOOL", help="As `tools` lists it.", autocompletion=_complete_place
        ),
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...", help="Arguments; KEY:=JSON for data; - reads a JSON object from stdin."
        ),
    ] = None,
    args: Annotated[str | None, typer.Option("--args", metavar="JSON", help="All arguments as JSON.")] = None,
    save: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where images and other files go; else a new one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    config: Annotated[str | None, typer.Option(metavar="PATH", help="The configuration file.")] = None,
) -> None:
    """Call a tool. Status 1 for an error or an error result; Ctrl-C cancels the call (status 130)."""
    try:
        ref = _ref(tool)
        written = list(values or [])
        whole = _whole(args, written)
        result = asyncio.run(_Calling(chosen(config), ref, written, whole).run())
    except BadArgument as problem:
        fail(str(problem), status=2)
    except WorkbenchError as problem:
        fail(str(problem).removeprefix("Error executing tool: "))
    except KeyboardInterrupt:
        typer.echo("Cancelled.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    said = _decode(result.raw)
    if as_json:
        print_json(said)
    else:
        ResultPage(ref.name, save).show(said)
    if result.needs_input:
        fail("the tool asks for input, which this command cannot give; call it from a client that can")
    raise typer.Exit(1 if result.is_error else 0)


class _Calling:
    def __init__(
        self, config: Config, ref: ToolRef, written: list[str], whole: dict[str, Any] | None
    ) -> None:
        if ref.toolbox not in config.toolboxes:
            raise NotFound("toolbox", ref.toolbox, config.toolboxes)
        servers = config.toolboxes[ref.toolbox].servers
        if ref.server not in servers:
            raise NotFound("server", ref.server, servers, f" in toolbox '{ref.toolbox}'")
        if not isinstance(servers[ref.server], FolderConfig):
            # Only a tool of ours could call others: the rest of the toolbox need not be started.
            toolbox = msgspec.structs.replace(
                config.toolboxes[ref.toolbox], servers={ref.server: servers[ref.server]}
            )
            config = msgspec.structs.replace(config, toolboxes={ref.toolbox: toolbox})
        self._config = config
        self._ref = ref
        self._written = written
        self._whole = whole

    async def run(self) -> Result:
        """Raises WorkbenchError."""
        ref = self._ref
        progress = _Progress()
        async with Session(self._config) as session:
            outcomes = await session.open([ref.toolbox])
            [outcome] = [each for each in outcomes if each.server == ref.server]
            tell_notes(outcome)
            if outcome.failure is not None:
                raise _NotConnected(outcome)
            tool = session.workbench.tool(ref)
            server = session.workbench.toolboxes[ref.toolbox].servers[ref.server]
            if tool is None and ref.name not in server.withheld:
                raise NotFound("tool", ref.name, server.tools, f" in server '{ref.server}'")
            arguments = self._arguments(_decode(tool.definition)) if tool is not None else {}
            call = Call(
                ref=ref,
                arguments=_encoded(arguments),
                caller="mcp-workbench call",
                on_progress=progress.tell if sys.stderr.isatty() else None,
            )
            try:
                return await session.workbench.call(call)
            finally:
                progress.end()

    def _arguments(self, definition: dict[str, Any]) -> dict[str, Any]:
        if self._whole is not None:
            return self._whole
        schema = definition.get("inputSchema")
        shape = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
        read = Arguments(self._written, shape)
        for each in read.warnings:
            typer.echo(warning(each), err=True)
        if read.missing:
            raise MissingArguments(read.missing, signature(self._ref.name, shape))
        return read.values


def _encoded(arguments: dict[str, Any]) -> bytes:
    """Raises BadArgument."""
    try:
        return msgspec.json.encode(arguments)
    except UnicodeEncodeError as problem:
        raise BadArgument(problem.object, "text in UTF-8") from None


class _NotConnected(WorkbenchError):
    def __init__(self, outcome: Settled) -> None:
        sentence = f"Failed to connect to server '{outcome.server}': {outcome.failure}"
        super().__init__(f"{sentence}\n{outcome.fix}" if outcome.fix is not None else sentence)


class _Progress:
    """A bar on stderr that is drawn over itself and is gone at the end."""

    def __init__(self) -> None:
        self._shown = False

    def tell(self, params: msgspec.Raw) -> None:
        try:
            said = _decode(params)
            done, total = float(said.get("progress", 0)), float(said.get("total") or 0)
        except (msgspec.DecodeError, TypeError, ValueError):
            return
        message = plain(str(said.get("message") or ""))[:60]
        if total > 0:
            filled = round(_BAR * min(max(done / total, 0), 1))
            bar = f"[{'#' * filled}{'·' * (_BAR - filled)}] {done:g}/{total:g}"
        else:
            bar = f"{done:g}"
        sys.stderr.write(f"\r\x1b[K{bar} {message}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def _ref(text: str) -> ToolRef:
    """Raises BadArgument."""
    toolbox, _, rest = text.partition("/")
    server, _, name = rest.partition("/")
    if not (toolbox and server and name):
        raise BadArgument(text, "TOOLBOX/SERVER/TOOL, as `mcp-workbench tools` lists them")
    return ToolRef(toolbox, unquote(server), name)


def _whole(args: str | None, values: list[str]) -> dict[str, Any] | None:
    """All arguments where they came as one JSON object. Raises BadArgument."""
    if args is None and values != ["-"]:
        return None
    if args is not None and values:
        raise BadArgument("--args", "all arguments in it, or all as key=value")
    text = args if args is not None else sys.stdin.read()
    try:
        whole: Any = json.loads(text)
    except ValueError:
        whole = None
    if not isinstance(whole, dict):
        raise BadArgument("--args" if args is not None else "-", "a JSON object")
    return cast("dict[str, Any]", whole)
