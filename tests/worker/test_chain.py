"""Tools that call tools, through whoever answers as the workbench."""

from __future__ import annotations

import time

import pytest

from .conftest import Folder, wait_until

ASYNC = """
from mcp_workbench import call_tool, call_tool_handler, list_tools, tool

@tool
async def outer(word: str) -> str:
    "Calls."
    return (await call_tool("inner", {"word": word})).text

@tool
async def old(word: str) -> str:
    "Calls in the older form."
    result = await call_tool_handler({"params": {"name": "inner", "arguments": {"word": word}}}, "old_form")
    return result["content"][0]["text"]

@tool
async def exact(word: str) -> str:
    "Calls by identifier."
    ref = {"toolbox": "dev", "server": "mine", "name": "inner"}
    return (await call_tool(ref, {"word": word}, caller="me", tid="task-1")).data

@tool
async def names() -> list[str]:
    "Lists."
    return [each["name"] for each in await list_tools()]

@tool
async def missing() -> str:
    "Calls nobody."
    await call_tool("nobody")

@tool
async def failing() -> str:
    "Calls one that fails."
    result = await call_tool("fails")
    return f"{result.is_error} {result.text}"

@tool
def inner(word: str) -> str:
    "Is called."
    return word.upper()

@tool
async def fails() -> str:
    "Fails."
    raise ValueError("no luck")

@tool
def no_await() -> str:
    "Forgets that call_tool is async."
    return call_tool("inner", {"word": "x"})["content"]
"""

PLAIN = "from mcp_workbench.sync import call_tool, call_tool_handler, list_tools\n" + (
    ASYNC.replace("call_tool, call_tool_handler, list_tools, tool", "tool")
    .replace("async def", "def")
    .replace("await ", "")
)


@pytest.fixture(params=["async", "plain"])
def source(request: pytest.FixtureRequest) -> str:
    return ASYNC if request.param == "async" else PLAIN


def test_a_tool_calls_another_of_its_folder_and_the_workbench_sees_it(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    worker = folder.start()
    assert worker.text("outer", word="hi") == "HI"
    (line,) = worker.log
    assert (line["tool"], line["caller"], line["tid"]) == ("inner", f"outer_{line['parent']}", None)


def test_the_older_form_is_the_same_call(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    worker = folder.start()
    assert worker.text("old", word="hi") == "HI"
    assert worker.log[0]["caller"] == "old_form"


def test_an_identifier_a_caller_and_a_task_are_passed_on(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    worker = folder.start()
    assert worker.text("exact", word="hi") == "HI"
    assert (worker.log[0]["caller"], worker.log[0]["tid"]) == ("me", "task-1")


def test_list_tools_tells_what_can_be_called(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    assert "inner" in folder.start().call("names")["structuredContent"]["result"]


def test_a_call_without_a_result_raises_with_the_workbenchs_reason(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    assert folder.start().error("missing") == "Unknown tool: nobody"


def test_an_error_result_is_returned_and_not_raised(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    assert folder.start().text("failing") == "True no luck"


def test_forgetting_await_in_a_plain_function_is_a_clear_error(folder: Folder) -> None:
    folder.write("a.py", ASYNC)
    assert "from mcp_workbench.sync import call_tool" in folder.start().error("no_await")


def test_the_sync_form_in_an_async_function_is_a_clear_error_and_no_hang(folder: Folder) -> None:
    folder.plain("a", "from mcp_workbench.sync import call_tool\ncall_tool('a')", "async def")
    assert "from mcp_workbench import call_tool" in folder.start().error("a")


def test_calling_outside_of_a_call_is_a_clear_error(folder: Folder) -> None:
    folder.write("a.py", "from mcp_workbench.sync import call_tool\ncall_tool('b')\n")
    (line,) = folder.start().errors()
    assert "call_tool works inside a call of a tool" in line


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("call_tool(3)", "not int"),
        ("call_tool('a', [1])", "arguments are a dict"),
        ("call_tool_handler({})", '{"params"'),
        ("call_tool('a', {'x': {1}.add})", "no JSON form"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(folder: Folder, call: str, reason: str) -> None:
    folder.plain("a", f"from mcp_workbench.sync import call_tool, call_tool_handler\n{call}")
    assert reason in folder.start().error("a")


def test_cancelling_the_outer_call_cancels_the_inner_request(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    worker = folder.start()
    worker.tools()
    worker.hold_inner.set()
    number = worker.begin_call("outer", {"word": "hi"})
    time.sleep(0.3)
    assert worker.cancelled == []
    worker.notify("notifications/cancelled", {"requestId": number})
    wait_until(lambda: len(worker.cancelled) == 1, 5)
    worker.hold_inner.clear()
    assert worker.text("outer", word="hi") == "HI"


def test_a_time_limit_of_the_tools_own_cancels_the_inner_request(folder: Folder) -> None:
    folder.plain(
        "a",
        """
        import asyncio
        from mcp_workbench import call_tool
        try:
            await asyncio.wait_for(call_tool("b"), 0.2)
        except asyncio.TimeoutError:
            return "too late"
        """,
        "async def",
    )
    worker = folder.start()
    worker.hold_inner.set()
    assert worker.text("a") == "too late"
    wait_until(lambda: len(worker.cancelled) == 1, 5)


def test_forty_outer_calls_that_call_their_own_folder_do_not_lock_up(folder: Folder, source: str) -> None:
    folder.write("a.py", source)
    worker = folder.start()
    calls = [worker.begin_call("outer", {"word": f"w{n}"}) for n in range(40)]
    assert [worker.end(number)["content"][0]["text"] for number in calls] == [f"W{n}" for n in range(40)]


def test_a_thread_of_asyncio_keeps_the_call(folder: Folder) -> None:
    folder.write("b.py", PLAIN)
    folder.plain(
        "a",
        """
        import asyncio
        from mcp_workbench.sync import call_tool
        return (await asyncio.to_thread(call_tool, "inner", {"word": "deep"})).text
        """,
        "async def",
    )
    assert folder.start().text("a") == "DEEP"


def test_a_task_that_outlives_its_call_cannot_call_any_more(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    folder.plain(
        "a",
        f"""
        import asyncio
        from mcp_workbench import call_tool
        async def later():
            await asyncio.sleep(0.2)
            try:
                await call_tool("a")
            except RuntimeError as error:
                open({str(marks)!r}, "w").write(str(error))
        asyncio.create_task(later())
        """,
        "async def",
    )
    folder.start().call("a")
    wait_until(marks.exists, 5)
    assert "the call of 'a' has ended" in marks.read_text()


def test_shortcuts_of_a_result() -> None:
    from mcp_workbench import ToolResult

    block = {"type": "text", "text": "[1, 2]"}
    assert ToolResult(content=[block, {"type": "image"}, block]).text == "[1, 2]\n[1, 2]"
    assert ToolResult(content=[block]).data == [1, 2]
    assert ToolResult(content=[{"type": "text", "text": "plain"}]).data is None
    assert ToolResult(content=[], structuredContent={"result": 3}).data == 3
    assert ToolResult(content=[], structuredContent={"result": 3, "more": 4}).data == {"result": 3, "more": 4}
    assert ToolResult(content=[], structuredContent=["result"]).data == ["result"]
    assert not ToolResult(content=[]).is_error
