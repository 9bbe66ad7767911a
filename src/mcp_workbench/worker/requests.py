"""Requests from the worker to the workbench that wait for their replies, from threads and event loops."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from .wire import Wire

Message = dict[str, Any]
Settle = Callable[["Message | None"], None]


class Requests:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._ids = itertools.count(1)
        self._open: dict[int, Settle] = {}

    def open(self, method: str, params: dict[str, Any], settle: Settle) -> int:
        """Send a request; `settle` gets the reply, or None once the request was cancelled."""
        if self._wire.forked:
            raise RuntimeError("A forked copy of the tool's process cannot call tools")
        number = next(self._ids)
        self._open[number] = settle
        try:
            self._wire.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        except BaseException:
            del self._open[number]
            raise
        return number

    def settle(self, reply: Message) -> None:
        settle = self._open.pop(reply.get("id", 0), None)
        if settle is not None:
            settle(reply)

    def cancel(self, number: int) -> None:
        settle = self._open.pop(number, None)
        if settle is None:
            return
        self._wire.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        )
        settle(None)


class ThreadReply:
    """A place where a thread waits for a reply."""

    def __init__(self) -> None:
        self._box: SimpleQueue[Message | None] = SimpleQueue()
        self.settle: Settle = self._box.put

    def wait(self) -> Message | None:
        return self._box.get()


class LoopReply:
    """A place where a coroutine waits for a reply, which may arrive on any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Message | None] = self._loop.create_future()

    def settle(self, reply: Message | None) -> None:
        if running_loop() is self._loop:
            self._set(reply)
        else:
            self._loop.call_soon_threadsafe(self._set, reply)

    def _set(self, reply: Message | None) -> None:
        if not self._future.done():
            self._future.set_result(reply)

    async def wait(self) -> Message | None:
        return await self._future


def running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
