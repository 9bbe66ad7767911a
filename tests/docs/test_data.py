"""Data on a page is what it is shown as: configurations load, entries of clients start a workbench."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from mcp_workbench.config import load
from mcp_workbench.config.schema import editor_schema
from mcp_workbench.journal.call import read as read_call
from mcp_workbench.pins.file import FILE_NAME, PinFile
from tests.support.client import Client
from tests.support.launch import configuration, toolbox

from .pages import Block, each
from .reader import BIN, Reader
from .test_commands import with_a_recording

ENTRIES = ("mcpServers", "servers", "context_servers", "mcp_servers")
"""What clients call their servers."""

DEFINITIONS = editor_schema()["$defs"]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """With a configuration, and a recording in `fixtures`."""
    reader = Reader(tmp_path_factory.mktemp("reader"))
    with_a_recording(reader)
    (reader.project / "log").rename(reader.project / "fixtures")
    return reader


@each("json", "toml")
def test_data_is_what_it_is_shown_as(block: Block, reader: Reader, tmp_path: Path) -> None:
    data: dict[str, Any] = tomllib.loads(block.text) if block.language == "toml" else json.loads(block.text)
    if len(data) == 1 and data.keys() <= set(ENTRIES):
        [servers] = data.values()
        [entry] = servers.values()
        starts(reader, entry)
    elif is_a("ConfigFile", data):
        loaded(tmp_path, {**configuration(build=toolbox()), **data})
    elif is_a("ToolboxEntry", data):
        loaded(tmp_path, configuration(dev=data))
    elif is_a("ServerEntry", data):
        loaded(tmp_path, configuration(dev=toolbox(docs=data)))
    elif "ts" in data:
        assert read_call(block.text.encode()).id == data["id"]
    else:
        pinned(tmp_path, block.text)


def is_a(kind: str, data: dict[str, Any]) -> bool:
    """Whether all its keys are those of this part of a configuration."""
    return {key for key in data if key != "$schema"} <= set(DEFINITIONS[kind]["properties"])


def loaded(folder: Path, config: dict[str, Any]) -> None:
    """Good for us, and for an editor that has our schema."""
    file = folder / "workbench-config.json"
    file.write_text(json.dumps(config))
    jsonschema_rs.Draft202012Validator(editor_schema()).validate(config)
    variables = re.findall(r"\$\{(?:env:)?(\w+)\}", file.read_text())
    load(str(file), {name: f"{name}-set-where-the-client-is-started" for name in variables})


def starts(reader: Reader, entry: dict[str, Any]) -> None:
    """A client that has this entry is answered."""
    config = reader.project / "workbench-config.json"
    command: str = entry["command"].replace("/path/to/", f"{BIN}/")
    places = {
        name: value.replace("/path/to/workbench-config.json", str(config))
        for name, value in entry.get("env", {}).items()
    }
    client = Client([command, *entry.get("args", [])], env={**reader.environ, **places}, cwd=reader.project)
    try:
        assert client.initialize()["serverInfo"]["name"]
        if places:
            assert [tool["name"] for tool in client.open("dev")["tools"]] == ["greet"]
        else:
            assert client.call("greet", {"who": "Ann"})["content"][0]["text"] == "Hello, Ann!"
        assert client.end() == 0
    finally:
        client.process.kill()


def pinned(folder: Path, text: str) -> None:
    """A file of pins, whose hashes are those of the definitions."""
    file = folder / FILE_NAME
    file.write_text(text)
    pins = [
        pin
        for servers in PinFile(str(file)).read().values()
        for tools in servers.values()
        for pin in tools.values()
    ]
    assert pins
    assert all(pin.sound for pin in pins), [msgspec.to_builtins(type(pin).of(pin.definition)) for pin in pins]
