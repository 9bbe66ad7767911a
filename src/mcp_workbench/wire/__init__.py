"""JSON-RPC over lines of bytes. Knows nothing of MCP."""
