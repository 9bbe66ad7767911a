"""The worker under other interpreters, and what it brings into a tool file's world."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_workbench import __version__

from .conftest import Folder


def _interpreter(version: str) -> str | None:
    """A Python of that version that starts: a version manager's shim may only exist."""
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for found in [shutil.which(f"python{version}"), *managed.glob(f"{version}.*/bin/python{version}")]:
        if (
            found is not None
            and subprocess.run([found, "-V"], capture_output=True, timeout=20).returncode == 0
        ):
            return str(found)
    return None


_FOUND = {version: _interpreter(version) for version in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")}
INTERPRETERS = {version: path for version, path in _FOUND.items() if path is not None}
"""The Pythons of this machine, which is at least one: that of the tests."""

VERSIONS = list(INTERPRETERS)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_foreign_interpreter_with_nothing_of_ours_runs_plain_tools_and_chains(
    folder: Folder, version: str
) -> None:
    folder.plain("soon", "import sys\nreturn '%d.%d' % sys.version_info[:2]", "async def")
    folder.plain("outer", "from mcp_workbench.sync import call_tool\nreturn call_tool('soon').text")
    folder.plain(
        "both",
        "from mcp_workbench import call_tool, list_tools\n"
        "return [(await call_tool('outer')).text, len(await list_tools())]",
        "async def",
    )
    folder.plain("block", "import time; time.sleep(2)", "async def")
    worker = folder.start(INTERPRETERS[version])
    assert worker.errors() == []
    assert worker.text("outer") == version
    assert worker.call("both")["structuredContent"] == {"result": [version, 4]}
    worker.begin_call("block")
    assert worker.text("soon") == version
    folder.plain("soon", "return 'new'")
    assert worker.text("soon") == "new"
    assert worker.close() == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_module_level_lock_works_in_every_version(folder: Folder, version: str) -> None:
    folder.write("_locks.py", "import asyncio\nlock = asyncio.Lock()\n")
    body = "import asyncio, _locks\nasync with _locks.lock:\n    await asyncio.sleep(0.01)\nreturn 'fine'"
    folder.plain("a", body, "async def")
    path = folder.path / "a.py"
    path.write_text("import _locks\n" + path.read_text())
    worker = folder.start(INTERPRETERS[version])
    calls = [worker.begin_call("a") for _ in range(5)]
    assert all(worker.end(number)["content"][0]["text"] == "fine" for number in calls)


def test_typed_tools_without_pydantic_are_skipped_with_the_command_that_installs_it(folder: Folder) -> None:
    python = _bare_python(folder.path.parent)
    folder.write("a.py", "from mcp_workbench import tool\n@tool\ndef a() -> str:\n    return 'typed'\n")
    folder.plain("b", "return 'plain'")
    worker = folder.start(python)
    (line,) = worker.errors()
    assert line.startswith("a.py: skipped: its typed tools need pydantic 2")
    assert f"{python} -m pip install 'pydantic>=2'" in line
    assert worker.text("b") == "plain"


def _bare_python(place: Path) -> str:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(place / "bare")], check=True, timeout=60
    )
    return str(place / "bare" / "bin" / "python")


def test_a_worker_imports_nothing_but_the_standard_library_and_shadows_nothing(folder: Folder) -> None:
    folder.write("_wire.py", "WORD = 'own helper'\n")
    folder.write("calls.py", "raise RuntimeError('not a tool')\n")
    folder.plain(
        "a",
        """
        import sys
        import mcp_workbench, mcp_workbench.sync, _wire
        tops = {name.partition('.')[0] for name in sys.modules}
        foreign = tops - set(sys.stdlib_module_names) - {"mcp_workbench", "_wire", "__main__"}
        on_path = [place for place in sys.path if 'mcp_workbench' in place]
        return [_wire.WORD, sorted(name for name in foreign if "@" not in name), on_path, sys.argv[1:]]
        """,
    )
    result = folder.start(_bare_python(folder.path.parent)).call("a")
    assert result["structuredContent"]["result"] == ["own helper", [], [], []]


def test_the_public_names_cost_nothing_until_they_are_used() -> None:
    script = (
        "import sys, mcp_workbench\n"
        "assert not [m for m in sys.modules if m.startswith('mcp_workbench.')]\n"
        "for name in mcp_workbench.__all__: getattr(mcp_workbench, name)\n"
        "import mcp_workbench.sync\n"
        "assert not {'msgspec', 'pydantic', 'typer'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=20)


def test_a_worker_starts_isolated_too(folder: Folder) -> None:
    folder.plain("a", "from mcp_workbench import __version__\nreturn __version__")
    assert folder.start(options=["-I"]).text("a") == __version__
