"""A server of 2025-11-25 with that revision's experimental tasks, over standard streams.

`work` is done when `finish` (with `task`) says so, and tells how it stands; `seen` tells what came in.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "servers"))

from wire import Fault, NoAnswer, initialized, notify, send, serve, text, tool, write  # type: ignore[attr-defined]

RELATED = "io.modelcontextprotocol/related-task"
DECLARED = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
TIMES = {"createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z"}
tasks: dict[str, dict[str, Any]] = {}
over: dict[str, threading.Event] = {}
seen: list[dict[str, Any]] = []


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    seen.append({"method": method, **params})
    match method:
        case "initialize":
            return initialized(params, tasks=DECLARED)
        case "tools/list":
            work = tool("work", execution={"taskSupport": "required"})
            return {"tools": [work, tool("finish"), tool("seen")]}
        case "tools/call":
            return call(params, id)
        case "tasks/get":
            return find(params)
        case "tasks/list":
            return {"tasks": list(tasks.values())}
        case "tasks/cancel":
            return end(find(params), "cancelled")
        case "tasks/result":
            # In a thread, as it waits: the others are answered meanwhile.
            threading.Thread(target=answer_result, args=(find(params), id), daemon=True).start()
            return NoAnswer
        case _:
            raise Fault(-32601, "Method not found")


def call(params: dict[str, Any], request: Any) -> object:
    match params["name"]:
        case "work":
            if "task" not in params:
                raise Fault(-32601, "only as a task")
            id = f"task-{len(tasks) + 1}"
            tasks[id] = {"taskId": id, "status": "working", **TIMES, "ttl": params["task"].get("ttl")}
            over[id] = threading.Event()
            token = params.get("_meta", {}).get("progressToken")
            if token is not None:
                tasks[id]["statusMessage"] = json.dumps(token)
            result = {"task": tasks[id], "_meta": {"own": True}}
            status = {"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": tasks[id]}
            # In one breath, so that they are read together.
            write(line({"jsonrpc": "2.0", "id": request, "result": result}) + line(status))
            return NoAnswer
        case "finish":
            task = find({"taskId": params["arguments"]["task"]})
            if "statusMessage" in task:
                told = {"progressToken": json.loads(task["statusMessage"]), "progress": 1}
                notify("notifications/progress", told)
            end(task, "completed")
            return text("finished")
        case _:
            return text(json.dumps({"pid": os.getpid(), "seen": seen}))


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def answer_result(task: dict[str, Any], id: Any) -> None:
    over[task["taskId"]].wait()
    result = text("worked", _meta={RELATED: {"taskId": task["taskId"]}})
    send({"jsonrpc": "2.0", "id": id, "result": result})


def find(params: dict[str, Any]) -> dict[str, Any]:
    if params["taskId"] not in tasks:
        raise Fault(-32602, "Task not found")
    return tasks[params["taskId"]]


def end(task: dict[str, Any], status: str) -> dict[str, Any]:
    task["status"] = status
    notify("notifications/tasks/status", task)
    over[task["taskId"]].set()
    return task


serve(answer)
