"""One call of a tool, from its arguments to its answer: on the event loop or in a thread, cancellable."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from .context import Context, current_call
from .results import error_result, failure, unfit
from .says import say

if TYPE_CHECKING:
    from .forms import Tool
    from .loops import Loops
    from .session import Session
    from .threads import Threads

CHAIN = "workbench/call"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class InvalidArguments(Exception):
    """Arguments that do not fit; the text names each argument, what was expected and what came."""


class Call:
    """A `tools/call` under way. It is answered once, or, when cancelled, not at all."""

    def __init__(self, number: int | str, tool: Tool, params: dict[str, Any], session: Session) -> None:
        self.id = number
        self.tool = tool
        self.arguments: dict[str, Any] = params.get("arguments") or {}
        self.meta: dict[str, Any] = params.get("_meta") or {}
        self.chain: dict[str, Any] = self.meta.get(CHAIN) or {}
        self.requests = session.requests
        self.inner: set[int] = set()
        self.cancelled = False
        self.ended = False
        self._session = session
        self._wire = session.wire
        self._task: asyncio.Task[Any] | None = None

    def start(self, loops: Loops, threads: Threads) -> None:
        if self.tool.is_async:
            loops.spawn(self._run_on_loop)
        else:
            try:
                threads.run(lambda: contextvars.Context().run(self._run_in_thread, loops))
            except Exception as error:  # busy, or the system gives no more threads
                self._answer(error_result(str(error)))

    def cancel(self) -> None:
        self.cancelled = True
        self._session.forget(self)
        task = self._task
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)
        elif not self.tool.is_async:
            say(
                f"Tool {self.tool.name!r} was cancelled. A plain function cannot be stopped: it runs on, and "
                "its result will be dropped."
            )
        for number in list(self.inner):
            self.requests.cancel(number)

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        token = self.meta.get("progressToken")
        if token is None or self.ended or self.cancelled:
            return
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._notify("notifications/progress", params)

    def log(self, level: str, data: Any) -> None:
        if level not in LEVELS:
            raise ValueError(f"{level!r} is no log level; use one of {', '.join(LEVELS)}")
        if LEVELS.index(level) >= LEVELS.index(self._session.log_level):
            self._notify("notifications/message", {"level": level, "logger": self.tool.name, "data": data})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _run_on_loop(self) -> None:
        if self.cancelled:
            return
        self._task = asyncio.current_task()
        current_call.set(self)
        await self._finish(self._begin)

    async def _finish(self, begin: Callable[[], Any]) -> None:
        """Every way in which a tool can end is caught here: what reaches the loop would end the loop."""
        try:
            value = await begin()
        except InvalidArguments as error:
            self._answer(error_result(str(error)))
        except BaseException as error:
            self._answer(failure(error))
        else:
            self._answer_value(value)

    def _begin(self) -> Any:
        return self.tool.begin(self.arguments, Context(self))

    def _run_in_thread(self, loops: Loops) -> None:
        if self.cancelled:
            return
        current_call.set(self)
        try:
            value = self._begin()
        except InvalidArguments as error:
            self._answer(error_result(str(error)))
        except BaseException as error:
            self._answer(failure(error))
        else:
            if isinstance(value, Coroutine):  # a plain function that only wraps an async one
                loops.spawn(lambda: self._finish_later(value))  # pyright: ignore[reportUnknownArgumentType]
            else:
                self._answer_value(value)

    async def _finish_later(self, value: Coroutine[Any, Any, Any]) -> None:
        self._task = asyncio.current_task()
        current_call.set(self)
        await self._finish(lambda: value)

    def _answer_value(self, value: Any) -> None:
        try:
            result = self.tool.result(value)
        except BaseException as error:  # what was returned may have code of its own
            result = unfit(self.tool.name, error)
        self._answer(result)

    def _answer(self, result: dict[str, Any]) -> None:
        if self._wire.forked:
            os._exit(0)  # the copy that a tool forked has come to the end of the tool
        self.ended = True
        if self.cancelled:
            return
        self._session.forget(self)
        try:
            self._wire.send({"jsonrpc": "2.0", "id": self.id, "result": result})
        except BaseException as error:
            self._wire.send({"jsonrpc": "2.0", "id": self.id, "result": unfit(self.tool.name, error)})
