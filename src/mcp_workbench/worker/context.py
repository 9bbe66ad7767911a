"""What a tool may know of its call, and say while it runs: `ctx: Context`."""

from __future__ import annotations

from collections.abc import Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import Call

current_call: ContextVar[Call] = ContextVar("current_call")


class _Said:
    """What the speaking methods return: `await ctx.info(…)` is allowed, and waits for nothing."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


_SAID = _Said()


class Context:
    """The call a tool is serving. Its methods work in plain and async functions alike."""

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def tool(self) -> str:
        return self._call.tool.name

    @property
    def call_id(self) -> str | None:
        """This call's `id` in the call log."""
        return self._call.chain.get("id")

    @property
    def root(self) -> str | None:
        """The id of the first call of the chain."""
        return self._call.chain.get("root")

    @property
    def parent(self) -> str | None:
        """The id of the call that made this one; None for a call from outside."""
        return self._call.chain.get("parent")

    @property
    def caller(self) -> str | None:
        """Who calls: the client's name, or the calling tool with its suffix."""
        return self._call.chain.get("caller")

    @property
    def toolbox(self) -> str | None:
        return self._call.chain.get("toolbox")

    @property
    def server(self) -> str | None:
        return self._call.chain.get("server")

    @property
    def principal(self) -> str | None:
        """Over HTTP: the token's name or the OAuth subject."""
        return self._call.chain.get("principal")

    @property
    def cancelled(self) -> bool:
        """Whether the caller gave up: a plain function cannot be stopped, but it can look here."""
        return self._call.cancelled

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> _Said:
        """Tell the client how far the tool is, where it asked to know."""
        self._call.progress(done, total, message)
        return _SAID

    def log(self, level: str, data: Any) -> _Said:
        """Send a log message (`debug`, `info`, `warning`, `error`, …) to the client."""
        self._call.log(level, data)
        return _SAID

    def debug(self, data: Any) -> _Said:
        return self.log("debug", data)

    def info(self, data: Any) -> _Said:
        return self.log("info", data)

    def warning(self, data: Any) -> _Said:
        return self.log("warning", data)

    def error(self, data: Any) -> _Said:
        return self.log("error", data)
