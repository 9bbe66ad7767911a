"""Tool files behind the workbench: reload by the next call, chains, the log, and what bad tools cannot do."""

from __future__ import annotations

import json
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.client import Client, invocation, is_notification, text
from tests.support.launch import Launcher, child, configuration, toolbox

EXAMPLES = Path(__file__).parent.parent / "examples"


class Folder:
    """A folder of tool files and a workbench that has it open as `dev/mine`."""

    def __init__(self, path: Path, workbench: Launcher, **servers: Any) -> None:
        self.path = path
        self.path.mkdir(mode=0o755)
        self._workbench = workbench
        self._servers = servers

    def write(self, name: str, source: str) -> None:
        file = self.path / name
        file.write_text(dedent(source))
        file.chmod(0o644)

    def open(self, **keys: Any) -> Client:
        entry = {"path": str(self.path), **keys}
        client = self._workbench(configuration(dev=toolbox(mine=entry, **self._servers)))
        client.initialize()
        client.open("dev")
        return client

    def log(self) -> list[dict[str, Any]]:
        file = self._workbench.folder / "home0" / "log" / "ToolBox.log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def folder(tmp_path: Path, workbench: Launcher) -> Folder:
    return Folder(tmp_path / "tools", workbench, echo=child("echo"))


def plain(name: str, body: str, properties: str = "{}", head: str = "") -> str:
    return f"""
{head}
schema = {{"name": "{name}", "description": "For a test", "type": "object", "properties": {properties}}}

async def default(request):
    arguments = request.params.arguments
    {body}
"""


def test_a_file_saved_a_moment_ago_is_what_the_next_call_runs(folder: Folder) -> None:
    folder.write("a.py", plain("a", "return 'one'"))
    client = folder.open()
    for word in ("two", "six", "ten"):  # of one size, within one second
        folder.write("a.py", plain("a", f"return '{word}'"))
        assert text(client.use("dev/mine/a")) == word


def test_a_file_added_renamed_or_deleted_is_so_for_the_next_call(folder: Folder) -> None:
    folder.write("a.py", plain("a", "return 'a'"))
    client = folder.open()
    folder.write("b.py", plain("b", "return 'b'"))
    assert text(client.use("dev/mine/b")) == "b"
    (folder.path / "b.py").unlink()
    refused = client.use("dev/mine/b")
    assert refused["isError"]
    assert text(refused) == "Error executing tool: Tool 'b' not found in server 'mine' (toolbox 'dev')"
    folder.write("a.py", plain("renamed", "return 'a'"))
    assert text(client.use("dev/mine/renamed")) == "a"


def test_a_changed_schema_holds_for_the_next_call(folder: Folder) -> None:
    folder.write("a.py", plain("a", "return 'ran'"))
    client = folder.open()
    strict = """{"n": {"type": "integer", "description": "A number"}}"""
    folder.write("a.py", plain("a", "return 'ran'", strict))
    refused = client.use("dev/mine/a", {"n": "five"})
    assert refused["isError"]
    assert text(refused) == """Invalid arguments for tool 'a': n: "five" is not of type "integer\""""
    assert text(client.use("dev/mine/a", {"n": 5})) == "ran"


def test_a_save_that_is_no_longer_read_only_is_not_run(folder: Folder) -> None:
    reads = "schema['annotations'] = {'readOnlyHint': True}\n"
    folder.write("a.py", plain("a", "return 'read'") + reads)
    client = folder.open(readOnly=True)
    assert text(client.use("dev/mine/a")) == "read"
    folder.write("a.py", plain("a", "return 'written'"))
    refused = client.use("dev/mine/a")
    assert refused["isError"]
    assert "Tool 'a' in server 'mine' (toolbox 'dev') is not offered: " in text(refused)


@pytest.mark.parametrize("modern", [False, True])
def test_clients_of_both_eras_hear_that_a_save_changed_the_list(folder: Folder, modern: bool) -> None:
    folder.write("a.py", plain("a", "return 'a'"))
    client = folder.open()
    if modern:
        client.start_request(
            "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, modern=True
        )
    folder.write("b.py", plain("b", "return 'b'"))

    def heard(message: object) -> bool:
        tagged = isinstance(message, dict) and "_meta" in message.get("params", {})
        return is_notification(message, "notifications/tools/list_changed") and tagged == modern

    client.wait_for(heard)


def test_a_broken_save_keeps_the_last_good_version_and_says_so(folder: Folder) -> None:
    folder.write("a.py", plain("a", "return 'good'"))
    client = folder.open()
    folder.write("a.py", "def default(:\n")
    assert text(client.use("dev/mine/a")) == "good"
    (line,) = client.open("dev")["_errors"]
    assert line.startswith(
        "Tool files of server 'mine' (toolbox 'dev'): a.py: its last good version is kept:"
    )


