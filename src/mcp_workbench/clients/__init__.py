"""The MCP clients on this machine: where their configurations are, what these hold, and how we get in.

Nothing here asks or prints; that is for the commands.
"""
