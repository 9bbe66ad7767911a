from __future__ import annotations

from pathlib import Path

from mcp_workbench.cli.reference import page

DOCUMENTED = Path(__file__).parents[2] / "docs" / "commands.md"


def test_every_command_and_option_is_on_the_page() -> None:
    assert DOCUMENTED.read_text() == page(), "run: python -m mcp_workbench.cli.reference > docs/commands.md"


def test_the_page_has_what_the_commands_say_of_themselves() -> None:
    text = page()
    assert "## new server\n" in text
    assert "mcp-workbench call TOOLBOX/SERVER/TOOL [KEY=VALUE]... [OPTIONS]" in text
    assert "| `--status success\\|error` |" in text
    for heading in text.split("\n## ")[1:]:
        assert len(heading.split("\n")[2]) > 10, "a command without a word about it"
