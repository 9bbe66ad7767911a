"""LogPage: logged calls drawn for people, or as JSON lines. It looks for nothing itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..journal.call import Call
from ..journal.log import Found, ToolStats
from ..names import ToolRef
from .terminal import plain

_LAST = "arguments or error"
_HEADINGS = ("time", "tool", "caller", "status", "took", "id", _LAST)
_DISPENSABLE = ("caller", "took", "time")
_GAP = 2
_LEAST = 10
"""Characters of arguments that are worth a column."""
_CALLER = 24
_BAR = 24
_GIST = 300


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode


class LogPage:
    """Tables and colours on a terminal, plain text elsewhere."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        # Not rich's own guess of a width where there is no terminal: lines are never wrapped there.
        self._console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())

    def table(self, found: Sequence[Found]) -> None:
        """Calls in the order given."""
        if self._as_json or not self._console.is_terminal:
            self.lines(found)
            return
        if not found:
            self._console.print("No calls.")
            return
        rows = [
            (
                Text(_clock(call.ts)),
                Text(plain(call.tool)),
                Text(_short(plain(call.caller), _CALLER)),
                _status(call),
                Text(lasting(call.cost), justify="right"),
                Text(plain(call.id), "dim"),
                Text(_gist(call)),
            )
            for call, _ in found
        ]
        columns = [(heading, [row[at] for row in rows]) for at, heading in enumerate(_HEADINGS)]
        widths = {heading: max(map(len, (heading, *cells))) for heading, cells in columns}
        # Rich would take from all columns what is missing, and half an id is none.
        left = self._console.width - sum(widths.values()) - _GAP * (len(widths) - 1) + widths[_LAST]
        for heading in _DISPENSABLE:
            if left < _LEAST:
                left += widths.pop(heading) + _GAP
        if left < _LEAST:
            del widths[_LAST]
        else:
            widths[_LAST] = left
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
        for heading, width in widths.items():
            table.add_column(heading, no_wrap=True, overflow="ellipsis", width=width)
        for cells in zip(*(cells for heading, cells in columns if heading in widths), strict=True):
            table.add_row(*cells)
        self._console.print(table)

    def lines(self, found: Iterable[Found]) -> None:
        for call, line in found:
            if self._as_json:
                print(line.decode())
            else:
                text = Text(f"{call.ts}  {plain(_where(call))}  {plain(call.caller)}  ")
                text.append(_status(call)).append(f"  {lasting(call.cost)}  {_gist(call)}  {plain(call.id)}")
                self._console.print(text)
        sys.stdout.flush()

    def whole(self, found: Found) -> None:
        call, line = found
        if self._as_json:
            print(line.decode())
            return
        for field, value in _fields(line).items():
            text = lasting(call.cost) if field == "cost" else _readable(value)
            shown = "\n".join(map(plain, text.split("\n")))
            self._console.print(Text(f"{field:9} ", "bold").append(_indented(shown), "not bold"))

    def chain(self, found: Sequence[Found]) -> None:
        """A tree; calls whose parent is not in the log (not finished, or rotated away) hang on its id."""
        if self._as_json:
            self.lines(found)
            return
        for branch, call in tree([call for call, _ in found]):
            text = Text(branch)
            if isinstance(call, str):
                text.append(f"(not in the log: {plain(call)})", "dim")
            else:
                text.append(plain(_where(call)), "bold")
                text.append(f"  {lasting(call.cost)}  ").append(_status(call)).append(
                    f"  {plain(call.id)}", "dim"
                )
                if call.err:
                    text.append(f"  {_gist(call)}")
            self._console.print(text)

    def stats(self, stats: Sequence[ToolStats]) -> None:
        if self._as_json:
            for each in stats:
                print(json.dumps(each._asdict(), ensure_ascii=False))
            return
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("tool", no_wrap=True)
        for heading in ("calls", "errors", "p50", "p95", "max"):
            table.add_column(heading, justify="right", no_wrap=True)
        if self._console.is_terminal:
            table.add_column("")
        most = max((each.calls for each in stats), default=1)
        for each in stats:
            row: list[str | Text] = [
                Text(plain(_where(each))),
                str(each.calls),
                str(each.errors),
                *(lasting(duration) for duration in (each.p50, each.p95, each.max)),
            ]
            table.add_row(*row, *([_bar(each, most)] if self._console.is_terminal else []))
        self._console.print(table)


def tree(calls: Sequence[Call]) -> Iterator[tuple[str, Call | str]]:
    """Each call, or the id of one that is not there, behind the branches that lead to it."""
    known = {call.id for call in calls}
    children: dict[str, list[Call]] = {}
    tops: dict[str, Call | str] = {}
    for call in calls:
        if call.parent is None or call.parent == call.id:
            tops[call.id] = call
        else:
            children.setdefault(call.parent, []).append(call)
            if call.parent not in known:
                tops.setdefault(call.parent, call.parent)
    # Kept on a stack and not on Python's own: a chain may be as deep as it likes.
    stack: list[tuple[str, str, Call | str]] = [("", "", top) for top in reversed(tops.values())]
    while stack:
        branch, below, call = stack.pop()
        yield branch, call
        under = children.pop(call if isinstance(call, str) else call.id, [])
        for number, child in enumerate(reversed(under)):
            is_last = number == 0
            stack.append(
                (below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "), child)
            )


def lasting(milliseconds: float) -> str:
    """A duration, short enough for a column."""
    if milliseconds < 10:
        return f"{milliseconds:.3g} ms"
    if milliseconds < 10_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def _where(of: Call | ToolStats) -> str:
    return str(ToolRef(of.toolbox, of.server, of.tool))


def _bar(stats: ToolStats, most: int) -> Text:
    length = max(1, round(_BAR * stats.calls / most))
    failed = round(length * stats.errors / stats.calls)
    return Text("█" * (length - failed), "green").append("█" * failed, "red")


def _status(call: Call) -> Text:
    return Text(plain(call.stat), "red" if call.failed else "green")


def _gist(call: Call) -> str:
    text = call.err.partition("\n")[0] if call.err else bytes(call.args).decode()
    return plain(_short(text, _GIST))


def _readable(value: msgspec.Raw) -> str:
    """A string as it reads, anything else as JSON on several lines, with its numbers as they are written."""
    raw = bytes(value)
    return _text(raw) if raw.startswith(b'"') else msgspec.json.format(raw, indent=2).decode()


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _clock(ts: str) -> str:
    """The time of today's calls, the date of others; what no calendar here has is shown as it is written."""
    try:
        local = datetime.fromisoformat(ts).astimezone()
    except (ValueError, OverflowError):
        return ts
    return local.strftime("%H:%M:%S" if local.date() == datetime.now().date() else "%Y-%m-%d %H:%M")


def _indented(text: str) -> str:
    return text.replace("\n", "\n" + " " * 10)
