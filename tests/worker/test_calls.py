"""Isolation and cancelling: what one call does to itself, it does to no other."""

from __future__ import annotations

import time
from typing import Any

import pytest

from .conftest import Folder, wait_until

FORMS = pytest.mark.parametrize("form", ["def", "async def"])


@FORMS
def test_a_tool_that_raises_answers_with_its_message_and_keeps_its_trace_for_the_log(
    folder: Folder, form: str
) -> None:
    folder.plain("a", "raise ValueError('no such city')", form)
    result = folder.start().call("a")
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "no such city"}]
    trace = result["_meta"]["workbench/trace"]
    assert trace.startswith("Traceback")
    assert "a.py" in trace
    assert "ValueError: no such city" in trace
    assert "mcp_workbench" not in trace


@FORMS
@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("import sys; sys.exit(3)", "The tool called sys.exit(3)"),
        ("import sys; sys.exit()", "The tool called sys.exit()"),
        ("raise SystemExit('done')", "The tool called sys.exit('done')"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise BaseException('base')", "base"),
        ("raise KeyError('city')", "KeyError: 'city'"),
        ("raise ValueError", "ValueError"),
    ],
)
def test_whatever_a_tool_raises_is_an_error_of_its_call_alone(
    folder: Folder, form: str, statement: str, text: str
) -> None:
    folder.plain("a", statement, form)
    folder.plain("b", "return 'fine'", form)
    worker = folder.start()
    assert worker.error("a") == text
    assert worker.text("b") == "fine"


def test_sys_exit_in_a_task_that_a_tool_left_behind_ends_nothing(folder: Folder) -> None:
    folder.plain(
        "a",
        """
        import asyncio, sys
        async def leave():
            sys.exit(4)
        asyncio.create_task(leave())
        await asyncio.sleep(0.1)
        return 'fine'
        """,
        "async def",
    )
    worker = folder.start()
    assert worker.text("a") == "fine"
    assert worker.text("a") == "fine"


@pytest.mark.parametrize("death", ["import os; os._exit(5)", "import ctypes; ctypes.string_at(0)"])
def test_a_tool_that_ends_the_process_ends_its_folder_and_the_next_worker_is_back(
    folder: Folder, death: str
) -> None:
    folder.plain("a", death)
    folder.plain("b", "return 'fine'")
    worker = folder.start()
    worker.begin_call("a")
    assert worker.process.wait(10) != 0
    assert folder.start().text("b") == "fine"


@FORMS
def test_an_endless_loop_leaves_the_other_tools_alone(folder: Folder, form: str) -> None:
    folder.plain("endless", "while True: pass", form)
    folder.plain("plain", "return 'fine'")
    folder.plain("soon", "return 'fine'", "async def")
    worker = folder.start()
    worker.tools()
    worker.begin_call("endless")
    time.sleep(0.1)
    assert worker.text("plain") == "fine"
    assert worker.text("soon") == "fine"
    assert worker.request("ping") == {}


def test_a_plain_tool_that_blocks_holds_up_nobody(folder: Folder) -> None:
    folder.plain("block", "import time; time.sleep(5)")
    folder.plain("plain", "return 'fine'")
    folder.plain("soon", "return 'fine'", "async def")
    worker = folder.start()
    worker.tools()
    began = time.monotonic()
    for _ in range(20):
        worker.begin_call("block")
    assert worker.text("plain") == "fine"
    assert worker.text("soon") == "fine"
    assert time.monotonic() - began < 1


def test_print_and_programs_that_write_to_stdout_reach_stderr_and_not_the_wire(folder: Folder) -> None:
    folder.write("loud.py", "print('at import')\n" + _plain("loud", LOUD))
    worker = folder.start()
    assert worker.text("loud") == "fine"
    for word in ("at import", "from print", "from a program", "from the descriptor"):
        wait_until(lambda word=word: word in worker.stderr())


LOUD = """
    import os, subprocess
    print("from print")
    subprocess.run(["echo", "from a program"])
    os.write(1, b"from the descriptor\\n")
    return "fine"
"""


def _plain(name: str, body: str) -> str:
    head = f'schema = {{"name": "{name}", "description": "d", "type": "object", "properties": {{}}}}\n'
    return f"{head}def default(request):\n{body}"


def test_a_tool_cannot_read_the_wire_as_its_stdin(folder: Folder) -> None:
    folder.plain("a", "import sys\nreturn repr(sys.stdin.read())")
    folder.plain("b", "input('?')")
    worker = folder.start()
    assert worker.text("a") == "''"
    assert "EOF" in worker.error("b")


@FORMS
def test_a_fork_answers_once_and_the_copy_never_touches_the_wire(folder: Folder, form: str) -> None:
    folder.plain(
        "a",
        """
        import os
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return 'parent' if child else 'child'
        """,
        form,
    )
    worker = folder.start()
    for _ in range(5):
        assert worker.text("a") == "parent"
    assert worker.strays.empty()


def test_a_forked_copy_that_calls_and_reports_is_silent(folder: Folder) -> None:
    folder.write(
        "a.py",
        """
        import os
        from mcp_workbench import Context
        from mcp_workbench.sync import call_tool
        schema = {"name": "a", "description": "d", "type": "object", "properties": {}}
        def default(request, ctx):
            child = os.fork()
            if child:
                _, status = os.waitpid(child, 0)
                return str(os.waitstatus_to_exitcode(status))
            ctx.info("from the copy")
            try:
                call_tool("a")
            except RuntimeError as error:
                os._exit(7 if "forked" in str(error) else 8)
        """,
    )
    worker = folder.start()
    assert worker.text("a") == "7"
    assert worker.notices == []


