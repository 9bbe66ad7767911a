"""The official SDK's server with one echo tool over Streamable HTTP, plain JSON answers, nothing behind it.

Run by path: `sdk_http.py PORT`.
"""

import logging
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

logging.disable(logging.WARNING)
server = MCPServer("bench")


@server.tool()
def echo(text: str) -> str:
    return text


app = server.streamable_http_app(json_response=True)
# Connections are made before the first is measured, and must not be closed until the last was.
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, timeout_keep_alive=600)
