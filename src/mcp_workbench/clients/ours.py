"""Our entry in a client's configuration: a program that it starts, or an address that it asks."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from . import toml
from .client import OURS, Client


def our_entry(client: Client, config: str | None, variables: Iterable[str]) -> dict[str, Any]:
    """What starts us from a client. `variables` are those that the configuration refers to.

    The command is an absolute path: an application that was not started from a shell has another PATH.
    """
    command, *args = _command()
    entry: dict[str, Any] = {"type": "stdio"} if client.needs_type else {}
    entry["command"] = command
    if args or client.name != "codex":
        entry["args"] = args
    env = {"WORKBENCH_CONFIG": config} if config is not None else {}
    if client.name == "gemini":
        # It withholds what looks like a secret unless the entry names it.
        env |= {name: f"${name}" for name in variables}
    if env:
        entry["env"] = env
    if client.name == "codex" and (passed := list(variables)):
        entry["env_vars"] = passed  # it passes on nothing else
    return entry


def our_address(client: Client, address: str, token: str | None) -> dict[str, Any]:
    """What leads a client to us over HTTP, with the token that it has to show."""
    if client.address_key is None:
        # It starts programs only; this one passes everything on to us.
        shown = [] if token is None else ["--header", f"Authorization:Bearer {token}"]
        return {"command": "npx", "args": ["-y", "mcp-remote", address, *shown]}
    entry = {"type": "http"} if client.needs_type else {}
    entry |= {client.address_key: address}
    if token is None:
        return entry
    return {**entry, client.headers_key: {"Authorization": f"Bearer {token}"}}


def on_one_line(client: Client, entry: Mapping[str, Any]) -> str:
    """The entry as it stands in an otherwise empty configuration."""
    if client.name == "codex":  # which writes TOML
        return f"{client.key}.{OURS} = {toml.inline(entry)}"
    return json.dumps({client.key: {OURS: entry}})


def _command() -> list[str]:
    """How to start this very installation."""
    beside = os.path.join(os.path.dirname(sys.executable), "mcp-workbench")
    for path in (beside, shutil.which("mcp-workbench")):
        if path is not None and os.access(path, os.X_OK):
            return [os.path.abspath(path)]
    return [sys.executable, "-m", "mcp_workbench"]
