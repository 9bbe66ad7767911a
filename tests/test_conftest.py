"""The rule of conftest.py that is not a fixture: where skips are not allowed, one fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

TESTS = """
import pytest

def test_passes():
    pass

@pytest.mark.skip("no Node here")
def test_is_skipped():
    pass
"""


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MCP_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, f"--rootdir={folder}", "-c", os.devnull, str(folder)],
        env={**inherited, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_a_skip_fails_the_run_where_skips_are_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    assert run(tmp_path).returncode == 0
    forbidden = run(tmp_path, MCP_WORKBENCH_NO_SKIPS="1")
    assert forbidden.returncode == 1
    assert "no Node here" in forbidden.stdout.split("MCP_WORKBENCH_NO_SKIPS does not allow")[1]
