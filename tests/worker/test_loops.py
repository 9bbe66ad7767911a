"""A blocked event loop, and the one that stands in for it."""

from __future__ import annotations

import time

from .conftest import Folder, wait_until


def test_time_sleep_in_an_async_tool_does_not_stop_the_others(folder: Folder) -> None:
    folder.plain("block", "import time; time.sleep(4)\nreturn 'awake'", "async def")
    folder.plain("soon", "return 'fine'", "async def")
    worker = folder.start()
    worker.tools()
    began = time.monotonic()
    blocked = worker.begin_call("block")
    together = worker.begin_call("soon")  # may wait on the loop that is now blocked, and must be moved
    assert worker.end(together)["content"][0]["text"] == "fine"
    assert worker.text("soon") == "fine"
    assert worker.request("ping") == {}
    assert time.monotonic() - began < 3
    assert worker.end(blocked)["content"][0]["text"] == "awake"
    wait_until(lambda: f"blocks the event loop at {folder.path / 'block.py'}, line" in worker.stderr())


def test_the_first_loop_takes_over_again_so_that_a_file_keeps_its_clients(folder: Folder) -> None:
    folder.plain("block", "import time; time.sleep(1.2)\nreturn 'awake'", "async def")
    folder.plain("which", "import asyncio\nreturn str(id(asyncio.get_running_loop()))", "async def")
    worker = folder.start()
    first = worker.text("which")
    blocked = worker.begin_call("block")
    time.sleep(0.9)
    assert worker.text("which") != first
    worker.end(blocked)
    wait_until(lambda: worker.text("which") == first, 5)


def test_many_blocking_async_tools_at_once_all_end(folder: Folder) -> None:
    folder.plain("block", "import time; time.sleep(1)\nreturn 'awake'", "async def")
    worker = folder.start()
    worker.tools()
    calls = [worker.begin_call("block") for _ in range(5)]
    assert all(worker.end(number)["content"][0]["text"] == "awake" for number in calls)


def test_cancelling_reaches_a_tool_on_any_loop(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    folder.plain("block", "import time; time.sleep(2.5)\nreturn 'awake'", "async def")
    folder.plain(
        "wait",
        f"import asyncio\ntry:\n    await asyncio.sleep(60)\nfinally:\n    open({str(marks)!r}, 'w').close()",
        "async def",
    )
    worker = folder.start()
    worker.tools()
    worker.begin_call("block")
    time.sleep(0.9)
    number = worker.begin_call("wait")
    assert worker.request("ping") == {}
    worker.notify("notifications/cancelled", {"requestId": number})
    wait_until(marks.exists, 5)


def test_a_module_level_asyncio_lock_works_across_calls(folder: Folder) -> None:
    folder.write(
        "a.py",
        """
        import asyncio
        schema = {"name": "a", "description": "d", "type": "object", "properties": {}}
        lock = asyncio.Lock()
        async def default(request):
            async with lock:
                await asyncio.sleep(0.01)
            return "fine"
        """,
    )
    worker = folder.start()
    calls = [worker.begin_call("a") for _ in range(10)]
    assert all(worker.end(number)["content"][0]["text"] == "fine" for number in calls)
