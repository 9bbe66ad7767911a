"""The picture of docs/performance.md, drawn as SVG: the race on top, and below it how cost grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .figures import Figures
from .report import times

WIDTH = 960
BARS_TOP = 70
BAR = 26
CHART_WIDTH, CHART_HEIGHT = 155, 150
COLOURS = {
    "direct": "#9aa5b1",
    "byte pump": "#b8c0cc",
    "workbench": "#0a7d5a",
    "FastMCP": "#d1622b",
    "mcp-proxy": "#8a63c7",
    "mcp-hub": "#c7467b",
}
MEMORY, LATENCY = "#3367b0", "#0a7d5a"


@dataclass
class Bar:
    label: str
    value: float
    text: str


def draw(figures: Figures) -> str:
    latency = _bars(figures, "calls", "20 B, 1 in flight", "p50_us")
    rate = _bars(figures, "calls", "20 B, 16 in flight", "per_second")
    height_of_bars = BARS_TOP + BAR * max(len(latency), len(rate), 1) + 30
    parts = [
        *_bar_chart(0, "p50 of a small call, one at a time (less is better)", latency),
        *_bar_chart(WIDTH // 2, "small calls per second, 16 in flight (more is better)", rate),
    ]
    charts = _growth(figures)
    for position, (title, points) in enumerate(charts):
        parts += _line_chart(20 + position * (CHART_WIDTH + 30), height_of_bars + 60, title, points)
    if charts:
        parts.append(_text(20, height_of_bars + 22, "How cost grows", size=17, weight="bold"))
        parts += _legend(200, height_of_bars + 22)
    height = height_of_bars + (60 + CHART_HEIGHT + 50 if charts else 0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" role="img" '
        'aria-label="The workbench beside the others, and how its cost grows">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        + _text(
            20, 32, "The workbench beside the others, over stdio (bars by logarithm)", size=17, weight="bold"
        )
        + "\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _bars(figures: Figures, group: str, cell: str, name: str) -> list[Bar]:
    bars: list[Bar] = []
    for target in COLOURS:
        value = figures.value(group, cell, target, name)
        ratio = figures.ratio(group, cell, target, name)
        if value is None or ratio is None:
            continue
        amount = f"{value:,.0f} µs" if name.endswith("_us") else f"{value:,.0f}"
        multiple = "" if target == "direct" else f"  ({times(ratio)} direct)"
        bars.append(Bar(target, value, amount + multiple))
    return bars


def _bar_chart(left: int, title: str, bars: Sequence[Bar]) -> list[str]:
    parts = [_text(left + 20, BARS_TOP - 10, title, size=13)]
    longest = max((bar.value for bar in bars), default=1)
    for row, bar in enumerate(bars):
        y = BARS_TOP + row * BAR
        # By the logarithm: the slowest is dozens of times the fastest, and both should be seen.
        length = 20 + 150 * math.log10(1 + 99 * bar.value / longest) / 2
        parts.append(_text(left + 95, y + 17, bar.label, size=12, anchor="end"))
        parts.append(
            f'<rect x="{left + 102}" y="{y + 3}" width="{length:.0f}" height="{BAR - 7}" rx="2" '
            f'fill="{COLOURS[bar.label]}"/>'
        )
        parts.append(_text(left + 108 + int(length), y + 17, bar.text, size=12))
    return parts


Points = list[tuple[float, float | None, float | None]]
"""How much was asked, the latency then, and the memory."""


def _growth(figures: Figures) -> list[tuple[str, Points]]:
    charts: list[tuple[str, Points]] = []
    for group, title in (
        ("open", "servers"),
        ("tools", "tools"),
        ("crowd", "calls in flight"),
        ("log lines", "lines in the log"),
        ("http", "HTTP clients"),
    ):
        points: Points = []
        for figure in figures.group(group):
            if figure.target == "workbench" and figure.values:
                count = figure.cell.split(",", 1)[1] if group == "crowd" else figure.cell
                amount = float("".join(filter(str.isdigit, count)))
                points.append((amount, figure.values.get("p50_us"), figure.values.get("memory_mb")))
        if len(points) > 1:
            charts.append((title, points))
    return charts[: WIDTH // (CHART_WIDTH + 30)]


def _line_chart(left: int, top: int, title: str, points: Points) -> list[str]:
    """Both as multiples of their first value, by logarithms; what grows as its cause follows the dashes."""
    bottom = top + CHART_HEIGHT
    low = max(min(point[0] for point in points), 1)
    high = max(point[0] for point in points)
    series = {LATENCY: [(x, y) for x, y, _ in points if y], MEMORY: [(x, y) for x, _, y in points if y]}
    most = max([10.0, *(y / line[0][1] for line in series.values() if line for _, y in line)])

    def place(x: float, multiple: float) -> tuple[float, float]:
        across = math.log(max(x, low) / low) / math.log(high / low)
        up = math.log(max(multiple, 0.8) / 0.8) / math.log(most / 0.8)
        return left + 30 + across * (CHART_WIDTH - 30), bottom - up * CHART_HEIGHT

    x0, y0 = place(low, 1)
    x1, y1 = place(low * min(most, high / low), min(most, high / low))
    parts = [
        _text(left + 30, top - 8, title, size=13),
        f'<path d="M{left + 30} {top}V{bottom}H{left + CHART_WIDTH}" stroke="#9aa5b1" fill="none"/>',
        f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="#b8c0cc" stroke-dasharray="4 4"/>',
        _text(left + 30, bottom + 16, f"{points[0][0]:,.0f}", size=11),
        _text(left + CHART_WIDTH, bottom + 16, f"{high:,.0f}", size=11, anchor="end"),
    ]
    for mark in (1, 10, 100):
        if mark <= most:
            parts.append(_text(left + 26, int(place(low, mark)[1]) + 4, f"{mark}×", size=11, anchor="end"))
    for colour, line in series.items():
        if line:
            path = " ".join(f"{x:.0f},{y:.0f}" for x, y in (place(x, y / line[0][1]) for x, y in line))
            parts.append(f'<polyline points="{path}" stroke="{colour}" stroke-width="2.5" fill="none"/>')
    return parts


def _legend(left: int, y: int) -> list[str]:
    parts: list[str] = []
    for colour, label in (
        (LATENCY, "p50 of a call"),
        (MEMORY, "memory"),
        ("#b8c0cc", "as fast as its cause"),
    ):
        parts.append(f'<rect x="{left}" y="{y - 8}" width="18" height="5" fill="{colour}"/>')
        parts.append(_text(left + 24, y, label, size=12))
        left += 130
    return parts


def _text(x: float, y: float, text: str, *, size: int, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="#1f2933">{escape(text)}</text>'
    )
