"""The revisions up to 2025-11-25 over HTTP: a session begins with `initialize`, and requests belong to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ..endpoint.base import Endpoint
from ..endpoint.question import Question
from ..errors import RpcError
from ..protocol import revisions
from ..wire import messages
from ..wire.lines import Piece
from ..wire.messages import Message
from .callers import Caller
from .exchange import Exchange
from .request import EVENTS, Refused, Request, joined
from .sessions import Session, Sessions


class _Cancelled(msgspec.Struct):
    request_id: Raw = msgspec.field(name="requestId", default=Raw())


class Legacy:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.sessions = Sessions(lambda session: endpoint.unsubscribe(session.subscription))

    async def post(self, request: Request, message: Message, caller: Caller) -> None:
        if message.method == "initialize" and message.id:
            await self._initialize(request, message, caller)
            return
        session = self._session(request, caller)
        if message.method is None or not message.id:
            self._hear(session, message)
            await request.answer(202)
            return
        with _at_work(session):
            try:
                question = self._question(session, message)
                result = self._endpoint.at_once(question)
                if result is None:
                    await self._work(request, session, message, question)
                    return
            except RpcError as error:
                status = 400 if error.code == revisions.HEADER_MISMATCH else 200
                await request.fail(error, message.id, status=status)
            else:
                await request.answer(200, joined(messages.answer(message.id, result)))

    async def post_batch(self, request: Request, items: list[bytes], caller: Caller) -> None:
        """Several messages at once, which one revision allows; the answers come together too."""
        session = self._session(request, caller)
        if not items or session.client.version != revisions.BATCHES:
            raise Refused(
                400, "an empty batch" if not items else f"batches belong to {revisions.BATCHES} alone"
            )
        with _at_work(session):
            tasks = [asyncio.create_task(self._member(session, item)) for item in items]
            request.gone.add_done_callback(lambda _: _cancel(tasks))
            try:
                answers = await asyncio.gather(*tasks)
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is not None:
                    task.uncancel()
                raise Refused(503, "the workbench is shutting down") from None
        wanted = [joined(answer) for answer in answers if answer]
        if wanted:
            await request.answer(200, b"[" + b",".join(wanted) + b"]")
        else:
            await request.answer(202)

    async def get(self, request: Request, caller: Caller) -> None:
        """A stream: the session's own, or the rest of one that the client has lost."""
        if not request.accepts(EVENTS):
            raise Refused(406, "GET answers with text/event-stream alone")
        session = self._session(request, caller)
        with _at_work(session):
            if (event_id := request.header(b"last-event-id")) is not None:
                stream, place = session.resume(event_id)
                await stream.feed(request, place)
                session.told(stream)
                return
            if session.primed:
                session.own.prime()
            await session.own.feed(request)

    async def delete(self, request: Request, caller: Caller) -> None:
        self.sessions.end(self._session(request, caller))
        await request.answer(204)

    async def _initialize(self, request: Request, message: Message, caller: Caller) -> None:
        stranger = caller.as_client(revisions.LEGACY[-1])
        try:
            question = Question("initialize", message.params, stranger)
        except RpcError as error:
            await request.fail(error, message.id)
            return
        # Servers may be connected to answer this, and then for this client.
        session = self.sessions.start(self._endpoint.client_of(question), caller)
        question.audience = session.audience
        try:
            with _at_work(session):
                result = await self._endpoint.answer(question, _unheard)
        except RpcError as error:
            self.sessions.end(session)
            await request.fail(error, message.id)
            return
        if not session.own.ended:  # nor the session, meanwhile
            self._endpoint.subscribe(session.subscription)
        headers = [(b"mcp-session-id", session.id.encode())]
        await request.answer(200, joined(messages.answer(message.id, *result)), headers=headers)

    def _session(self, request: Request, caller: Caller) -> Session:
        id = request.header(b"mcp-session-id")
        if id is None:
            raise Refused(400, "Mcp-Session-Id is missing; a session begins with initialize")
        return self.sessions.find(id, caller)

    def _question(self, session: Session, message: Message) -> Question:
        question = Question(
            message.method or "",
            message.params,
            session.client,
            subscription=session.subscription,
            audience=session.audience,
        )
        if question.client.modern:
            raise RpcError(
                revisions.HEADER_MISMATCH,
                f"Header mismatch: a session of {session.client.version}, a request of another",
            )
        return question

    async def _work(self, request: Request, session: Session, message: Message, question: Question) -> None:
        stream = session.new_stream()
        key = message.key
        exchange = Exchange(
            request, message.id, stream, on_stream=(lambda: session.keep(stream)) if session.primed else None
        )
        session.running[key] = exchange
        question.audience = session.audience.within(exchange.put)
        if self._endpoint.streams_lists and question.method.endswith("/list"):
            exchange.stream()
        try:
            await exchange.run(self._endpoint, question)
            session.told(stream)
        finally:
            if session.running.get(key) is exchange:
                del session.running[key]

    def _hear(self, session: Session, message: Message) -> None:
        if message.method is None:
            session.audience.answered(message)
        elif message.method == "notifications/roots/list_changed":
            self._endpoint.workbench.roots_changed(session.audience)
        elif message.method == "notifications/cancelled":
            with contextlib.suppress(msgspec.DecodeError):
                key = bytes(msgspec.json.decode(message.params, type=_Cancelled).request_id)
                if key in session.running:
                    session.running[key].cancel()

    async def _member(self, session: Session, item: bytes) -> tuple[Piece, ...]:
        """The answer to one message of a batch; empty where it needs none."""
        try:
            message = messages.read(item)
        except ValueError as problem:
            return messages.failure(messages.NULL, RpcError(messages.INVALID_REQUEST, str(problem)))
        if message.method is None or not message.id:
            self._hear(session, message)
            return ()
        member = session.running[message.key] = _Member()
        try:
            question = self._question(session, message)
            return messages.answer(message.id, *await self._endpoint.answer(question, _unheard))
        except RpcError as error:
            return messages.failure(message.id, error)
        except asyncio.CancelledError:  # by its client, which wants no answer
            return ()
        finally:
            if session.running.get(message.key) is member:
                del session.running[message.key]


class _Member:
    """A request of a batch, in the task that works on it. Nobody can come back for its answer."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def abandoned(self, now: float, patience: float) -> bool:
        return False


def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()


@contextlib.contextmanager
def _at_work(session: Session):
    session.requests += 1
    try:
        yield
    finally:
        session.requests -= 1
        session.used = asyncio.get_running_loop().time()


def _unheard(method: bytes, params: bytes) -> None:
    """For what is answered as a whole, and has nowhere to put a notice."""
