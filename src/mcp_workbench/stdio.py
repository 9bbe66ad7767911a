"""Serving one client on standard input and output, from its first line to a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import threading
from collections.abc import Coroutine
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Raw

from .endpoint.base import Endpoint
from .endpoint.meta import MetaEndpoint
from .endpoint.question import STRANGER, Question
from .endpoint.resident import Resident
from .endpoint.subscription import EVERYTHING, Subscription
from .errors import RpcError, said_of_a_mistake
from .greeting import ENDING, UNGREETED, Greeting
from .life import Life
from .protocol import revisions
from .servers.guard import Watchdog
from .straight import StraightWay
from .wire import messages
from .wire.lines import Piece, Pieces, widen
from .wire.messages import INTERNAL_ERROR, INVALID_REQUEST, NULL, PARSE_ERROR
from .wire.peer import Peer, Request
from .workbench import Workbench

MAX_LINE = 64 * 1024 * 1024
FINISH_AFTER_SIGNAL = 10.0
FINISH_AFTER_EOF = 1.0
"""Seconds that calls under way may still take. A client that closed our input is rarely still reading."""


class Running(Protocol):
    """Work for a request: a task, or a call that went straight."""

    def cancel(self) -> object: ...


class _Cancelled(msgspec.Struct):
    request_id: Raw = msgspec.field(name="requestId", default=Raw())


class Batch:
    """The answers to the requests of one array, which go out together when none is missing any more."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._answers: list[bytes] = []
        self.missing = 0

    def refuse(self, problem: ValueError) -> None:
        self._answers.append(_line(messages.failure(NULL, _refusal(problem))))

    def add(self, *line: Piece) -> None:
        """One answer; empty for a request that was cancelled."""
        if line:
            self._answers.append(_line(line))
        self.missing -= 1
        self.send_if_whole()

    def send_if_whole(self) -> None:
        if self._answers and not self.missing:
            self._peer.send((b"[", b",".join(self._answers), b"]\n"))


def _line(pieces: tuple[Piece, ...]) -> bytes:
    return b"".join(pieces).rstrip(b"\n")


