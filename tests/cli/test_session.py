from __future__ import annotations

from pathlib import Path

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import at_terminal


def test_somebody_who_waits_is_told_for_what(tmp_path: Path) -> None:
    quick, slow = child("echo"), {"command": "sleep", "args": ["60"], "limits": {"connectTimeout": 4}}
    config = write_config(tmp_path, configuration(dev=toolbox(quick=quick, slow=slow)))
    seen = at_terminal(tmp_path, "tools", "--config", str(config), NO_COLOR="1")
    assert "waiting for dev/slow (" in seen.screen
    assert (
        seen.screen.index("✓ dev/quick") < seen.screen.index("waiting for") < seen.screen.index("✗ dev/slow")
    )
