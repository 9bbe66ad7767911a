"""The tables: the same rows for a terminal and for docs/performance.md."""

from __future__ import annotations

from collections.abc import Sequence

from .curves import GROUP, curves
from .figures import Figure, Figures
from .goals import GOALS

Row = Sequence[str]

BEGIN = "<!-- begin: written by make bench -->"
END = "<!-- end: written by make bench -->"

TITLES = {
    "calls": "Calls over stdio",
    "http": "Calls over HTTP, 20 B, one call in flight to a client",
    "start": "Start to first answer, to the list of tools, and memory then",
    "open": "Opening a toolbox of several servers",
    "tools": "A toolbox with many tools",
    "log": "The price of the call log",
    "tool files": "Tool files, beside a child server, all through the workbench",
}
GROWTH = "How cost grows: of more and more of each, all else small"

# A column's head, the value in it, and whether it shows the multiple of the baseline too.
COLUMNS = {
    "p50_us": ("p50", True),
    "mean_us": ("mean", False),
    "p99_us": ("p99", False),
    "per_second": ("calls/s", True),
    "cpu_us": ("CPU per call", False),
    "per_call_us": ("time per call, all at once", False),
    "start_ms": ("first answer", True),
    "listed_ms": ("tools listed", True),
    "open_ms": ("opening", True),
    "first_ms": ("opening", False),
    "from_start_ms": ("from the start", True),
    "again_ms": ("opening again", True),
    "memory_mb": ("memory", False),
}


def tables(figures: Figures) -> list[tuple[str, Row, Sequence[Row]]]:
    """Title, head and rows of each table; the goals come first."""
    goals = [(goal.what, *goal.verdict(figures)) for goal in GOALS]
    found: list[tuple[str, Row, Sequence[Row]]] = [("Goals", ("", "goal", "measured", ""), goals)]
    for group, title in TITLES.items():
        if members := figures.group(group):
            found.append((title, *_table(members)))
    if rows := _growth(figures):
        found.append((GROWTH, ("", "", "measured", "in all", "as its cause to the power of", ""), rows))
    return found


def as_markdown(figures: Figures) -> str:
    parts: list[str] = []
    for title, head, rows in tables(figures):
        parts.append(f"### {title}\n")
        parts.append(f"| {' | '.join(head)} |")
        parts.append("|" + "---|" * len(head))
        parts += [f"| {' | '.join(row)} |" for row in rows]
        parts.append("")
    return "\n".join(parts)


def as_text(figures: Figures) -> str:
    parts: list[str] = []
    for title, head, rows in tables(figures):
        # A reason in place of figures runs on over the columns behind it.
        measured = [row for row in (head, *rows) if not row[2].startswith("*")]
        widths = [max(len(row[column]) for row in measured) for column in range(len(head))]
        parts.append(f"\n{title}")
        for row in (head, *rows):
            parts.append(
                "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            )
    return "\n".join(parts)


def into_document(document: str, text: str) -> str:
    """The document with what is between its marks replaced."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"


def _table(figures: list[Figure]) -> tuple[Row, list[Row]]:
    names = [name for name in COLUMNS if any(name in figure.values for figure in figures)] or ["p50_us"]
    head = ("", "", *(COLUMNS[name][0] for name in names))
    rows: list[Row] = []
    shown = ""
    for figure in figures:
        cell = figure.cell if figure.cell != shown else ""
        shown = figure.cell
        if figure.why:
            rows.append((cell, figure.target, f"*{figure.why}*", *[""] * (len(names) - 1)))
        else:
            rows.append((cell, figure.target, *(_entry(figure, name) for name in names)))
    return head, rows


def _growth(figures: Figures) -> list[Row]:
    rows: list[Row] = []
    shown = ""
    for curve in curves(figures):
        amounts = ", ".join(f"{amount:,.0f}" for amount, _ in curve.points)
        cause = f"{curve.cause}: {amounts}" if curve.cause != shown else ""
        shown = curve.cause
        values = [_with_unit(value, curve.cost) for _, value in curve.points]
        in_all = f"{times(curve.times)} for {curve.cause_times:,.0f}×"
        verdict = "no faster" if curve.tame else "faster than its cause"
        power = f"{max(curve.steepest, 0):.2f} at most"
        rows.append((cause, COLUMNS[curve.cost][0], ", ".join(values), in_all, power, verdict))
    for figure in figures.all:
        if figure.group.startswith(GROUP) and figure.why:
            rows.append((figure.group.removeprefix(GROUP), "", f"*{figure.why}*", "", "", ""))
    return rows


def _entry(figure: Figure, name: str) -> str:
    value = figure.values.get(name)
    if value is None:
        return "–"
    ratio = figure.ratios.get(name)
    text = _with_unit(value, name)
    if COLUMNS[name][1] and ratio is not None and round(ratio, 3) != 1:
        return f"{text} ({times(ratio)})"
    return text


def times(ratio: float) -> str:
    return f"{ratio:.2g}×" if ratio < 10 else f"{ratio:.0f}×"


def _with_unit(value: float, name: str) -> str:
    if name.endswith("_us"):
        return (
            f"{value:.0f} µs"
            if value < 1000
            else f"{value / 1000:.3g} ms"
            if value < 1e6
            else f"{value / 1e6:.3g} s"
        )
    if name.endswith("_ms"):
        return f"{value:.3g} ms" if value < 1000 else f"{value / 1000:.3g} s"
    if name.endswith("_mb"):
        return f"{value:.0f} MB"
    return f"{value:,.0f}"