def test_processes_of_multiprocessing_work(folder: Folder) -> None:
    folder.plain(
        "a",
        """
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            return sum(pool.map(abs, [-1, -2, -3]))
        """,
    )
    assert folder.start().text("a") == "6"


def test_cancelling_stops_an_async_tool(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    folder.plain(
        "a",
        f"""
        import asyncio
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            open({str(marks)!r}, "w").close()
            raise
        """,
        "async def",
    )
    folder.plain("b", "return 'fine'", "async def")
    worker = folder.start()
    worker.tools()
    number = worker.begin_call("a")
    time.sleep(0.2)
    worker.notify("notifications/cancelled", {"requestId": number})
    wait_until(marks.exists, 5)
    assert worker.text("b") == "fine"
    assert worker._replies[number].empty()


def test_cancelling_a_plain_tool_drops_its_result_and_says_that_it_runs_on(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    folder.plain("a", f"import time; time.sleep(0.7)\nopen({str(marks)!r}, 'w').close()\nreturn 'late'")
    worker = folder.start()
    worker.tools()
    number = worker.begin_call("a")
    time.sleep(0.2)
    worker.notify("notifications/cancelled", {"requestId": number})
    wait_until(marks.exists, 5)
    assert worker.request("ping") == {}
    assert worker.close() == 0
    assert worker._replies[number].empty()
    assert worker.stderr().count("Tool 'a' was cancelled. A plain function cannot be stopped") == 1


def test_a_plain_tool_can_see_that_it_was_cancelled(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    folder.write(
        "a.py",
        f"""
        import time
        schema = {{"name": "a", "description": "d", "type": "object", "properties": {{}}}}
        def default(request, ctx):
            while not ctx.cancelled:
                time.sleep(0.01)
            open({str(marks)!r}, "w").close()
        """,
    )
    worker = folder.start()
    worker.tools()
    number = worker.begin_call("a")
    time.sleep(0.1)
    worker.notify("notifications/cancelled", {"requestId": number})
    wait_until(marks.exists, 5)


def test_cancelling_what_is_not_there_is_nothing(folder: Folder) -> None:
    worker = folder.start()
    for number in (99, "x", None, [1]):
        worker.notify("notifications/cancelled", {"requestId": number})
    assert worker.request("ping") == {}


def test_a_plain_function_that_returns_a_coroutine_is_awaited(folder: Folder) -> None:
    folder.plain("a", "async def later():\n    return 'late'\nreturn later()")
    assert folder.start().text("a") == "late"


def test_progress_and_log_messages_reach_the_client_while_the_tool_runs(folder: Folder) -> None:
    for form in ("def", "async def"):
        name = "a" if form == "def" else "b"
        said = "ctx.info" if form == "def" else "await ctx.info"
        folder.write(
            f"{name}.py",
            f"""
            from mcp_workbench import Context, tool
            @tool
            {form} {name}(ctx: Context) -> str:
                "Reports."
                ctx.progress(1, 2, "half")
                {said}({{"step": 1}})
                return ctx.caller
            """,
        )
        worker = folder.start()
        assert worker.call(name, progressToken="t")["content"][0]["text"] == "client"
        assert [notice["params"] for notice in worker.notices] == [
            {"progressToken": "t", "progress": 1, "total": 2, "message": "half"},
            {"level": "info", "logger": name, "data": {"step": 1}},
        ]


def test_the_context_tells_who_calls(folder: Folder) -> None:
    folder.write(
        "a.py",
        """
        from mcp_workbench import Context, tool
        @tool
        def a(ctx: Context = None) -> dict:
            "Tells."
            names = ("tool", "call_id", "root", "parent", "caller", "toolbox", "server", "principal")
            return {name: getattr(ctx, name) for name in names}
        """,
    )
    chain: dict[str, Any] = {"id": "7", "root": "1", "parent": "6", "caller": "report_6", "principal": "ann"}
    told = folder.start().call("a", chain=chain)["structuredContent"]
    assert told == {
        "tool": "a", "call_id": "7", "root": "1", "parent": "6", "caller": "report_6",
        "toolbox": "dev", "server": "mine", "principal": "ann",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["def", "async def"])
def test_an_error_that_cannot_be_written_is_an_error_of_its_call(folder: Folder, form: str) -> None:
    body = """
    class Odd(Exception):
        def __str__(self):
            return self.missing
    raise Odd
    """
    folder.plain("a", body, form)
    assert folder.start().error("a") == "Odd, whose __str__ failed with AttributeError"


@pytest.mark.parametrize("form", ["def", "async def"])
def test_a_result_whose_own_code_fails_is_an_error_of_its_call(folder: Folder, form: str) -> None:
    body = """
    class Odd:
        def model_dump(self, **options):
            raise LookupError("no dump")
    return {"x": Odd()}
    """
    folder.plain("a", body, form)
    assert "no dump" in folder.start().error("a")


@pytest.mark.parametrize("loss", ["sys.stderr.close()", "sys.stdout = sys.stderr = None"])
def test_a_tool_that_takes_stderr_away_harms_nobody(folder: Folder, loss: str) -> None:
    folder.plain("lose", f"import sys\n{loss}\nreturn 'lost'")
    folder.plain("a", "return 'good'")
    worker = folder.start()
    assert worker.text("lose") == "lost"
    folder.write("a.py", "def default(:\n")
    assert worker.text("a") == "good"
    assert worker.close() == 0
    assert "a.py: its last good version is kept" in worker.stderr()
