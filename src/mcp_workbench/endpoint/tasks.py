"""TaskRelay: tasks between clients and the servers that work on them, both eras'.

With one server its own ids pass untouched; among several a task is known by a ticket.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec
from msgspec import Raw

from ..errors import ConnectFailed, RpcError, Unanswered
from ..names import Scope, TaskRef
from ..progress import Notify
from ..protocol import tasks
from ..protocol.results import Result
from ..protocol.tasks import Task, read_task
from ..servers.base import Server
from ..servers.call import Call
from ..servers.eras import Eras
from ..wire.lines import Piece
from ..wire.messages import INTERNAL_ERROR, INVALID_PARAMS, encode, members, with_member
from .question import Question
from .relay import pass_on
from .subscription import Subscription
from .tickets import Tickets

FindServer: TypeAlias = Callable[[str, str, Scope], Server | None]
"""By its toolbox and its name, for a caller who may know of it, connected or not."""

_LAST = frozenset(("tasks/result", "tasks/cancel"))
"""After these nobody waits for a task any more."""


class TaskRelay:
    def __init__(self, eras: Eras, find_server: FindServer, secrets: Iterable[str]) -> None:
        self._eras = eras
        self._server = find_server
        self._tickets = Tickets(secrets)

    def begun(self, question: Question, call: Call, result: Result, sole: Server | None) -> Result:
        """The result of a call, which may be a task instead, as its client may know that.

        `sole` is the one server that there is, whose ids pass untouched.
        """
        task = _task_of(result)
        ref = call.ref
        server = sole or self._server(ref.toolbox, ref.server, question.client.scope)
        if task is None or server is None:
            return result
        client = question.client
        server.tasks.begin(task, client.principal, b"" if server.modern else call.token)
        own = TaskRef(ref.toolbox, ref.server, task.id)
        if question.subscription is not None and not server.modern:
            # How such a task stands is told unasked, and so is its progress.
            question.subscription.follow(own, question.progress_token)
        if sole is not None:
            return result
        ticket = encode(self._tickets.issue(own, client.principal))
        return Result(with_member(bytes(result.raw), "taskId", ticket), modern=server.modern)

    def find(self, question: Question, id: str, sole: Server | None) -> tuple[Server, str]:
        """Who works on the task that a client knows by this id, and its own id for it. Raises RpcError."""
        server, own = sole, id
        principal = question.client.principal
        if sole is None:
            ref = self._tickets.read(id, principal)
            server = self._server(ref.toolbox, ref.server, question.client.scope) if ref is not None else None
            own = ref.id if ref is not None else ""
        if server is None or not server.tasks.belongs(own, principal):
            raise RpcError(INVALID_PARAMS, "Task not found", encode({"taskId": id}))
        return server, own

    async def answer(self, question: Question, notify: Notify, sole: Server | None) -> tuple[Piece, ...]:
        """The result of any request about tasks. Raises RpcError."""
        if question.method == "tasks/list":
            assert sole is not None
            return (_only_own(question, sole, b"".join(await pass_on(self._eras, question, sole, notify))),)
        id = question.params.task_id
        if id is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: taskId is required")
        if sole is None and not tasks.understands(question.capabilities):
            raise tasks.undeclared()
        server, own = self.find(question, id, sole)
        try:
            result = await pass_on(self._eras, question, server, notify, taskId=own)
        except RpcError as error:
            if question.method in _LAST or (question.method == "tasks/get" and error.code == INVALID_PARAMS):
                server.tasks.end(own)
            raise
        if question.method in _LAST:
            server.tasks.end(own)
        if question.method != "tasks/get":
            return result
        text = b"".join(result)
        if (task := read_task(text)) is not None:
            # What a legacy task came to is yet to be fetched.
            server.tasks.hear(task if server.modern else msgspec.structs.replace(task, status=""))
        return result if sole is not None or task is None else (with_member(text, "taskId", encode(id)),)

    # How tasks stand

    async def follow(
        self, question: Question, subscription: Subscription, id: str, sole: Server | None
    ) -> None:
        """Have a modern client hear of a task from now on. Raises RpcError."""
        server, own = self.find(question, id, sole)
        ref = TaskRef(server.config.toolbox, server.config.name, own)
        if ref in subscription.tasks:
            return
        subscription.tasks[ref] = id  # before the server agrees: it may tell at once
        try:
            await server.connect()
            await server.hearing.follow(own)
        except (ConnectFailed, Unanswered) as failure:
            del subscription.tasks[ref]
            raise RpcError(INTERNAL_ERROR, failure.reason) from None
        except BaseException:
            del subscription.tasks[ref]
            raise

    def unfollow(self, subscription: Subscription) -> None:
        for ref in subscription.tasks:
            if (server := self._server(ref.toolbox, ref.server, None)) is not None:
                server.hearing.unfollow(ref.id)
        subscription.tasks.clear()

    def hear(self, server: Server, method: str, params: Raw, hearers: Iterable[Subscription]) -> None:
        """Tell those who want to know what a server says of a task."""
        if (task := read_task(params)) is None:
            return
        ref = TaskRef(server.config.toolbox, server.config.name, task.id)
        loop = asyncio.get_running_loop()
        params = Raw(bytes(params))  # what it was read into is used again
        for subscription in hearers:
            # A legacy server may say it in one breath with the result by which we learn whose task it is.
            loop.call_soon(subscription.stands, ref, method, params)

    def progressed(self, server: Server, params: Raw, hearers: Iterable[Subscription]) -> None:
        """Tell whoever wants to know of the progress that a task makes after its call was answered."""
        token = members(bytes(params)).get("progressToken", b"")
        if (id := server.tasks.progressing(token)) is not None:
            for subscription in hearers:
                subscription.progressed(TaskRef(server.config.toolbox, server.config.name, id), params)


def _task_of(result: Result) -> Task | None:
    if result.is_task:
        return read_task(result.raw)
    return read_task(members(bytes(result.raw)).get("task", b""))  # where the experiment has it


def _only_own(question: Question, server: Server, page: bytes) -> bytes:
    """A page of a server's list, without the tasks that are known to be of other principals."""
    listed: list[Raw] = []
    with contextlib.suppress(msgspec.DecodeError):
        listed = msgspec.json.decode(members(page).get("tasks", b"[]"), type=list[Raw])
    own = [
        each
        for each in listed
        if (task := read_task(each)) is None or server.tasks.belongs(task.id, question.client.principal)
    ]
    return page if len(own) == len(listed) else with_member(page, "tasks", encode(own))