@pytest.mark.parametrize("fault", ['"type": "string", "pattern": "("', '"type": "integer", "minimum": "abc"'])
def test_a_saved_schema_that_is_none_keeps_the_last_good_version(folder: Folder, fault: str) -> None:
    folder.write("a.py", plain("a", "return 'good'") + "\ndef destroy(): raise SystemExit\n")
    client = folder.open()
    faulty = f"""{{"n": {{{fault}, "description": "A number"}}}}"""
    folder.write("a.py", plain("a", "return 'bad'", faulty))
    assert text(client.use("dev/mine/a")) == "good"
    (line,) = client.open("dev")["_errors"]
    assert "a.py: its last good version is kept: its schema is faulty: " in line
    folder.write("a.py", plain("a", "return 'better'", '{"n": {"type": "integer", "minimum": 3}}'))
    assert text(client.use("dev/mine/a", {"n": 3})) == "better"
    assert "_errors" not in client.open("dev")


def test_a_schema_that_is_none_is_named_and_the_others_load(folder: Folder) -> None:
    folder.write("a.py", plain("a", "return 'good'"))
    folder.write("b.py", plain("b", "return 1", """{"n": {"type": "string", "pattern": "["}}"""))
    client = folder.open()
    listing = client.open("dev")
    assert "a" in [tool["name"] for tool in listing["tools"]]
    assert "b.py: skipped: its schema is faulty" in listing["_errors"][0]
    assert "Tool 'b' not found" in text(client.use("dev/mine/b"))


def test_skipped_files_and_warnings_are_said_once_on_stderr(folder: Folder) -> None:
    folder.write("odd.py", plain("odd", "return 1", """{"n": {}}"""))
    folder.write("bad.py", "raise ValueError('two\\nlines \\x1b[31mred')\n")
    client = folder.open()
    where = "Tool files of server 'mine' (toolbox 'dev')"
    bad = f"mcp-workbench: {where}: bad.py: skipped: importing it failed in line 1: ValueError: two"
    odd = f"mcp-workbench: warning: {where}: odd.py: property 'n' has no type and no description\n"
    client.open("dev")
    folder.write("more.py", plain("more", "return 1"))
    assert text(client.use("dev/mine/more")) == "1"
    assert client.stderr.count(bad) == 1
    assert client.stderr.count(odd) == 1
    assert "\x1b" not in client.stderr
    folder.write("more.py", "def default(:\n")
    assert text(client.use("dev/mine/more")) == "1"
    client.open("dev")
    assert client.stderr.count(f"{where}: more.py: its last good version is kept: syntax error") == 1


@pytest.mark.parametrize("meta", ["None", "[1]", "{'workbench/trace': 5}", "{'workbench/x': 1, 'own': 2}"])
def test_a_whole_result_may_have_any_meta(folder: Folder, meta: str) -> None:
    content = """[{'type': 'text', 'text': '"workbench/'}]"""
    folder.write("a.py", plain("a", f"return {{'content': {content}, '_meta': {meta}}}"))
    result = folder.open().use("dev/mine/a")
    assert text(result) == '"workbench/'
    assert "workbench/" not in json.dumps(result.get("_meta"))


def test_a_tool_calls_one_whose_file_it_has_just_written(folder: Folder) -> None:
    body = "pathlib.Path(__file__).with_name('made.py').write_text(arguments['source'])\n"
    body += "    return (await call_tool('made')).text"
    head = "import pathlib\nfrom mcp_workbench import call_tool"
    folder.write("maker.py", plain("maker", body, """{"source": {"type": "string"}}""", head))
    client = folder.open()
    assert text(client.use("dev/mine/maker", {"source": plain("made", "return 'made'")})) == "made"


@pytest.mark.parametrize("form", ["plain", "typed"])
def test_a_number_of_too_many_digits_is_an_error_that_says_so(folder: Folder, form: str) -> None:
    folder.write("plain.py", plain("plain", "return 'ran'", """{"n": {"type": "integer"}}"""))
    folder.write(
        "typed.py", "from mcp_workbench import tool\n@tool\ndef typed(n: int) -> str: return 'ran'\n"
    )
    client = folder.open()
    number = client.start_request("ping")
    assert client.response(number)["result"] == {}
    params = {"name": "use_tool", "arguments": invocation(f"dev/mine/{form}", {"n": 4711})}
    line = json.dumps({"jsonrpc": "2.0", "id": "many", "method": "tools/call", "params": params})
    client.send_bytes(line.replace("4711", "7" * 5000).encode() + b"\n")
    result = client.response("many")["result"]
    assert result["isError"]
    said = "a number in it is too large to be read" if form == "plain" else "Exceeds the limit (4300 digits)"
    assert said in text(result)
    assert text(client.use(f"dev/mine/{form}", {"n": 3})) == "ran"