class Connection:
    """The client at the other end of our standard streams; a Receiver of what it says."""

    def __init__(self, endpoint: Endpoint, read_fd: int, write_fd: int) -> None:
        self._endpoint = endpoint
        self.client = STRANGER
        self._running: dict[bytes, Running] = {}
        """By the id of the request, with a blank behind it where a client uses one twice."""
        self._rest: asyncio.Future[None] | None = None
        self._subscriptions: dict[bytes, Subscription] = {}
        """By the id of the standing request."""
        self._junk = 0
        self.ended = asyncio.Event()
        straight = StraightWay(endpoint, self).take if isinstance(endpoint, MetaEndpoint) else None
        self.peer = Peer(read_fd, write_fd, self, max_line=MAX_LINE, throttle=True, shortcut=straight)
        self._own = Subscription(self.peer.notify, EVERYTHING)
        """What a legacy client hears from its `initialize` on."""
        self.audience = Resident(self.peer)

    def go_on(self, greeting: Greeting) -> None:
        """From where the greeting got to, before anything is read."""
        if greeting.unsent:
            self.peer.send((greeting.unsent,))
        if greeting.answered:
            # Received like any other, for what else comes of it; but its answer is out already.
            self.peer.receive(messages.read(greeting.answered), lambda *answer: None)
        self.peer.begin_with(greeting.unread)

    # What comes in

    def on_request(self, peer: Peer, request: Request) -> None:
        try:
            question = Question(
                request.method, request.params, self.client, subscription=self._own, audience=self.audience
            )
            if request.method == "initialize":
                self.client = self._endpoint.client_of(question)
                self.audience.declared = self.client.declared
            if request.method == "subscriptions/listen" and question.client.modern:
                self._spawn(request, self._listen(request, question))
            elif (result := self._endpoint.at_once(question)) is not None:
                self._answer(request, result)
            else:
                self._spawn(request, self._endpoint.later(question, self.peer.notify))
        except RpcError as error:
            request.fail(error)
        except Exception as error:
            request.fail(self.apology(error))

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        if method == "notifications/cancelled":
            with contextlib.suppress(msgspec.DecodeError):
                key = bytes(msgspec.json.decode(params, type=_Cancelled).request_id)
                if (subscription := self._subscriptions.pop(key, None)) is not None:
                    self._endpoint.unsubscribe(subscription)
                if key in self._running:
                    self._running[key].cancel()
        elif method == "notifications/roots/list_changed":
            self._endpoint.workbench.roots_changed(self.audience)

    def on_junk(self, peer: Peer, line: bytes, problem: ValueError) -> None:
        if isinstance(problem, messages.NotAMessage) and line.lstrip().startswith(b"["):
            self._batch(line)
            return
        self._refuse(problem)

    def on_overlong(self, peer: Peer) -> None:
        self._refuse(messages.NotAMessage(f"a message may have {MAX_LINE} bytes"))

    def on_closed(self, peer: Peer) -> None:
        self.ended.set()

    # What goes on

    def _spawn(self, request: Request, work: Coroutine[Any, Any, tuple[Piece, ...] | None]) -> None:
        begun = False

        async def see_through() -> None:
            nonlocal begun
            begun = True
            await self._see_through(request, work)

        def ended(_: asyncio.Task[None]) -> None:
            if not begun:  # a task that is cancelled before its first step
                work.close()
                request.drop()
            self.ended_with(key, ())

        task = asyncio.create_task(see_through())
        key = self.began(bytes(request.id), task)
        task.add_done_callback(ended)

    def began(self, id: bytes, running: Running) -> bytes:
        """Work for this request is under way; what it is known by."""
        while id in self._running:
            id += b" "
        self._running[id] = running
        return id

    def ended_with(self, key: bytes, line: Pieces) -> None:
        """It has ended, with this line for the client."""
        if line:
            self.peer.send(line)
        del self._running[key]
        if self._rest is not None and not (self._running or self._rest.done()):
            self._rest.set_result(None)

    async def _listen(self, request: Request, question: Question) -> None:
        key = bytes(request.id)
        subscription = Subscription(self.peer.notify, question.params.notifications, id=key)
        await self._endpoint.listen(question, subscription)
        self._subscriptions[key] = subscription

    async def _see_through(
        self, request: Request, work: Coroutine[Any, Any, tuple[Piece, ...] | None]
    ) -> None:
        """Whatever happens, the request gets its answer, unless it was cancelled or is to stand."""
        try:
            result = await work
            if result is not None:
                self._answer(request, *result)
        except RpcError as error:
            request.fail(error)
        except asyncio.CancelledError:
            request.drop()
            raise
        except Exception as error:
            request.fail(self.apology(error))

    def _answer(self, request: Request, *result: Piece) -> None:
        request.answer(*result)
        if request.method == "initialize":
            self._endpoint.subscribe(self._own)

    def apology(self, error: Exception) -> RpcError:
        """For a mistake of ours: the client is owed an answer all the same."""
        import traceback

        traceback.print_exception(error)
        return RpcError(INTERNAL_ERROR, said_of_a_mistake(error))

    def _batch(self, line: bytes) -> None:
        items = messages.read_batch(line)
        if items is None or not items or self.client.version != revisions.BATCHES:
            why = "an empty batch" if items == [] else f"batches belong to {revisions.BATCHES} alone"
            self._refuse(messages.NotAMessage(why))
            return
        batch = Batch(self.peer)
        taken: list[messages.Message] = []
        for item in items:
            try:
                taken.append(messages.read(item))
            except ValueError as problem:
                batch.refuse(problem)
        requests = [message for message in taken if message.method is not None and message.id]
        batch.missing = len(requests)
        for message in taken:
            self.peer.receive(message, batch.add)
        if not requests:
            batch.send_if_whole()

    def _refuse(self, problem: ValueError) -> None:
        self._junk += 1
        id = problem.id if isinstance(problem, messages.TooDeep) and problem.id else NULL
        self.peer.send(messages.failure(id, _refusal(problem)))
        if self._junk & (self._junk - 1) == 0:  # the 1st, 2nd, 4th, 8th …: noticed, not flooded
            warn(f"{self._junk} unreadable line(s) from the client so far; the last: {problem}")

    # The end

    async def finish(self, patience: float | None) -> None:
        """Read no more, let calls under way finish for a while, say goodbye."""
        self._endpoint.close()
        self.peer.pause()
        if not await self._at_rest(patience):
            self.give_up()
            await self._at_rest(None)
        for subscription in self._subscriptions.values():
            self.peer.send(subscription.result())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.peer.drain(), 1.0)

    def give_up(self) -> None:
        """Cancel all that is under way."""
        for running in list(self._running.values()):
            running.cancel()

    async def _at_rest(self, patience: float | None) -> bool:
        """Until nothing is under way any more, or patience has run out."""
        if self._running:
            self._rest = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._rest}, timeout=patience)
        return not self._running


