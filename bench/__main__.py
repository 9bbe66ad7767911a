"""`make bench`: measures everyone in one run, prints the tables, keeps the figures and draws the picture."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import calls, competitors, growth, http_calls, openings, picture, plan as plans, report, starts
from .figures import Figure, Figures
from .http_targets import HttpFastMcp, HttpTarget, HttpWorkbench, McpHub, McpProxy
from .plan import Plan
from .progress import Progress
from .rounds import FAILURES
from .targets import HERE, FastMcp, Loopback, Pump, Target, Workbench

DOCUMENT = HERE.parent / "docs" / "performance.md"
PICTURE = HERE.parent / "docs" / "performance.svg"
RESULTS = HERE / "results"

GROUPS = ("calls", "log", "tool files", "start", "open", "tools", "http", "growth")


class Run:
    """Everyone who takes part, and why the others do not."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.absent: dict[str, str] = {}
        self.stdio: list[Target] = self._present([Target(), Loopback(), Pump(), Workbench(), FastMcp()])
        every: list[HttpTarget] = [HttpTarget(), HttpWorkbench(), HttpFastMcp(), McpProxy(), McpHub()]
        self.http = self._present(every)
        self.rivals = {target.name for target in self.http}

    def _present(self, targets: list[Any]) -> list[Any]:
        found: list[Any] = []
        for target in targets:
            self.plan.progress.note(f"preparing {target.name}")
            try:
                target.prepare()
                found.append(target)
            except competitors.Missing as error:
                self.absent[target.name] = str(error)
        return found

    @property
    def cells(self) -> list[tuple[int, int]]:
        return [(size, count) for size in self.plan.sizes for count in self.plan.in_flight]

    def steps(self, group: str) -> int:
        plan = self.plan
        match group:
            case "calls":
                return calls.steps(plan, len(self.stdio), len(self.cells))
            case "log":
                return calls.steps(plan, 2, len(LOG_CELLS))
            case "tool files":
                return calls.steps(plan, 5, len(FILE_CELLS))
            case "start":
                return starts.steps(plan, len(self._starters) + len(self._http_starters))
            case "open":
                return openings.server_steps(plan, self.rivals)
            case "tools":
                return openings.tool_steps(plan)
            case "http":
                return http_calls.steps(plan, len(self.http))
            case _:
                return growth.steps(plan)

    def measure(self, group: str) -> list[Figure]:
        plan = self.plan
        match group:
            case "calls":
                return calls.measure(plan, "calls", self.stdio, self.cells, "direct") + self._not_over_stdio()
            case "log":
                targets = [Workbench("log off", log=False), Workbench("log on")]
                return calls.measure(plan, "log", targets, LOG_CELLS, "log off")
            case "tool files":
                return calls.measure(plan, "tool files", tool_file_targets(), FILE_CELLS, "child server")
            case "start":
                return starts.measure(plan, self._starters, self._http_starters)
            case "open":
                return openings.measure_servers(plan, self.rivals)
            case "tools":
                return openings.measure_tools(plan)
            case "http":
                return http_calls.measure(plan, self.http) + [
                    Figure("http", "", name, why=why) for name, why in self.absent.items()
                ]
            case _:
                return growth.measure(plan)

    @property
    def _starters(self) -> list[Target]:
        return [target for target in self.stdio if not isinstance(target, Loopback)]

    @property
    def _http_starters(self) -> list[HttpTarget]:
        return [target for target in self.http if isinstance(target, McpProxy | McpHub)]

    def _not_over_stdio(self) -> list[Figure]:
        reasons = {
            "mcp-proxy": "joins stdio to HTTP, never stdio to stdio; see HTTP",
            "mcp-hub": "serves HTTP alone; see HTTP",
        }
        reasons.update(self.absent)
        return [Figure("calls", "", name, why=why) for name, why in reasons.items()]


LOG_CELLS = [(20, 1), (20, 16), (100_000, 1), (1_000_000, 1)]
FILE_CELLS = [(20, 1), (20, 16)]


def tool_file_targets() -> list[Target]:
    tools = {"mine": {"path": str(HERE / "tools")}}
    forms = {f"{form}, {kind}": f"{form}_{kind}" for form in ("plain", "typed") for kind in ("sync", "async")}
    return [
        Workbench("child server"),
        *(Workbench(name, servers=tools, tool=("mine", tool)) for name, tool in forms.items()),
    ]


def main() -> int:
    options = _options()
    groups = options.only or GROUPS
    load = os.getloadavg()[0]  # before we are the load ourselves
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        plan = (plans.quick if options.quick else plans.full)(Path(name))
        if options.rounds:
            plan.rounds = options.rounds
            plan.starts, plan.growths = min(plan.rounds, plan.starts), min(plan.rounds, plan.growths)
        run = Run(plan)
        plan.progress = Progress(sum(run.steps(group) for group in groups))
        figures = Figures()
        for group in groups:
            try:
                figures.add(run.measure(group))
            except FAILURES as error:
                # The others' figures are good, and took minutes to get.
                plan.progress.note(f"{group}: {error}")
                figures.add([Figure(group, "", "", why=f"failed: {error}")])
        plan.progress.end()
    conditions = _conditions(run, quick=options.quick, load=load)
    kind = "quick" if options.quick else "full"
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{'-'.join([kind, *options.only]).replace(' ', '-')}.json"
    path.write_text(json.dumps({"conditions": conditions, "figures": figures.dump()}, indent=1) + "\n")
    print(report.as_text(figures))
    print(f"\nFigures: {path}")
    if not options.quick and not options.only:
        _publish(figures, conditions)
    return 0


def _publish(figures: Figures, conditions: dict[str, Any]) -> None:
    """Only a full run changes what the documentation shows."""
    summary = (
        "Measured on {date}: {processor} ({cores} cores), {system}, Python {python}; "
        "{rounds} rounds, load {load:.1f} before.\n"
    )
    text = summary.format(**conditions) + "\n" + report.as_markdown(figures)
    DOCUMENT.write_text(report.into_document(DOCUMENT.read_text(), text))
    PICTURE.write_text(picture.draw(figures))
    print(f"Tables: {DOCUMENT}\nPicture: {PICTURE}")


def _conditions(run: Run, *, quick: bool, load: float) -> dict[str, Any]:
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "quick": quick,
        "rounds": run.plan.rounds,
        "seconds": run.plan.seconds,
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": load,
        "python": platform.python_version(),
        "targets": {target.name: target.what for target in run.stdio},
        "targets over HTTP": {target.name: target.what for target in run.http},
        "absent": run.absent,
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="about a minute; the documentation stays as it is"
    )
    parser.add_argument(
        "--only", action="append", default=[], choices=GROUPS, help="this group; can be repeated"
    )
    parser.add_argument("--rounds", type=int, help="instead of 7, or 2 for --quick")
    options = parser.parse_args()
    if not Path("/proc/self/schedstat").exists():
        parser.error("needs Linux: CPU time and memory of the others are read from /proc")
    return options


if __name__ == "__main__":
    sys.exit(main())
