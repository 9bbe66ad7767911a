"""`mcp-workbench demo`: a short session on the embedded default, printed as it goes.

It speaks to a workbench of its own as any client would, in plain JSON over pipes, so that a newcomer can see
what goes back and forth. The user's configuration, state and log are left alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from typing import IO, Any

from ..protocol import revisions
from .terminal import plain

PATIENCE = 60.0
"""Seconds for the whole session."""

ANSWERS: dict[str, object] = {"name": "newcomer"}
"""What we know to say to a tool that asks for it."""


class DemoFailed(Exception):
    """The session did not come to its end; says why."""


def demo() -> int:
    """Show a short session. The exit status: 0, or 1 with the reason on stderr."""
    try:
        with _workbench() as client:
            _show(client)
    except DemoFailed as failure:
        sys.stderr.write(f"The demo did not work: {failure}\n")
        return 1
    return 0


class Client:
    """The least that an MCP client is: a request goes out on a line, its answer comes back on one."""

    def __init__(self, out: IO[str], back: IO[str]) -> None:
        self._out = out
        self._back = back
        self._requests = 0

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._requests += 1
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        for line in self._back:
            message = json.loads(line)
            if message.get("id") == self._requests:
                if "error" in message:
                    raise DemoFailed(f"{method} was answered with: {message['error']['message']}")
                return message["result"]
        raise DemoFailed(f"the workbench ended without an answer to {method}")

    def notify(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of a tool's result."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        if result.get("isError"):
            raise DemoFailed(text)
        return text

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the answer that does not come says it better
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()


@contextlib.contextmanager
def _workbench() -> Generator[Client]:
    with tempfile.TemporaryDirectory(prefix="mcp-workbench-demo-") as folder:
        elsewhere = {"XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder}
        environ = {name: value for name, value in os.environ.items() if name != "WORKBENCH_CONFIG"}
        command = [sys.executable, "-m", "mcp_workbench"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=folder,
            env=environ | elsewhere,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(PATIENCE, process.kill)
        limit.start()
        try:
            with process.stdin, process.stdout:
                yield Client(process.stdin, process.stdout)
                process.stdin.close()  # which is how a client says goodbye
                status = process.wait()
        finally:
            limit.cancel()
            process.kill()
            process.wait()
        if status != 0:
            raise DemoFailed(f"the workbench ended with status {status}")


def _show(client: Client) -> None:
    _heading("A client starts the workbench, says hello and is told what there is")
    _sent("initialize")
    hello = {
        "protocolVersion": revisions.LEGACY[-1],
        "capabilities": {},
        "clientInfo": {"name": "demo", "version": "1"},
    }
    _received(client.request("initialize", hello)["instructions"])
    client.notify("notifications/initialized")

    toolbox = _first_toolbox(client.request("tools/list", {})["tools"])
    _heading(f"It opens the toolbox {toolbox}: only now are servers started, and their tools listed")
    _sent("open_toolbox", {"toolbox": toolbox})
    tools = json.loads(client.call("open_toolbox", {"toolbox": toolbox}))["tools"]
    _received("\n".join(_summary(tool) for tool in tools))

    tool = _suitable(tools)
    call = {
        "tool": {part: tool[part] for part in ("toolbox", "server", "name")},
        "arguments": {name: ANSWERS[name] for name in _required(tool)},
    }
    _heading(f"It calls the tool {tool['name']}, and has the result exactly as the tool gave it")
    _sent("use_tool", call)
    _received(client.call("use_tool", call))

    print(
        "\nThat is all there is to it: two small tools in front of every server that you have.\n"
        "Your turn: mcp-workbench init makes toolboxes of the servers that your clients have now."
    )


def _first_toolbox(tools: list[dict[str, Any]]) -> str:
    """From the description of open_toolbox, which ends with the names: `- name: what for`."""
    for tool in tools:
        if tool["name"] == "open_toolbox":
            for line in tool["description"].splitlines():
                if line.startswith("- "):
                    return line[2:].split(":")[0]
    raise DemoFailed("no toolbox is announced")


def _suitable(tools: list[dict[str, Any]]) -> dict[str, Any]:
    for tool in tools:
        if all(name in ANSWERS for name in _required(tool)):
            return tool
    raise DemoFailed("there is no tool whose arguments are known")


def _required(tool: dict[str, Any]) -> list[str]:
    return tool["inputSchema"].get("required", [])


def _summary(tool: dict[str, Any]) -> str:
    required = _required(tool)
    more = len(tool["inputSchema"].get("properties", {})) > len(required)
    arguments = ", ".join([*required, "…"] if more else required)
    first_sentence = tool.get("description", "").split(". ")[0]
    return f"{tool['name']}({arguments})  {first_sentence}"


def _heading(text: str) -> None:
    print(f"\n{text}\n")


def _sent(what: str, arguments: dict[str, Any] | None = None) -> None:
    print(f"  → {what} {json.dumps(arguments)}" if arguments else f"  → {what}", end="\n\n", flush=True)


def _received(text: str) -> None:
    print("\n".join(f"    {plain(line)}".rstrip() for line in text.split("\n")), flush=True)
