"""The picture of docs/performance.md, drawn as SVG: the race on top, and below it how cost grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .curves import Curve, curves
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
DASHES = "#b8c0cc"
LEAST = 0.5
"""The multiple at the foot of a chart of growth: some costs fall."""

LINES = {
    "p50_us": ("time of a call", "#0a7d5a"),
    "mean_us": ("time of a call", "#0a7d5a"),
    "open_ms": ("opening", "#d1622b"),
    "first_ms": ("opening", "#d1622b"),
    "memory_mb": ("memory", "#3367b0"),
}


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
    charts: dict[str, list[Curve]] = {}
    for curve in curves(figures):
        if curve.cost in LINES:
            charts.setdefault(curve.cause, []).append(curve)
    for position, (cause, lines) in enumerate(charts.items()):
        parts += _line_chart(20 + position * (CHART_WIDTH + 30), height_of_bars + 60, cause, lines)
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


def _line_chart(left: int, top: int, title: str, curves: Sequence[Curve]) -> list[str]:
    """Each as multiples of its first value, by logarithms; what grows as its cause follows the dashes."""
    bottom = top + CHART_HEIGHT
    low, high = curves[0].points[0][0], curves[0].points[-1][0]
    most = max([10.0, *(cost / curve.points[0][1] for curve in curves for _, cost in curve.points)])

    def place(amount: float, multiple: float) -> tuple[float, float]:
        across = math.log(amount / low) / math.log(high / low)
        up = math.log(max(multiple, LEAST) / LEAST) / math.log(most / LEAST)
        return left + 30 + across * (CHART_WIDTH - 30), bottom - up * CHART_HEIGHT

    x0, y0 = place(low, 1)
    end = min(most, high / low)
    x1, y1 = place(low * end, end)
    parts = [
        _text(left + 30, top - 8, title, size=13),
        f'<path d="M{left + 30} {top}V{bottom}H{left + CHART_WIDTH}" stroke="#9aa5b1" fill="none"/>',
        f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="{DASHES}" stroke-dasharray="4 4"/>',
        _text(left + 30, bottom + 16, f"{low:,.0f}", size=11),
        _text(left + CHART_WIDTH, bottom + 16, f"{high:,.0f}", size=11, anchor="end"),
    ]
    for mark in (1, 10, 100):
        if mark <= most:
            parts.append(_text(left + 26, int(place(low, mark)[1]) + 4, f"{mark}×", size=11, anchor="end"))
    for curve in curves:
        first = curve.points[0][1]
        path = " ".join(
            f"{x:.0f},{y:.0f}" for x, y in (place(amount, cost / first) for amount, cost in curve.points)
        )
        colour = LINES[curve.cost][1]
        parts.append(f'<polyline points="{path}" stroke="{colour}" stroke-width="2.5" fill="none"/>')
    return parts


def _legend(left: int, y: int) -> list[str]:
    parts: list[str] = []
    for label, colour in {**dict(LINES.values()), "as fast as its cause": DASHES}.items():
        parts.append(f'<rect x="{left}" y="{y - 8}" width="18" height="5" fill="{colour}"/>')
        parts.append(_text(left + 24, y, label, size=12))
        left += 130
    return parts


def _text(x: float, y: float, text: str, *, size: int, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="#1f2933">{escape(text)}</text>'
    )
