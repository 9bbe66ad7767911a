"""Jobs that a server does later: they go on when they are told to, so that a test sees every step."""

from __future__ import annotations

import threading
from typing import Any

import offers
from carriers import Fault

Json = dict[str, Any]
CREATED, UPDATED = "2026-08-01T10:30:00Z", "2026-08-01T10:40:00Z"
ENDED = ("completed", "failed", "cancelled")


class Job:
    """`state` is what everybody may know of it; what it ended with is kept beside it."""

    def __init__(self, id: str, tag: str) -> None:
        self.tag = tag
        self.state: Json = {
            "taskId": id,
            "status": "working",
            "createdAt": CREATED,
            "lastUpdatedAt": UPDATED,
            "example.com/kept": {"a": None},
        }
        self.result: Json = {"content": [{"type": "text", "text": f"{tag} is done"}]}
        self.error = {"code": -32603, "message": f"{tag} went wrong"}
        self.question = offers.question("form", tag)
        self.ended = threading.Event()

    def move(self, status: str) -> None:
        self.state["status"] = status
        if status in ENDED:
            self.ended.set()


class Jobs:
    """Ids are counted: every server has the same ones."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def new(self, tag: str) -> Job:
        id = f"job ☃ {len(self._jobs) + 1}"
        self._jobs[id] = Job(id, tag)
        return self._jobs[id]

    def all(self) -> list[Job]:
        return list(self._jobs.values())

    def get(self, id: object) -> Job:
        if id not in self._jobs:
            raise Fault(-32602, "Failed to retrieve task: Task not found")
        return self._jobs[str(id)]

    def tagged(self, tag: str) -> Job:
        return next(job for job in self._jobs.values() if job.tag == tag)
