"""Servers that live elsewhere, reached over HTTP. What a tool or a call is stands in `servers.base`."""