def _refusal(problem: ValueError) -> RpcError:
    if isinstance(problem, messages.NotJson):
        return RpcError(PARSE_ERROR, f"Parse error: {problem}")
    return RpcError(INVALID_REQUEST, f"Invalid request: {problem}")


def warn(message: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"mcp-workbench: {message}\n".encode(errors="backslashreplace"))


def claim_streams() -> tuple[int, int]:
    """Our standard streams, for the protocol alone: whatever else reads or prints gets nothing or stderr."""
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


def pollable(fd: int) -> tuple[int, Literal["client", "file"]]:
    """A descriptor that an event loop can wait for; a file, or /dev/null, is pumped by a thread."""
    kind = os.fstat(fd).st_mode
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(fd):
        return fd, "client"
    outlet, inlet = os.pipe()

    def pump() -> None:
        with contextlib.suppress(OSError):
            while chunk := os.read(fd, 1 << 16):
                while chunk:
                    chunk = chunk[os.write(inlet, chunk) :]
        os.close(inlet)

    threading.Thread(target=pump, daemon=True).start()
    return outlet, "file"


async def serve(
    workbench: Workbench,
    *,
    asked_for: bool = True,
    toolbox: str | None = None,
    greeting: Greeting = UNGREETED,
    watchdog: Watchdog | None = None,
) -> None:
    """Serve until the client leaves or a signal says so; then close the workbench and leave nothing behind.

    `asked_for` says that the user named the configuration file. With a `toolbox`, that one is served as it
    is; else all of them, through the meta-tools. `greeting` and `watchdog` are what was begun before us.
    """
    if watchdog is not None:
        workbench.prepare(watchdog)
    reading, writing = claim_streams()
    reading, source = pollable(reading)
    widen(reading)
    widen(writing)
    connection = Connection(_endpoint(workbench, toolbox), reading, writing)
    life = Life(workbench, asked_for=asked_for, transport="stdio", warn=warn)
    signalled = _on_signals(connection, life)
    connection.go_on(greeting)
    try:
        await connection.ended.wait()
        patience = FINISH_AFTER_EOF if source == "client" else None
        await connection.finish(FINISH_AFTER_SIGNAL if signalled.is_set() else patience)
    finally:
        life.end()
        await workbench.close()
        for descriptor in (reading, writing):  # a terminal's are our shell's as well
            with contextlib.suppress(OSError):
                os.set_blocking(descriptor, True)


def _endpoint(workbench: Workbench, toolbox: str | None) -> Endpoint:
    if toolbox is None:
        return MetaEndpoint(workbench)
    from .endpoint.direct import DirectEndpoint

    return DirectEndpoint(workbench, toolbox)


def _on_signals(connection: Connection, life: Life) -> asyncio.Event:
    """SIGTERM and SIGINT ask for the end, a second time with no more patience; SIGHUP for a reload."""
    loop = asyncio.get_running_loop()
    serving = asyncio.current_task()
    signalled = asyncio.Event()

    def leave() -> None:
        if signalled.is_set():
            connection.give_up()
            for task in asyncio.all_tasks():
                if task is not serving:
                    task.cancel()
        signalled.set()
        connection.ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    loop.add_signal_handler(signal.SIGHUP, life.reload)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    return signalled
