"""Reload: what is saved, added, renamed or deleted is there by the next call."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from .conftest import Folder, WireError, Worker, wait_until


def list_changes(worker: Worker) -> int:
    return sum(notice["method"] == "notifications/tools/list_changed" for notice in worker.notices)


def test_a_new_file_is_a_tool_by_the_next_call(folder: Folder) -> None:
    worker = folder.start()
    assert worker.tools() == {}
    folder.plain("late", "return 'here'")
    assert worker.text("late") == "here"
    assert "late" in worker.tools()


def test_a_saved_file_is_the_new_version_by_the_next_call(folder: Folder) -> None:
    folder.plain("a", "return 'one'")
    worker = folder.start()
    assert worker.text("a") == "one"
    folder.plain("a", "return 'two'")
    assert worker.text("a") == "two"


def test_saves_within_a_second_and_of_the_same_size_are_all_seen(folder: Folder) -> None:
    path = folder.plain("a", "return '00'")
    worker = folder.start()
    for number in range(40):
        # In place and with the same times, as the worst of editors would.
        text = path.read_text().replace(path.read_text()[-5:-2], f"'{number:02}"[:3])
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        assert worker.text("a") == f"{number:02}"


def test_a_renamed_file_keeps_its_tool_and_a_renamed_tool_loses_its_old_name(folder: Folder) -> None:
    path = folder.plain("a", "return 'a'")
    worker = folder.start()
    path.rename(folder.path / "b.py")
    assert worker.text("a") == "a"
    assert worker.tools()["a"]["_meta"]["workbench/file"] == "b.py"
    (folder.path / "b.py").write_text((folder.path / "b.py").read_text().replace('"a"', '"c"'))
    assert worker.text("c") == "a"
    with pytest.raises(WireError, match="Unknown tool: a"):
        worker.call("a")


def test_a_deleted_file_takes_its_tool_along(folder: Folder) -> None:
    path = folder.plain("a", "return 'a'")
    folder.plain("b", "return 'b'")
    worker = folder.start()
    assert worker.text("a") == "a"
    path.unlink()
    with pytest.raises(WireError, match="Unknown tool"):
        worker.call("a")
    assert set(worker.tools()) == {"b"}
    assert worker.errors() == []


def test_a_changed_helper_reloads_the_files_that_import_it_and_no_others(folder: Folder) -> None:
    folder.write("_words.py", "from _deeper import WORD\n")
    folder.write("_deeper.py", "WORD = 'old'\n")
    folder.plain("uses", "import _words\nreturn _words.WORD")
    folder.write("top.py", "import _words\n" + _counting("top", "_words.WORD"))
    folder.write("other.py", _counting("other", '"other"'))
    worker = folder.start()
    assert [worker.text(name) for name in ("uses", "top", "other")] == ["old", "old 1", "other 1"]
    folder.write("_deeper.py", "WORD = 'new'\n")
    assert [worker.text(name) for name in ("uses", "top", "other")] == ["new", "new 1", "other 2"]


def _counting(name: str, value: str) -> str:
    """A tool whose answer tells how often this version of it was called."""
    return (
        f'schema = {{"name": "{name}", "description": "d", "type": "object", "properties": {{}}}}\n'
        f"calls = []\ndef default(request):\n    calls.append(1)\n    return f'{{{value}}} {{len(calls)}}'\n"
    )


def test_a_helper_package_is_reloaded_too(folder: Folder) -> None:
    folder.write("_lib/__init__.py", "")
    folder.write("_lib/text.py", "WORD = 'old'\n")
    folder.write("a.py", "from _lib.text import WORD\n" + _counting("a", "WORD"))
    worker = folder.start()
    assert worker.text("a") == "old 1"
    folder.write("_lib/text.py", "WORD = 'new'\n")
    assert worker.text("a") == "new 1"


def test_a_missing_helper_that_appears_mends_the_file(folder: Folder) -> None:
    folder.write("a.py", "import _late\n" + _counting("a", "_late.WORD"))
    worker = folder.start()
    (line,) = worker.errors()
    assert line.startswith("a.py: skipped: importing it failed in line 1: ModuleNotFoundError")
    folder.write("_late.py", "WORD = 'now'\n")
    assert worker.text("a") == "now 1"


def test_a_broken_helper_keeps_the_last_good_versions(folder: Folder) -> None:
    folder.write("_words.py", "WORD = 'good'\n")
    folder.write("a.py", "import _words\n" + _counting("a", "_words.WORD"))
    folder.plain("lazy", "import _words\nreturn _words.WORD")
    worker = folder.start()
    assert worker.text("a") == "good 1"
    folder.write("_words.py", "WORD = \n")
    assert worker.text("a") == "good 2"
    assert any("a.py" in line and "_words.py" in line and "syntax error" in line for line in worker.errors())
    folder.write("_words.py", "WORD = 'better'\n")
    assert worker.text("a") == "better 1"
    assert worker.text("lazy") == "better"
    assert worker.errors() == []


LAZY = {
    "an import in a function": "from _words import WORD\nreturn WORD",
    "import_module": "import importlib\nreturn importlib.import_module('_words').WORD",
}


@pytest.mark.parametrize("body", LAZY.values(), ids=LAZY.keys())
def test_a_helper_that_is_imported_inside_a_function_is_the_new_one_too(folder: Folder, body: str) -> None:
    folder.write("_words.py", "WORD = 'old'\n")
    folder.plain("lazy", body)
    worker = folder.start()
    assert worker.text("lazy") == "old"
    for word in ("new", "newer"):
        folder.write("_words.py", f"WORD = '{word}'\n")
        time.sleep(0.8)  # the worker has looked at the folder by itself
        assert worker.text("lazy") == word
    folder.write("_words.py", "WORD = 'at once'\n")
    assert worker.text("lazy") == "at once"


@pytest.mark.parametrize("broken", ["WORD = \n", "WORD = 1 / 0\n"])
@pytest.mark.parametrize("body", LAZY.values(), ids=LAZY.keys())
def test_a_broken_helper_that_is_imported_inside_a_function_keeps_the_old_one(
    folder: Folder, body: str, broken: str
) -> None:
    folder.write("_words.py", "WORD = 'good'\n")
    folder.plain("lazy", body)
    worker = folder.start()
    assert worker.text("lazy") == "good"
    folder.write("_words.py", broken)
    assert [worker.text("lazy") for _ in range(2)] == ["good", "good"]
    (line,) = worker.errors()
    assert line.startswith("lazy.py: its last good version is kept: its helper _words.py: ")
    (folder.path / "_words.py").unlink()
    assert worker.text("lazy") == "good"
    folder.write("_words.py", "WORD = 'better'\n")
    assert worker.text("lazy") == "better"
    assert worker.errors() == []


def test_clients_are_told_of_a_change_that_nobody_asked_for(folder: Folder) -> None:
    folder.plain("a", "return 'a'")
    worker = folder.start()
    worker.tools()
    assert list_changes(worker) == 0
    folder.plain("b", "return 'b'")
    wait_until(lambda: list_changes(worker) == 1, 5)
    worker.tools()
    (folder.path / "b.py").unlink()
    wait_until(lambda: list_changes(worker) == 2, 5)


def test_a_call_in_flight_finishes_on_the_version_it_started_with(folder: Folder) -> None:
    for form in ("def", "async def"):
        pause = "import time; time.sleep(1)" if form == "def" else "import asyncio; await asyncio.sleep(1)"
        folder.write("slow.py", "WORD = 'old'\n" + _slow(form, pause))
        worker = folder.start()
        worker.tools()
        number = worker.begin_call("slow")
        time.sleep(0.3)
        folder.write("slow.py", "WORD = 'new'\n" + _slow(form, "pass"))
        assert worker.text("slow") == "new"
        assert worker.end(number)["content"][0]["text"] == "old"


def _slow(form: str, pause: str) -> str:
    return (
        'schema = {"name": "slow", "description": "d", "type": "object", "properties": {}}\n'
        f"{form} default(request):\n    {pause}\n    return WORD\n"
    )


@pytest.mark.parametrize("form", ["def", "async def"])
def test_destroy_runs_before_a_file_is_replaced_or_deleted_and_at_the_end(folder: Folder, form: str) -> None:
    marks = folder.path.parent / "marks"

    def save(word: str) -> None:
        folder.plain("a", f"return '{word}'")
        with open(folder.path / "a.py", "a") as file:
            file.write(f"{form} destroy():\n    open({str(marks)!r}, 'a').write('{word} ')\n")

    save("one")
    worker = folder.start()
    worker.tools()
    assert not marks.exists()
    save("two")
    assert worker.text("a") == "two"
    assert marks.read_text() == "one "
    (folder.path / "a.py").unlink()
    worker.tools()
    assert marks.read_text() == "one two "
    save("three")
    assert worker.text("a") == "three"
    assert worker.close() == 0
    assert marks.read_text() == "one two three "


def test_destroy_does_not_run_for_a_save_that_is_broken(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    path = folder.plain("a", "return 'good'")
    path.write_text(path.read_text() + f"def destroy():\n    open({str(marks)!r}, 'a').write('x')\n")
    worker = folder.start()
    assert worker.text("a") == "good"
    folder.write("a.py", "def broken(:\n")
    assert worker.text("a") == "good"
    assert not marks.exists()


@pytest.mark.parametrize("body", ["import time; time.sleep(60)", "raise RuntimeError('never mind')"])
@pytest.mark.parametrize("form", ["def", "async def"])
def test_a_destroy_that_hangs_or_fails_holds_nobody_up_for_long(folder: Folder, form: str, body: str) -> None:
    path = folder.plain("a", "return 'one'")
    path.write_text(path.read_text() + f"{form} destroy():\n    {body}\n")
    worker = folder.start()
    assert worker.text("a") == "one"
    folder.plain("a", "return 'two'")
    began = time.monotonic()
    assert worker.text("a") == "two"
    path.write_text(path.read_text() + f"{form} destroy():\n    {body}\n")
    assert worker.text("a") == "two"
    assert worker.close() == 0
    assert time.monotonic() - began < 6
    assert "a.py: destroy()" in worker.stderr()


def test_a_broken_save_keeps_the_last_good_version_and_says_so(folder: Folder) -> None:
    folder.plain("a", "return 'good'")
    worker = folder.start()
    assert worker.text("a") == "good"
    for broken, reason in [
        ("def broken(:\n", "syntax error in line 1"),
        ("raise RuntimeError('at import')\n", "RuntimeError: at import"),
        ("schema = {}\n", "no 'name'"),
        ("x = 1\n", "it has no tool"),
    ]:
        folder.write("a.py", broken)
        assert worker.text("a") == "good"
        (line,) = worker.errors()
        assert line.startswith("a.py: its last good version is kept: ")
        assert reason in line
        wait_until(lambda line=line: line in worker.stderr())
    folder.plain("a", "return 'mended'")
    assert worker.text("a") == "mended"
    assert worker.errors() == []


def test_a_broken_save_is_told_as_a_change_of_the_list(folder: Folder) -> None:
    folder.plain("a", "return 'good'")
    worker = folder.start()
    worker.tools()
    folder.write("a.py", "def broken(:\n")
    wait_until(lambda: list_changes(worker) == 1, 5)


def test_a_hanging_import_is_skipped_and_the_others_load_and_answer_meanwhile(folder: Folder) -> None:
    folder.write("a_hangs.py", "import time\ntime.sleep(600)\n")
    folder.plain("b", "return 'b'")
    worker = folder.start(import_seconds=2.5)
    began = time.monotonic()
    assert worker.text("b") == "b"
    assert time.monotonic() - began < 2.2
    (line,) = worker.errors()
    assert line.startswith("a_hangs.py: skipped: importing it takes longer than 2.5 seconds")
    assert set(worker.tools()) == {"b"}


def test_an_import_that_ends_after_its_limit_is_welcome(folder: Folder) -> None:
    path = folder.plain("slow", "return 'at last'")
    path.write_text("import time\ntime.sleep(2)\n" + path.read_text())
    worker = folder.start(import_seconds=0.5)
    assert len(worker.errors()) == 1
    wait_until(lambda: list_changes(worker) == 1, 5)
    assert worker.text("slow") == "at last"
    assert worker.errors() == []


def test_a_hanging_save_keeps_the_last_good_version(folder: Folder) -> None:
    folder.plain("a", "return 'good'")
    worker = folder.start(import_seconds=1.5)
    assert worker.text("a") == "good"
    folder.write("a.py", "while True: pass\n")
    assert worker.text("a") == "good"
    assert "kept" in worker.errors()[0]


def test_a_save_during_a_slow_import_replaces_it(folder: Folder) -> None:
    path = folder.plain("a", "return 'slow'")
    path.write_text("import time\ntime.sleep(3)\n" + path.read_text())
    worker = folder.start()
    number = worker.begin_call("a")
    time.sleep(0.3)
    folder.plain("a", "return 'quick'")
    began = time.monotonic()
    assert worker.text("a") == "quick"
    assert worker.end(number)["content"][0]["text"] == "quick"
    assert time.monotonic() - began < 2
    assert worker.errors() == []
    time.sleep(3)
    assert worker.text("a") == "quick"


def test_a_call_that_is_cancelled_while_its_file_loads_never_runs(folder: Folder) -> None:
    marks = folder.path.parent / "marks"
    path = folder.plain("a", f"open({str(marks)!r}, 'w').close()")
    path.write_text("import time\ntime.sleep(1)\n" + path.read_text())
    worker = folder.start()
    number = worker.begin_call("a")
    worker.notify("notifications/cancelled", {"requestId": number})
    assert set(worker.tools()) == {"a"}
    assert worker.request("ping") == {}
    assert not marks.exists()


def test_of_two_files_with_one_name_the_later_is_skipped_until_the_name_is_free(folder: Folder) -> None:
    first = folder.plain("same", "return 'first'")
    first = first.rename(folder.path / "a.py")
    folder.plain("same", "return 'second'").rename(folder.path / "b.py")
    worker = folder.start()
    assert worker.text("same") == "first"
    (line,) = worker.errors()
    assert line.startswith("b.py: skipped: the tool name 'same' is taken by a.py")
    first.unlink()
    assert worker.text("same") == "second"
    assert worker.errors() == []


@pytest.mark.parametrize(("taker", "owner"), [("a", "b"), ("b", "a")])
def test_a_save_that_takes_another_files_name_keeps_its_last_good_version(
    folder: Folder, taker: str, owner: str
) -> None:
    folder.plain(taker, "return 'taker'")
    path = folder.plain(owner, "return 'owner'")
    worker = folder.start()
    assert (worker.text(taker), worker.text(owner)) == ("taker", "owner")
    folder.write(f"{taker}.py", path.read_text().replace("'owner'", "'repeated'"))
    assert (worker.text(taker), worker.text(owner)) == ("taker", "owner")
    (line,) = worker.errors()
    assert line.startswith(
        f"{taker}.py: its last good version is kept: the tool name '{owner}' is taken by {owner}.py"
    )
    path.unlink()
    assert worker.text(owner) == "repeated"
    assert set(worker.tools()) == {owner}
    assert worker.errors() == []


def test_two_files_may_change_their_names_with_each_other(folder: Folder) -> None:
    first = folder.plain("a", "return 'first'")
    second = folder.plain("b", "return 'second'")
    worker = folder.start()
    assert worker.text("a") == "first"
    texts = first.read_text(), second.read_text()
    worker.process.send_signal(signal.SIGSTOP)
    first.write_text(texts[1])
    second.write_text(texts[0])
    worker.process.send_signal(signal.SIGCONT)
    assert (worker.text("a"), worker.text("b")) == ("first", "second")
    assert worker.errors() == []


def test_a_save_whose_schema_the_workbench_refuses_keeps_the_last_good_version(folder: Folder) -> None:
    folder.write("a.py", _counting("a", "1") + "\ndef destroy():\n    calls.clear()\n")
    worker = folder.start()
    assert worker.text("a") == "1 1"
    faulty = "{'x': {'type': 'integer', 'description': 'd', 'minimum': 'abc'}}"
    folder.write("a.py", _counting("a", "2").replace("{}", faulty, 1))
    assert worker.text("a") == "1 2"
    (line,) = worker.errors()
    assert line.startswith("a.py: its last good version is kept: its schema is faulty: no such minimum")


def test_helpers_and_hidden_files_are_no_tools(folder: Folder) -> None:
    folder.write("_helper.py", "raise RuntimeError('never imported')\n")
    folder.write(".hidden.py", "raise RuntimeError\n")
    folder.write("notes.txt", "not Python\n")
    (folder.path / "__pycache__").mkdir()
    folder.plain("a", "return 'a'")
    worker = folder.start()
    assert set(worker.tools()) == {"a"}
    assert worker.errors() == []


def test_calls_during_many_saves_never_see_an_older_version(folder: Folder) -> None:
    folder.write("_value.py", "VALUE = 0\n")
    names = ["a", "b", "c", "d"]
    for name in names:
        form = "async def" if name in "ab" else "def"
        path = folder.plain(name, "return str(_value.VALUE)", form)
        path.write_text("import _value\n" + path.read_text())
    worker = folder.start()
    ended = threading.Event()
    faults: list[str] = []

    def keep_calling(name: str) -> None:
        last = 0
        while not ended.is_set():
            value = int(worker.text(name))
            if value < last:
                faults.append(f"{name} went from {last} back to {value}")
            last = value

    callers = [threading.Thread(target=keep_calling, args=(name,)) for name in names]
    for caller in callers:
        caller.start()
    for value in range(1, 30):
        folder.write("_value.py", f"VALUE = {value}\n")
        seen = worker.text(names[value % 4])
        if seen != str(value):
            faults.append(f"{seen} was called after {value} was saved")
    ended.set()
    for caller in callers:
        caller.join(20)
    assert faults == []
    assert worker.errors() == []


def test_no_bytecode_is_left_in_the_folder(folder: Folder) -> None:
    folder.write("_helper.py", "WORD = 'x'\n")
    folder.plain("a", "import _helper\nreturn _helper.WORD")
    assert folder.start().text("a") == "x"
    assert not (folder.path / "__pycache__").exists()


def test_a_tool_named_like_a_package_may_import_the_package(folder: Folder) -> None:
    folder.plain("json", "import json\nreturn json.dumps([1])")
    folder.plain("other", "import json\nreturn json.dumps([2])")
    worker = folder.start()
    assert worker.text("json") == "[1]"
    assert worker.text("other") == "[2]"


def test_a_folder_of_a_hundred_files_is_loaded_and_listed(folder: Folder) -> None:
    for number in range(100):
        folder.plain(f"t{number:03}", f"return '{number}'")
    worker = folder.start()
    listed: dict[str, Any] = worker.tools()
    assert list(listed) == [f"t{number:03}" for number in range(100)]
