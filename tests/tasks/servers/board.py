"""The tasks of a 2026-07-28 server, by the book of the extension, on the standard library alone.

Its ids can be guessed on purpose: `task-1`, `task-2`. `begin` makes a task, and `finish` ends it; the
task of `ask` needs a name from the client; `quick` is done at once. `seen` tells what requests came with.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any

PREFIX = "io.modelcontextprotocol/"
EXTENSION = PREFIX + "tasks"
REQUIRED = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
TIMES = {"createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z"}
TOOLS = ["begin", "finish", "ask", "quick", "seen"]

Say = Callable[[dict[str, Any]], None]


class Refusal(Exception):
    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Board:
    def __init__(self, ttl: int | None = 60_000) -> None:
        self.tasks: dict[str, dict[str, Any]] = {}
        self.seen: list[dict[str, Any]] = []
        self._ttl = ttl
        self._listeners: list[tuple[Any, list[str], Say]] = []
        self._lock = threading.Lock()

    def discovered(self, *, declared: bool = True) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"tools": {}}
        if declared:
            capabilities["extensions"] = {EXTENSION: {}}
        return {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
        }

    def listed(self) -> dict[str, Any]:
        tools = [
            {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}} for name in TOOLS
        ]
        return {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of `tools/call` and `tasks/…`. Raises Refusal."""
        self.seen.append({"method": method, **params})
        if method == "tools/call":
            return self._call(params["name"], params.get("arguments", {}), params)
        if method not in ("tasks/get", "tasks/update", "tasks/cancel"):
            raise Refusal(-32601, "Method not found")
        self._need_declaration(params)
        with self._lock:
            task = self._task(params["taskId"])
            if method == "tasks/get":
                return {"resultType": "complete", **task}
            if method == "tasks/cancel":
                task["status"] = "cancelled"
            elif "name" in params["inputResponses"]:
                del task["inputRequests"]
                self._complete(task, f"Hello, {params['inputResponses']['name']['content']['name']}!")
        self._tell(task)
        return {"resultType": "complete"}

    def listen(self, id: Any, params: dict[str, Any], say: Say) -> None:
        """`say` sends a message on the stream of this subscription."""
        wishes = params["notifications"]
        if "taskIds" in wishes:
            self._need_declaration(params)
        granted = [task for task in wishes.get("taskIds", []) if task in self.tasks]
        self._listeners.append((id, granted, say))
        meta = {PREFIX + "subscriptionId": id}
        agreed = {**wishes, "taskIds": granted} if "taskIds" in wishes else wishes
        say(_notice("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": agreed}))

    def _call(self, name: str, arguments: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        match name:
            case "begin":
                return self._begin(params, status="working", pollIntervalMs=50)
            case "ask":
                question = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?"}}
                return self._begin(params, status="input_required", inputRequests={"name": question})
            case "finish":
                with self._lock:
                    task = self._task(arguments["task"])
                    self._complete(task, "done")
                self._tell(task)
                return _text("finished")
            case "seen":
                return _text(json.dumps({"pid": os.getpid(), "seen": self.seen}))
            case _:
                return _text("quick")

    def _begin(self, params: dict[str, Any], **state: Any) -> dict[str, Any]:
        self._need_declaration(params)
        with self._lock:
            id = f"task-{len(self.tasks) + 1}"
            self.tasks[id] = {"taskId": id, **TIMES, "ttlMs": self._ttl, **state}
        return {"resultType": "task", **self.tasks[id], "_meta": {"own": True}}

    def _complete(self, task: dict[str, Any], said: str) -> None:
        task["status"] = "completed"
        task["result"] = {**_text(said), "taskId": "not a task's"}

    def _task(self, id: str) -> dict[str, Any]:
        if id not in self.tasks:
            raise Refusal(-32602, "Failed to retrieve task: Task not found")
        return self.tasks[id]

    def _need_declaration(self, params: dict[str, Any]) -> None:
        capabilities = params["_meta"][PREFIX + "clientCapabilities"]
        if EXTENSION not in capabilities.get("extensions", {}):
            raise Refusal(-32021, "Missing required client capability", REQUIRED)

    def _tell(self, task: dict[str, Any]) -> None:
        for id, ids, say in self._listeners:
            if task["taskId"] in ids:
                say(_notice("notifications/tasks", {"_meta": {PREFIX + "subscriptionId": id}, **task}))


def _notice(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _text(said: str) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": said}]}
