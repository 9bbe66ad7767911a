"""FastMCP's proxy in its fastest documented mode: one connected client, whose session serves every request.

(Given a disconnected one it starts a server for every call.) Run by path, with FastMCP's own interpreter:
`fastmcp_proxy.py CONFIG [PORT]`, where CONFIG is JSON with `mcpServers`; with a port it serves HTTP.
"""

# pyright: reportMissingImports=false
import asyncio
import json
import logging
import sys

import fastmcp
from fastmcp.client import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


async def main() -> None:
    logging.disable(logging.WARNING)
    servers = json.loads(sys.argv[1])["mcpServers"]
    if len(servers) == 1:
        (entry,) = servers.values()
        target = StdioTransport(entry["command"], entry["args"])
    else:
        target = {"mcpServers": servers}
    async with Client(target) as client:
        proxy = create_proxy(client, name="bench")
        if len(sys.argv) > 2:
            options = {"host": "127.0.0.1", "port": int(sys.argv[2]), "path": "/mcp"}
            await proxy.run_async(
                transport="http",
                show_banner=False,
                json_response=True,
                uvicorn_config={"log_level": "error", "access_log": False},
                **options,
            )
        else:
            await proxy.run_async(transport="stdio", show_banner=False)


fastmcp.settings.log_level = "ERROR"
asyncio.run(main())