def test_a_result_unlike_its_output_schema_passes_with_a_warning(folder: Folder) -> None:
    source = plain("a", "return {'content': [{'type': 'text', 'text': 'x'}], 'odd': 1}")
    folder.write("a.py", source + "\nschema['outputSchema'] = {'properties': {'odd': {'type': 'string'}}}\n")
    client = folder.open()
    for _ in range(3):
        assert client.use("dev/mine/a")["odd"] == 1
    assert client.stderr.count("does not keep its outputSchema") == 1


CALLS_ECHO = plain(
    "outer",
    "return (await call_tool('echo', {'said': arguments['n']})).data",
    head="from mcp_workbench import call_tool",
)


def test_a_chain_is_one_line_a_call_and_can_be_rebuilt_from_the_log(folder: Folder) -> None:
    folder.write("outer.py", CALLS_ECHO)
    folder.write(
        "top.py",
        plain(
            "top",
            "return (await call_tool('outer', {'n': 1}, caller='top_first', tid='job')).data",
            head="from mcp_workbench import call_tool",
        ),
    )
    client = folder.open()
    result = client.use("dev/mine/top")
    assert "isError" not in result
    echo, outer, top = folder.log()
    assert [line["tool"] for line in (top, outer, echo)] == ["top", "outer", "echo"]
    assert top["caller"] == "raw"
    assert "parent" not in top
    assert outer["caller"] == "top_first"
    assert outer["parent"] == top["id"]
    assert echo["caller"] == f"outer_{outer['id']}"
    assert echo["parent"] == outer["id"]
    assert {line["root"] for line in (top, outer, echo)} == {top["id"]}
    assert [line.get("tid") for line in (top, outer, echo)] == [None, "job", "job"]
    assert [line["server"] for line in (top, outer, echo)] == ["mine", "mine", "echo"]


def test_forty_outer_calls_that_each_call_their_own_folder_do_not_lock_up(folder: Folder) -> None:
    folder.write("inner.py", plain("inner", "return arguments['n']"))
    folder.write(
        "outer.py",
        plain(
            "outer",
            "return (await call_tool('inner', arguments)).data",
            head="from mcp_workbench import call_tool",
        ),
    )
    client = folder.open()
    requests = {
        client.start_request(
            "tools/call", {"name": "use_tool", "arguments": invocation("dev/mine/outer", {"n": n})}
        ): n
        for n in range(40)
    }
    answers = {n: client.response(id, timeout=20)["result"] for id, n in requests.items()}
    assert all(json.loads(text(result)) == n for n, result in answers.items()), answers


def test_a_loop_ends_in_an_error_that_names_its_tools(folder: Folder) -> None:
    for here, there in (("tick", "tock"), ("tock", "tick")):
        folder.write(
            f"{here}.py",
            plain(
                here, f"return await call_tool('{there}', {{}})", head="from mcp_workbench import call_tool"
            ),
        )
    client = folder.open()
    result = client.use("dev/mine/tick")
    assert result["isError"]
    assert "tick → tock → tick" in text(result)
    assert len(folder.log()) == 16


def test_a_tool_can_list_and_call_what_is_in_other_open_toolboxes(
    tmp_path: Path, workbench: Launcher
) -> None:
    folder = Folder(tmp_path / "tools", workbench)
    ref = "{'toolbox': 'other', 'server': 'echo', 'name': 'echo'}"
    body = f"return [[t['name'] for t in await list_tools()], (await call_tool({ref}, {{'x': 1}})).is_error]"
    folder.write("a.py", plain("a", body, head="from mcp_workbench import call_tool, list_tools"))
    other = toolbox(echo=child("echo"))
    client = workbench(configuration(dev=toolbox(mine={"path": str(folder.path)}), other=other))
    client.initialize()
    client.open("dev")
    closed = client.use("dev/mine/a")
    assert "Toolbox 'other' is not open" in text(closed)
    client.open("other")
    names, failed = json.loads(text(client.use("dev/mine/a")))
    assert names[0] == "a"
    assert "echo" in names
    assert not failed


