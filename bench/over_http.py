"""Calls over HTTP beside the SDK's own server and FastMCP's proxy, in one interleaved run.

`python -m bench.over_http [--quick]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from . import http_calls, plan as plans
from .figures import Figures
from .http_targets import HttpFastMcp, HttpTarget, HttpWorkbench
from .progress import Progress
from .targets import HERE

GOALS = (
    (
        "calls/s at 16 in flight, as a multiple of FastMCP's, at least 5",
        "per_second",
        lambda ratio: ratio >= 5,
    ),
    ("p50 at 16 in flight, as a part of FastMCP's, at most a third", "p50_us", lambda ratio: ratio <= 1 / 3),
)


class SdkServer(HttpTarget):
    name = "SDK"
    what = "the official SDK's server itself, with the echo tool in it and nothing behind it"

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, str(HERE / "sdk_http.py"), str(port)], {}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        plan = (plans.quick if "--quick" in sys.argv else plans.full)(Path(folder))
        targets = [HttpTarget(), SdkServer(), HttpFastMcp(), HttpWorkbench()]
        for target in targets:
            target.prepare()
        plan.progress = Progress(http_calls.steps(plan, len(targets)))
        figures = Figures(http_calls.measure(plan, targets))
    for count in plan.clients:
        cell = http_calls.cell_name(count)
        print(f"\n{cell:24} {'calls/s':>9} {'p50 µs':>9} {'p99 µs':>9} {'CPU µs':>8}")
        for target in targets:
            found = figures.find(http_calls.GROUP, cell, target.name)
            if not found.values:
                print(f"{target.name:24} {figures.find(http_calls.GROUP, '', target.name).why}")
                continue
            columns = [found.values[name] for name in ("per_second", "p50_us", "p99_us", "cpu_us")]
            print(f"{target.name:24} {columns[0]:9.0f} {columns[1]:9.0f} {columns[2]:9.0f} {columns[3]:8.0f}")
    return 0 if _goals_are_met(figures) else 1


def _goals_are_met(figures: Figures) -> bool:
    met = True
    for says, name, enough in GOALS:
        ratio = figures.ratio_between(
            http_calls.GROUP, http_calls.cell_name(16), HttpWorkbench.name, HttpFastMcp.name, name
        )
        fine = ratio is not None and enough(ratio)
        print(f"{'met' if fine else 'MISSED'}: {says}: {'not measured' if ratio is None else f'{ratio:.2f}'}")
        met &= fine
    return met


if __name__ == "__main__":
    sys.exit(main())
