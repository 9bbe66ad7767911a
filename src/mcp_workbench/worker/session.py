"""What the workbench can ask of a tool folder: an ordinary MCP server of 2025-11-25 over the pipe."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from .. import __version__
from .calls import LEVELS, Call
from .forms import VERSION
from .library import IMPORT_SECONDS, Library
from .loops import TICK, Loops
from .requests import Requests, ThreadReply
from .results import message_of
from .says import say_trace
from .threads import Threads
from .wire import Wire

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
ERRORS = "workbench/errors"
WARNINGS = "workbench/warnings"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
STALE = -32000
"""The call was made for another version of the tool; nothing was run."""

Id = Any  # a number or a string

# How the workbench begins a message. The rest may be what Python refuses: a number of 5000 digits.
_BEGINNING = re.compile(rb'{ ?"jsonrpc": ?"2\.0", ?"id": ?(\d{1,18}), ?"(method|result|error)":')


class Session:
    def __init__(self, wire: Wire, folder: str, import_seconds: float = IMPORT_SECONDS) -> None:
        self.wire = wire
        self.requests = Requests(wire)
        self.log_level = LEVELS[0]
        self._folder = os.path.abspath(folder)
        self._threads = Threads()
        self._loops = Loops(wire.fileno(), self._readable)
        self._library = Library(self._folder, self._loops, self._list_changed, self._judge, import_seconds)
        self._calls: dict[Id, Call | None] = {}  # None: its tool is still being loaded

    def serve(self) -> None:
        """Answer until the workbench closes the pipe; then end the process."""
        self._library.refresh()
        threading.Thread(target=self._watch, daemon=True).start()
        self._loops.run()

    def _watch(self) -> None:
        """Notice a blocked loop, and a saved file that nobody asks for."""
        while True:
            time.sleep(TICK)
            self._loops.watch()
            time.sleep(TICK)
            self._loops.watch()
            self._library.refresh()

    def _readable(self) -> None:
        if self.wire.forked:
            os._exit(0)
        try:
            lines = self.wire.read()
        except EOFError:
            self._loops.stop_reading()
            threading.Thread(target=self._end, daemon=True).start()
            return
        messages = [message for message in map(self._parse, lines) if message is not None]
        # One look at the folder serves all lines of a read: they were sent before it.
        if any(message.get("method") in ("tools/call", "tools/list") for message in messages):
            self._library.refresh()
        for message in messages:
            self._guard(message.get("id"), self._receive, message)

    def _guard(self, number: Id, work: Callable[..., None], *args: Any) -> None:
        """A request is answered, whatever happens over it: the workbench would wait for ever."""
        try:
            work(*args)
        except Exception as error:
            say_trace()
            if number is not None:
                self._calls.pop(number, None)
                self._error(number, INTERNAL_ERROR, f"Internal error: {message_of(error)}")

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        """The message of a line; one that is none is answered here."""
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._unreadable(line, f"Parse error: {error}")
            return None
        if isinstance(message, dict):
            message = cast("dict[str, Any]", message)
            if isinstance(message.get("id", 0), (int, str)):
                return message
        self._error(None, INVALID_REQUEST, "Invalid request: no object with an id of a number or a string")
        return None

    def _unreadable(self, line: bytes, reason: str) -> None:
        """Whoever waits for an answer gets one, where the beginning of the line tells who that is."""
        found = _BEGINNING.match(line)
        number = None if found is None else int(found[1])
        if found is None or found[2] == b"method":
            self._error(number, PARSE_ERROR, reason)
        else:
            self.requests.settle({"id": number, "error": {"code": PARSE_ERROR, "message": reason}})

    def _receive(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        params: Any = message.get("params") or {}
        number = message.get("id")
        if method is None:
            self.requests.settle(message)
        elif number is None:
            if method == "notifications/cancelled" and isinstance(params, dict):
                self._cancel(cast("dict[str, Any]", params).get("requestId"))
        elif not isinstance(params, dict):
            self._error(number, INVALID_PARAMS, "Invalid params: not an object")
        elif method == "tools/call":
            self._call(number, cast("dict[str, Any]", params))
        elif method == "tools/list":
            self._library.when_ready(None, partial(self._guard, number, self._list, number))
        elif method == "ping":
            self._answer(number, {})
        elif method == "initialize":
            self._initialize(number, cast("dict[str, Any]", params))
        elif method == "logging/setLevel":
            self._set_level(number, cast("dict[str, Any]", params).get("level"))
        else:
            self._error(number, METHOD_NOT_FOUND, f"Method not found: {method}")

    def _initialize(self, number: Id, params: dict[str, Any]) -> None:
        asked = params.get("protocolVersion")
        self._answer(
            number,
            {
                "protocolVersion": asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
                "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                "serverInfo": {"name": os.path.basename(self._folder), "version": __version__},
            },
        )

    def _set_level(self, number: Id, level: Any) -> None:
        if level in LEVELS:
            self.log_level = level
            self._answer(number, {})
        else:
            self._error(number, INVALID_PARAMS, f"Invalid params: level must be one of {', '.join(LEVELS)}")

    def _list(self, number: Id) -> None:
        tools, errors, warnings = self._library.listing()
        self._answer(number, {"tools": tools, "_meta": {ERRORS: errors, WARNINGS: warnings}})

    def _list_changed(self) -> None:
        self.wire.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def _judge(self, schemas: list[dict[str, Any]]) -> str | None:
        """The workbench has the validator: it is asked before the last good version is replaced."""
        reply = ThreadReply()
        self.requests.open("workbench/check_schemas", {"schemas": schemas}, reply.settle)
        answer = reply.wait() or {}
        return answer["result"].get("fault") if "result" in answer else None

    def _call(self, number: Id, params: dict[str, Any]) -> None:
        name = params.get("name")
        arguments = params.get("arguments")
        if not isinstance(name, str):
            self._error(number, INVALID_PARAMS, "Invalid params: name must be a string")
        elif arguments is not None and not isinstance(arguments, dict):
            self._error(number, INVALID_PARAMS, "Invalid params: arguments must be an object")
        elif not isinstance(params.get("_meta", {}), dict):
            self._error(number, INVALID_PARAMS, "Invalid params: _meta must be an object")
        else:
            self._calls[number] = None
            self._library.when_ready(name, partial(self._guard, number, self._start, number, name, params))

    def _start(self, number: Id, name: str, params: dict[str, Any]) -> None:
        if number not in self._calls:
            return  # cancelled while its tool was being loaded
        tool = self._library.find(name)
        meant = params.get("_meta", {}).get(VERSION)
        if meant is not None and (tool is None or tool.version != meant):
            del self._calls[number]
            self._error(number, STALE, "The tool has changed")
            return
        if tool is None:
            del self._calls[number]
            self._error(number, INVALID_PARAMS, f"Unknown tool: {name}")
            return
        call = self._calls[number] = Call(number, tool, params, self)
        call.start(self._loops, self._threads)

    def forget(self, call: Call) -> None:
        self._calls.pop(call.id, None)

    def _cancel(self, number: Id) -> None:
        call = self._calls.pop(number, None) if isinstance(number, (int, str)) else None
        if call is not None:
            call.cancel()

    def _answer(self, number: Id, result: dict[str, Any]) -> None:
        self.wire.send({"jsonrpc": "2.0", "id": number, "result": result})

    def _error(self, number: Id, code: int, message: str) -> None:
        self.wire.send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})

    def _end(self) -> None:
        try:
            self._library.close()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # a tool may have closed them
            os._exit(0)  # threads with plain functions may still run, and nobody waits for them any more
