"""What runs inside a tool folder's process: the standard library alone, on Python 3.9 or newer.

The folder may name an interpreter with nothing of ours installed, so no module here imports a third-party
package (`typed.py` asks for pydantic, once a file uses the typed form) or a part of the workbench outside
this package. The workbench's side of the pipe is `mcp_workbench.servers`.
"""