def test_cancelling_the_outer_call_cancels_the_inner_ones(folder: Folder, tmp_path: Path) -> None:
    mark = tmp_path / "cancelled"
    slow = f"""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        pathlib.Path({str(mark)!r}).touch()
        raise
    """
    folder.write(
        "slow.py", plain("slow", dedent(slow).strip().replace("\n", "\n    "), head="import asyncio, pathlib")
    )
    folder.write(
        "outer.py",
        plain("outer", "return await call_tool('slow', {})", head="from mcp_workbench import call_tool"),
    )
    client = folder.open()
    id = client.start_request(
        "tools/call", {"name": "use_tool", "arguments": invocation("dev/mine/outer", {})}
    )
    time.sleep(0.5)
    client.notify("notifications/cancelled", {"requestId": id})
    deadline = time.monotonic() + 5
    while len(folder.log()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert {line["err"] for line in folder.log()} == {"cancelled"}
    while not mark.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("body", ["os._exit(3)", "ctypes.string_at(0)", "os.kill(os.getpid(), 9)"])
def test_a_tool_that_ends_its_process_fails_alone_and_its_folder_is_back(folder: Folder, body: str) -> None:
    folder.write("bad.py", plain("bad", body, head="import os, ctypes"))
    folder.write("good.py", plain("good", "return 'still here'"))
    client = folder.open()
    result = client.use("dev/mine/bad")
    assert result["isError"]
    assert text(result).startswith("Error executing tool 'bad' in server 'mine' (toolbox 'dev'): the server ")
    assert "isError" not in client.use("dev/echo/echo", {"x": 1})
    assert text(client.use("dev/mine/good")) == "still here"


def test_an_endless_loop_is_ended_by_the_time_limit_and_the_folder_is_back(folder: Folder) -> None:
    folder.write("bad.py", plain("bad", "\n    while True: pass"))
    folder.write("good.py", plain("good", "return 'still here'"))
    client = folder.open(limits={"timeout": 1})
    result = client.use("dev/mine/bad")
    assert "time-out: no answer within 1 s" in text(result)
    assert text(client.use("dev/mine/good")) == "still here"


def test_what_a_tool_prints_is_nothing_to_the_client(folder: Folder) -> None:
    folder.write(
        "a.py", plain("a", "print('to stdout'); os.system('echo also'); return 'ok'", head="import os")
    )
    client = folder.open()
    assert text(client.use("dev/mine/a")) == "ok"
    assert client.impure == []


@pytest.mark.parametrize("form", ["plain", "typed"])
def test_the_weather_example_calls_two_tools_and_shows_it_in_the_log(workbench: Launcher, form: str) -> None:
    entry = {"path": str(EXAMPLES / "weather" / form)}
    client = workbench(configuration(dev=toolbox(weather=entry)))
    client.initialize()
    client.open("dev")
    result = client.use("dev/weather/weather_report", {"city": "Paris"})
    assert "isError" not in result or not result["isError"], result
    assert result["content"][0]["text"].startswith("Weather report for Paris: ")
    log = (workbench.folder / "home0" / "log" / "ToolBox.log").read_text().splitlines()
    callers = {line["tool"]: line["caller"] for line in map(json.loads, log)}
    assert callers["weather_api"] == "weather_report_fetch"
    assert callers["text_formatter"] == "weather_report_format"


@pytest.mark.parametrize("form", ["plain", "typed"])
@pytest.mark.parametrize(
    ("arguments", "greeting"),
    [
        ({"name": "Ann"}, "Hello, Ann!"),
        ({"name": "Ann", "language": "zh"}, "你好，Ann！"),
        ({"name": "Ann", "language": "fr"}, "Bonjour, Ann!"),
    ],
)
def test_the_greeting_example_greets(
    shared_workbench: Launcher, form: str, arguments: dict[str, str], greeting: str
) -> None:
    client = shared_workbench(
        configuration(dev=toolbox(greeting={"path": str(EXAMPLES / "greeting" / form)}))
    )
    client.initialize()
    (tool,) = client.open("dev")["tools"]
    assert client.use(f"dev/greeting/{tool['name']}", arguments)["content"][0]["text"] == greeting
    refused = client.use(f"dev/greeting/{tool['name']}", {"name": "Ann", "language": "de"})
    assert refused["isError"]
    assert "language" in refused["content"][0]["text"]


def test_what_a_list_tells_of_a_tool_can_be_given_to_call_it(folder: Folder) -> None:
    body = "found = [each for each in await list_tools() if each['name'] == 'echo']\n"
    body += "    return (await call_tool(found[0], {'said': 1})).text"
    folder.write("a.py", plain("a", body, head="from mcp_workbench import call_tool, list_tools"))
    assert json.loads(text(folder.open().use("dev/mine/a"))) == {"said": 1}
