"""docs/log.md says all that there is to say."""

import json
import re
import runpy
from inspect import signature
from pathlib import Path

import msgspec
import pytest
import typer

import mcp_workbench
from mcp_workbench.cli.logs import logs
from mcp_workbench.journal.call import Call, read

PAGE = (Path(__file__).parents[2] / "docs" / "log.md").read_text()


@pytest.mark.parametrize("field", [field.name for field in msgspec.structs.fields(Call)])
def test_every_field_is_in_the_table(field: str):
    assert re.search(rf"^\| [^|]*`{field}`", PAGE, re.MULTILINE)


def test_every_option_of_logs_is_in_the_table():
    command = typer.main.get_command(_app())
    options = {name for option in command.params for name in option.opts if name.startswith("--")}
    assert len(options) >= len(signature(logs).parameters)
    missing = {name for name in options if f"`{name}" not in PAGE} - {"--help", *_COMPLETION}
    assert not missing


def test_every_argument_of_log_tool_is_mentioned():
    tool = runpy.run_path(str(Path(mcp_workbench.__file__).parent / "bundled" / "log_tool.py"))
    assert all(f"`{name}`" in PAGE for name in tool["schema"]["properties"])


def test_the_example_is_a_line_of_the_log():
    blocks = re.findall(r"```json\n(.*?)\n```", PAGE, re.DOTALL)
    (example,) = (block for block in blocks if '"ts"' in block)
    assert read(example).tool == "docker_tool"
    assert all(isinstance(json.loads(block), dict) for block in blocks)


_COMPLETION = ("--install-completion", "--show-completion")


def _app() -> typer.Typer:
    app = typer.Typer()
    app.command()(logs)
    return app
