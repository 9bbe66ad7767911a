"""MCP: the revisions, the two eras they fall into, and what is translated between them."""
