"""The official conformance suite, run against a server over HTTP. What must pass is for the tests."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.real import node

PATIENCE = 120.0
VERSIONS = ("2025-11-25", "2026-07-28")


class Check(NamedTuple):
    scenario: str
    id: str


class Report(NamedTuple):
    """Every check of a run, as often as it was made, and what came of it."""

    checks: list[tuple[Check, str]]
    messages: dict[Check, str]
    """What the suite says of those that failed."""

    def passed(self) -> list[Check]:
        return [check for check, status in self.checks if status == "SUCCESS"]

    def failed(self) -> list[Check]:
        return [check for check, status in self.checks if status in ("FAILURE", "WARNING")]


def run(program: str, url: str, version: str, folder: Path, scenario: str | None = None) -> Report:
    """All scenarios of a revision, or one."""
    suite = node.package("@modelcontextprotocol/conformance", "dist", "index.js")
    wanted = ["--suite", "all"] if scenario is None else ["--scenario", scenario]
    options = ["--url", url, *wanted, "--spec-version", version, "-o", str(folder)]
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [program, suite, "server", *options], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    reports = list(folder.rglob("checks.json"))
    assert reports, done.stdout + done.stderr
    found = [(_scenario(report), each) for report in reports for each in json.loads(report.read_text())]
    checks = [(Check(scenario, each["id"]), each["status"]) for scenario, each in found]
    messages = {
        Check(scenario, each["id"]): each["errorMessage"]
        for scenario, each in found
        if "errorMessage" in each
    }
    return Report(checks, messages)


def _scenario(report: Path) -> str:
    """Its folder is called `server-<scenario>-<when>`."""
    return re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$", "", report.parent.name)
