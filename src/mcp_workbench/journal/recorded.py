"""What is on record beside a log: calls with their answers, toolboxes with their tools. Read here alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Raw

from .call import UNREADABLE, Call, read
from .files import OpenFile, open_files


class Exchange(msgspec.Struct, omit_defaults=True):
    """A call's whole arguments, and its result, its JSON-RPC error, or the reason why it has neither."""

    args: Raw
    result: Raw = Raw()
    error: Raw = Raw()
    unanswered: str | None = None


class ServerListing(msgspec.Struct):
    name: str
    modern: bool
    """Of which era its results are."""
    info: Raw
    """What it said of itself, its `serverInfo`; or null."""
    instructions: str | None
    tools: list[Raw]
    """The definitions of what it offered, in its order."""


class Listing(msgspec.Struct):
    """A toolbox as it was: servers in configuration order, each with the tools that it offered."""

    toolbox: str
    description: str
    servers: list[ServerListing]


class RecordedCall(msgspec.Struct):
    call: Call
    exchange: Exchange


def calls_folder(log: str) -> str:
    return os.path.join(f"{log}.recorded", "calls")


def toolboxes_folder(log: str) -> str:
    return os.path.join(f"{log}.recorded", "toolboxes")


def toolbox_file(log: str, toolbox: str) -> str:
    return os.path.join(toolboxes_folder(log), f"{toolbox}.json")


def recorded_toolboxes(log: str) -> list[str]:
    """The names of the toolboxes that are on record."""
    try:
        names = os.listdir(toolboxes_folder(log))
    except FileNotFoundError:
        return []
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def recorded_listing(log: str, toolbox: str) -> Listing | None:
    """Raises OSError, and msgspec.DecodeError where the file holds no listing."""
    try:
        with open(toolbox_file(log, toolbox), "rb") as file:
            return msgspec.json.decode(file.read(), type=Listing)
    except FileNotFoundError:
        return None


def recorded_calls(log: str, toolbox: str) -> Iterator[RecordedCall]:
    """In the order in which they ended; those whose line or file is gone or torn are left out."""
    folder = os.path.dirname(os.path.abspath(log))
    for call in _calls(log):
        if call.toolbox != toolbox or call.result is None:
            continue
        try:
            with open(os.path.join(folder, call.result), "rb") as file:
                yield RecordedCall(call, msgspec.json.decode(file.read(), type=Exchange))
        except (OSError, *UNREADABLE):
            continue


def oldest_line(log: str) -> float | None:
    """When the first line that is left was written, in seconds since 1970."""
    for call in _calls(log):
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(call.ts).timestamp() + call.cost / 1000
    return None


def _calls(log: str) -> Iterator[Call]:
    files = open_files(log)
    try:
        for file in files:
            yield from _calls_in(file)
    finally:
        for file in files:
            file.close()


def _calls_in(file: OpenFile) -> Iterator[Call]:
    for _, block in file.blocks(0, 1 << 20):
        for line in block.splitlines():
            try:
                yield read(line)
            except UNREADABLE:
                continue
