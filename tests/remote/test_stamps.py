"""The headers of modern requests, beside those of the official SDK."""

from __future__ import annotations

from hypothesis import given, strategies as st
from mcp.shared.inbound import decode_header_value, encode_header_value

from mcp_workbench.servers.remote.stamps import Stamps, encode_value
from mcp_workbench.wire.messages import encode

META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


@given(st.text())
def test_a_value_is_encoded_as_the_sdk_encodes_it(value: str):
    assert encode_value(value) == encode_header_value(value)
    assert decode_header_value(encode_value(value)) == value


def test_a_request_of_an_older_revision_gets_no_stamps():
    assert Stamps().headers("tools/call", encode({"name": "act", "arguments": {}})) is None


def test_a_name_is_repeated_only_where_it_is_one():
    headers = Stamps().headers("tools/list", encode({"cursor": "x", **META}))
    assert headers == {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
