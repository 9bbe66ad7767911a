import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from mcp_workbench.config import load
from mcp_workbench.config.pasted import FOREIGN_KEYS, REFUSED
from mcp_workbench.config.schema import editor_schema, strict_schema

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "configuration.md").read_text()
EXAMPLES = re.findall(r"^```json\n(.*?)^```", REFERENCE, re.DOTALL | re.MULTILINE)
DEFINITIONS: dict[str, Any] = strict_schema()["$defs"]


def test_the_schema_in_the_docs_is_that_of_the_structs() -> None:
    assert json.loads((DOCS / "workbench-config.schema.json").read_text()) == editor_schema()


def test_every_key_is_described_in_the_schema() -> None:
    bare = [
        f"{name}.{key}"
        for name, definition in DEFINITIONS.items()
        for key, node in definition["properties"].items()
        if not node.get("description")
    ]
    assert bare == []


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_key_is_in_the_reference(name: str) -> None:
    assert [key for key in DEFINITIONS[name]["properties"] if f"`{key}`" not in REFERENCE] == []


@pytest.mark.parametrize("key", [*FOREIGN_KEYS, *REFUSED])
def test_every_key_of_another_client_is_in_the_reference(key: str) -> None:
    assert f"`{key}`" in REFERENCE


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_reference_is_valid_for_us_and_for_an_editor(example: str, tmp_path: Path) -> None:
    file = tmp_path / "workbench-config.json"
    file.write_text(example)
    load(str(file), {"PROJECT_ROOT": "/project", "CI_TOKEN": "canary-token"})
    jsonschema_rs.Draft202012Validator(editor_schema()).validate(json.loads(example))


def test_a_comment_and_a_pasted_entry_are_valid_in_an_editor() -> None:
    servers = {
        "a": {"httpUrl": "https://x.org", "trust": True},
        "b": {"command": "x", "_c": 1, "disabledTools": []},
    }
    data = {"$schema": "x", "_c": 1, "toolboxes": {"t": {"$c": 1, "description": "d", "mcpServers": servers}}}
    jsonschema_rs.Draft202012Validator(editor_schema()).validate(data)


@pytest.mark.parametrize(
    "entry", [{}, {"command": "x", "url": "https://x.org"}, {"command": "x", "nonsense": 1}]
)
def test_a_mistake_is_one_in_an_editor_too(entry: object) -> None:
    data = {"toolboxes": {"t": {"description": "d", "mcpServers": {"s": entry}}}}
    assert not jsonschema_rs.Draft202012Validator(editor_schema()).is_valid(data)
