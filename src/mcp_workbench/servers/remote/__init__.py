"""Servers that live elsewhere and are reached over HTTP. What a tool or a call is, is known to `servers.base`."""
