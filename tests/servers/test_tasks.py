"""What is remembered of a server's tasks: whose they are, and which are waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mcp_workbench.protocol.tasks import Task
from mcp_workbench.servers import tasks as module
from mcp_workbench.servers.tasks import Tasks


def with_tasks(body: Callable[[Tasks], None]) -> None:
    async def main() -> None:
        body(Tasks())

    asyncio.run(main())


def test_a_task_is_its_owners_and_an_unknown_one_anybodys() -> None:
    def body(tasks: Tasks) -> None:
        tasks.begin(Task("1", "working"), "alice")
        assert tasks.belongs("1", "alice")
        assert not tasks.belongs("1", "bob")
        assert not tasks.belongs("1", None)
        assert tasks.belongs("2", "bob")

    with_tasks(body)


def test_an_id_that_is_used_again_is_the_newest_owners() -> None:
    def body(tasks: Tasks) -> None:
        tasks.begin(Task("1", "completed"), "alice")
        tasks.begin(Task("1", "working"), "bob")
        assert tasks.belongs("1", "bob")
        assert tasks.unfinished

    with_tasks(body)


def test_a_task_is_waited_for_until_it_is_over() -> None:
    def body(tasks: Tasks) -> None:
        assert not tasks.unfinished
        tasks.begin(Task("1", "working"), None)
        tasks.begin(Task("2", "input_required"), None)
        tasks.hear(Task("1", "failed"))
        assert tasks.unfinished
        tasks.hear(Task("3", "working"))
        tasks.end("2")
        assert not tasks.unfinished
        tasks.hear(Task("2", "working"))
        assert not tasks.unfinished

    with_tasks(body)


def test_a_task_that_may_be_forgotten_is_not_waited_for() -> None:
    def body(tasks: Tasks) -> None:
        tasks.begin(Task("1", "working", ttl_ms=0), None)
        assert not tasks.unfinished
        tasks.hear(Task("1", "working", ttl_ms=60_000))
        assert tasks.unfinished
        tasks.hear(Task("1", "working", older_ttl_ms=0))
        assert not tasks.unfinished

    with_tasks(body)


def test_the_longest_unused_gives_way() -> None:
    def body(tasks: Tasks) -> None:
        for number in range(module.MOST):
            tasks.begin(Task(str(number), "working"), "alice", b"%d" % number)
        tasks.hear(Task("0", "working"))
        tasks.begin(Task("one more", "working"), "alice")
        assert not tasks.belongs("0", "bob")
        assert tasks.belongs("1", "bob")
        assert (tasks.progressing(b"0"), tasks.progressing(b"1")) == ("0", None)

    with_tasks(body)
