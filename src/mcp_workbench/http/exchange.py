"""Exchange: one request that takes time, answered as plain JSON where nothing streams, else as events."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable

from ..endpoint.base import Endpoint
from ..endpoint.question import Question
from ..errors import RpcError, said_of_a_mistake
from ..wire import messages
from ..wire.lines import Piece
from ..wire.messages import INTERNAL_ERROR
from .request import EVENTS, STATUS, Request, joined
from .streams import KEEP_ALIVE, Stream

SOON = 0.05
"""Seconds within which most calls are answered. Only after that is it worth a task to watch the client."""


class Exchange:
    def __init__(
        self,
        request: Request,
        id: Piece,
        stream: Stream,
        *,
        statuses: bool = False,
        on_stream: Callable[[], None] | None = None,
    ) -> None:
        """With `statuses`, errors have an HTTP status of their own.

        With `on_stream`, whatever is not answered soon becomes a stream, which that makes one that its client
        may leave and come back to. Any other client that leaves has given up the call.
        """
        self._request = request
        self._id = id
        self._stream = stream
        self._statuses = statuses
        self._on_stream = on_stream
        self._may_stream = request.accepts(EVENTS)
        self._feeding: asyncio.Task[bool] | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unwanted = False

    async def run(self, endpoint: Endpoint, question: Question) -> None:
        """Answer the request."""
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._timer = loop.call_later(SOON, self._not_soon)
        status = 200
        try:
            message = messages.answer(self._id, *await endpoint.answer(question, self._notify))
        except RpcError as error:
            message = messages.failure(self._id, error)
            status = STATUS.get(error.code, 200) if self._statuses else 200
        except asyncio.CancelledError:
            message = self._cancelled()
        except Exception as error:  # our own mistake; the client is owed an answer all the same
            traceback.print_exc()
            message = messages.failure(self._id, RpcError(INTERNAL_ERROR, said_of_a_mistake(error)))
        finally:
            self._timer.cancel()
            self._task = None
        if self._feeding is not None:
            if message:
                self._stream.put(*message)
            self._stream.end()
            await self._feeding
        elif message:
            await self._request.answer(status, joined(message))
        else:  # cancelled: a response without an answer
            await self._request.begin()
            await self._request.write(b"", last=True)

    def stream(self) -> None:
        """Answer with events whatever comes, where the client takes them."""
        if self._may_stream:
            self._begin()

    def cancel(self) -> None:
        """Give up the call: nobody wants its answer any more."""
        self._unwanted = True
        if self._task is not None:
            self._task.cancel()

    def put(self, *message: Piece) -> bool:
        """Say something on the way to the answer; false where there is no stream to say it on."""
        if not self._may_stream or self._task is None:
            return False
        self._begin()
        self._stream.put(*message)
        return True

    def abandoned(self, now: float, patience: float) -> bool:
        """Whether the client left a stream that it could come back to, and has not for so many seconds."""
        return self._feeding is not None and not self._stream.read and now - self._stream.left > patience

    def _cancelled(self) -> tuple[Piece, ...]:
        if self._task is not None:
            self._task.uncancel()
        if self._unwanted:
            return ()
        return messages.failure(self._id, RpcError(INTERNAL_ERROR, "The workbench is shutting down"))

    def _notify(self, method: bytes, params: bytes) -> None:
        if self._may_stream:
            self._begin()
            self._stream.notify(method, params)

    def _not_soon(self) -> None:
        self._request.gone.add_done_callback(self._left)
        if not self._may_stream:
            return
        if self._on_stream is not None:
            self._begin()
        elif self._feeding is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_ALIVE, self._begin)

    def _begin(self) -> None:
        if self._feeding is None:
            if self._on_stream is not None:
                self._on_stream()
            self._feeding = asyncio.create_task(self._stream.feed(self._request))

    def _left(self, _: object) -> None:
        if self._task is None:
            return
        if self._feeding is None or self._on_stream is None:
            self.cancel()
