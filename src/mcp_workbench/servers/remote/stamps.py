"""The headers of a 2026-07-28 request, which repeat what its body says so that proxies need not read it."""

from __future__ import annotations

import base64
import re
from typing import Any

import msgspec
from msgspec import Raw

from ...protocol import revisions, tasks
from ...wire.messages import members

_MARK = b"x-mcp-header"
_PLAIN = re.compile(r"([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?")
_ENCODED = re.compile(r"=\?base64\?.*\?=")


class _Meta(msgspec.Struct):
    version: str | None = msgspec.field(name=revisions.VERSION, default=None)


class _Params(msgspec.Struct):
    name: str | None = None
    uri: str | None = None
    task: str | None = msgspec.field(name="taskId", default=None)
    arguments: Raw = Raw()
    meta: _Meta = msgspec.field(name="_meta", default_factory=_Meta)


class _Definition(msgspec.Struct):
    name: str
    schema: Raw = msgspec.field(name="inputSchema", default=Raw())


_OURS = {"name", "uri", "taskId", "_meta"}
_decode_params = msgspec.json.Decoder(_Params).decode
_decode_definition = msgspec.json.Decoder(_Definition).decode


class Stamps:
    """Learns from listings which arguments of which tools are repeated in headers."""

    def __init__(self) -> None:
        self._maps: dict[str, dict[tuple[str, ...], str]] = {}

    def learn(self, definitions: list[Raw]) -> tuple[list[Raw], dict[str, str]]:
        """The tools that can be called, and why the others, by name, cannot be."""
        self._maps.clear()
        usable: list[Raw] = []
        unusable: dict[str, str] = {}
        for definition in definitions:
            if _MARK not in bytes(definition):
                usable.append(definition)
                continue
            # The official rules; their import is slow, and few tools need it.
            from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

            try:
                tool = _decode_definition(definition)
                schema: Any = msgspec.json.decode(tool.schema) if tool.schema else None
            except (msgspec.DecodeError, RecursionError):
                continue
            problem = find_invalid_x_mcp_header(schema)
            if problem is not None:
                unusable[tool.name] = problem
                continue
            self._maps[tool.name] = x_mcp_header_map(schema)
            usable.append(definition)
        return usable, unusable

    def headers(self, method: str, params: bytes) -> dict[str, str] | None:
        """None for a request of an older revision, which needs none of this."""
        said = _read(params)
        if said.meta.version is None:
            return None
        headers = {"mcp-protocol-version": said.meta.version, "mcp-method": method}
        if method in tasks.METHODS:
            name = said.task
        else:
            name = said.name if method in {"tools/call", "prompts/get"} else said.uri
        if name is not None:
            headers["mcp-name"] = encode_value(name)
        header_map = self._maps.get(said.name or "") if method == "tools/call" else None
        if header_map:
            import json  # which keeps integers of any size

            from mcp.shared.inbound import mcp_param_headers

            headers |= mcp_param_headers(header_map, json.loads(bytes(said.arguments) or b"{}"))
        return headers


def _read(params: bytes) -> _Params:
    try:
        return _decode_params(params)
    except (msgspec.DecodeError, RecursionError):
        # The arguments are deeper or odder than the decoder likes; the server may still read them.
        found = members(params)
        plain = b"{%b}" % b",".join(b'"%b":%b' % (key.encode(), found[key]) for key in _OURS & found.keys())
        return msgspec.structs.replace(_decode_params(plain), arguments=Raw(found.get("arguments", b"")))


def encode_value(value: str) -> str:
    """As it is where a header can hold it, else as base64 between the marks of the specification."""
    if _PLAIN.fullmatch(value) and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
