"""The official conformance suite against `/mcp`, in both eras, without a failure or a warning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fidelity import suite

from .conftest import ECHO
from .served import Served

pytestmark = pytest.mark.node

LEGACY = """
server-initialize server-session-lifecycle ping logging-set-level tools-list resources-list prompts-list
server-sse-multiple-streams server-sse-polling dns-rebinding-protection
""".split()

MODERN = """
tools-list resources-list prompts-list server-sse-multiple-streams dns-rebinding-protection
caching http-header-validation server-stateless sep-2164-resource-not-found
input-required-result-unsupported-methods input-required-result-ignore-extra-params
""".split()
"""The other scenarios are about tools, resources and prompts that a server has for them and we have not."""

EXCLUDED = {
    # It calls a tool of ours named test_missing_capability that needs sampling.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    # It calls a tool of ours named test_trigger_tool_change that changes our list.
    "sep-2575-server-sends-tools-list-changed-on-subscription",
    # It calls a prompt that changes our list of prompts, which we do not say can change.
    "sep-2575-server-sends-prompts-list-changed-on-subscription",
    # It reads the first of our resources, and we have none.
    "sep-2549-resources-read-caching-hints",
}
"""Single checks that need such a thing of ours, by id."""

SCENARIOS = [("2025-11-25", each) for each in LEGACY] + [("2026-07-28", each) for each in MODERN]


@pytest.fixture(scope="module")
def open_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Without a token: the suite cannot show one."""
    with Served(tmp_path_factory.mktemp("open"), ECHO, "--http", "127.0.0.1:0", "--no-token") as served:
        yield served


@pytest.mark.parametrize(("version", "scenario"), SCENARIOS, ids=lambda each: str(each))
def test_the_conformance_suite_finds_no_fault(
    open_served: Served, node_program: str, tmp_path: Path, version: str, scenario: str
) -> None:
    report = suite.run(node_program, open_served.url, version, tmp_path, scenario)
    assert report.checks
    fine = {"SUCCESS", "INFO"}
    faults = [check for check, status in report.checks if status not in fine and check.id not in EXCLUDED]
    assert faults == [], report.messages
