"""What a worker lists of its tool files: the definitions, what is wrong with the files, and by what calls are
checked. The keys of `_meta` for that stay between the worker and us."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ..wire.messages import encode
from .validation import Validator

ERRORS = "workbench/errors"
FILE = "workbench/file"
FORM = "workbench/form"
RESULT_SCHEMA = "workbench/resultSchema"
VERSION = "workbench/version"
WARNINGS = "workbench/warnings"
OURS = "workbench/"


class Checked(msgspec.Struct):
    """What we know of a tool beyond its definition."""

    version: Raw
    arguments: Validator | None
    result: Validator | None


class Listing:
    def __init__(self, definitions: list[Raw], meta: Raw) -> None:
        members = _members(meta)
        self.public: list[Raw] = []
        """The definitions without what is for us alone."""
        self.problems = _lines(members.get(ERRORS))
        """A line for each file that is not, or not as it is now, among them."""
        self.warnings = _lines(members.get(WARNINGS))
        self.checked: dict[str, Checked] = {}
        for definition in definitions:
            self._add(definition)

    def _add(self, definition: Raw) -> None:
        tool = decode_members(definition)
        meta = decode_members(tool.pop("_meta", b"{}"))
        name = msgspec.json.decode(tool["name"], type=str)
        plain = bytes(meta.get(FORM, b"")) == b'"plain"'
        try:
            self.checked[name] = Checked(
                version=meta.get(VERSION, Raw(b"null")),
                arguments=Validator(tool["inputSchema"]) if plain else None,
                result=Validator(meta[RESULT_SCHEMA]) if RESULT_SCHEMA in meta else None,
            )
        except ValueError as problem:  # which the worker would have been told of, had it asked
            file = msgspec.json.decode(meta[FILE], type=str) if FILE in meta else name
            self.problems.append(f"{file}: skipped: its schema is faulty: {_first_line(problem)}")
            return
        theirs = {key: value for key, value in meta.items() if not key.startswith(OURS)}
        if theirs:
            tool["_meta"] = Raw(encode(theirs))
        self.public.append(Raw(encode(tool)))


class _Schemas(msgspec.Struct):
    schemas: list[Raw]


def fault(params: Raw) -> str | None:
    """What is wrong with the first faulty one of the schemas that a worker asks about."""
    try:
        for schema in msgspec.json.decode(params, type=_Schemas).schemas:
            Validator(schema)
    except ValueError as problem:
        return _first_line(problem)
    return None


decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def _members(meta: Raw) -> dict[str, Raw]:
    try:
        return decode_members(meta) if meta else {}
    except msgspec.DecodeError:
        return {}


def _lines(raw: Raw | None) -> list[str]:
    try:
        return [] if raw is None else msgspec.json.decode(raw, type=list[str])
    except msgspec.DecodeError:
        return []


def _first_line(problem: ValueError) -> str:
    return str(problem).partition("\n")[0]
