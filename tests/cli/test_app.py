from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.launch import configuration, toolbox, write_config

RUN = "import sys; from mcp_workbench.cli.app import run; sys.exit(run([]))"


def completed(words: str, config: Path) -> list[str]:
    """What bash would offer for the last of these words."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={
            **os.environ,
            "_MCP_WORKBENCH_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
            "WORKBENCH_CONFIG": str(config),
        },
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout.split()


def test_the_shell_completes_commands_toolboxes_and_clients(tmp_path: Path) -> None:
    config = write_config(tmp_path, configuration(dev=toolbox(), design=toolbox(), web=toolbox()))
    assert completed("mcp-workbench toolb", config) == ["toolboxes"]
    assert completed("mcp-workbench tools de", config) == ["dev", "design"]
    assert completed("mcp-workbench call w", config) == ["web/"]
    assert completed("mcp-workbench connect cu", config) == ["cursor"]
    assert completed("mcp-workbench doctor x", tmp_path / "missing.json") == []
