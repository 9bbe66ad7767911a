"""The tools of a folder, kept true to its files: what changed is loaded again before the next answer.

Imports run in threads of their own, so that a slow or hanging one holds up only the calls of its own file.
They run one after the other as long as they are quick, because packages are rarely written to be imported
by several threads at once.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from .forms import Judge, Tool
from .imports import FolderModules, Source, import_failed, module_name
from .loops import Loops
from .problems import ImportHangs, Problem, RepeatedName, Unsafe
from .says import say
from .sources import Sources, Stamp
from .versions import DESTROY_SECONDS, Version

IMPORT_SECONDS = 10.0
QUICK_SECONDS = 1.0

Proceed = Callable[[], None]


class ToolFile:
    """A file that is, or should be, one or more tools."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.imports: frozenset[str] = frozenset()
        self.version: Version | None = None
        self.problem: Problem | None = None
        self.load: Load | None = None  # the newest; its end is the only one that counts

    def line(self) -> str | None:
        if self.problem is None:
            return None
        fate = "skipped" if self.version is None else "its last good version is kept"
        return f"{self.name}: {fate}: {self.problem}"


class Load:
    """A file on its way to the state that the disk has now; `gone` when it was deleted."""

    def __init__(self, file: ToolFile, *, gone: bool) -> None:
        self.file = file
        self.gone = gone


class Library:
    """`changed` is called, on any thread, when the tools or the errors are no longer those last listed."""

    def __init__(
        self,
        folder: str,
        loops: Loops,
        changed: Callable[[], None],
        judge: Judge,
        import_seconds: float = IMPORT_SECONDS,
    ) -> None:
        self._folder = folder
        self._judge = judge
        self._import_seconds = import_seconds
        self._loops = loops
        self._changed = changed
        self._lock = threading.RLock()
        self._turn = threading.Lock()
        self._sources = Sources(folder)
        self._stamps: dict[str, Stamp] = {}
        self._files: dict[str, ToolFile] = {}
        self._tools: dict[str, tuple[Tool, ToolFile]] = {}
        self._repeated: dict[str, RepeatedName] = {}
        self._folder_problem: Problem | None = None
        self._pending: set[Load] = set()
        self._waiting: list[tuple[str | None, Proceed]] = []
        self._said: set[str] = set()
        self._listed = False
        self._modules = FolderModules(folder)
        self._modules.install()

    def refresh(self) -> None:
        """Compare the folder with what is loaded, and begin to load what changed."""
        with self._lock:
            try:
                stamps = self._sources.look()
                problem = None
            except Problem as found:
                stamps = {}
                problem = found
            if stamps != self._stamps or str(problem) != str(self._folder_problem):
                self._folder_problem = problem
                self._follow(stamps)

    def when_ready(self, name: str | None, proceed: Proceed) -> None:
        """Go on once the tool of that name is up to date; for None, once all are."""
        if not self._pending:
            proceed()
            return
        with self._lock:
            if not self._is_ready(name):
                self._waiting.append((name, proceed))
                return
        proceed()

    def _is_ready(self, name: str | None) -> bool:
        known = None if name is None else self._tools.get(name)
        return not self._pending if known is None else known[1].load not in self._pending

    def find(self, name: str) -> Tool | None:
        found = self._tools.get(name)
        return None if found is None else found[0]

    def listing(self) -> tuple[list[dict[str, Any]], list[str], list[str]]:
        """The tools' definitions, in the order of the files, a line for each file that has a problem, and
        one for each warning."""
        with self._lock:
            self._listed = True
            tools = [tool.definition for tool, _ in self._tools.values()]
            return tools, self._lines(), self._warnings()

    def close(self) -> None:
        """Run every `destroy()`, side by side, within the time that one may take."""
        with self._lock:
            versions = [file.version for file in self._files.values() if file.version is not None]
        threads = [
            threading.Thread(target=version.destroy, args=(self._loops,), daemon=True) for version in versions
        ]
        deadline = time.monotonic() + DESTROY_SECONDS
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _follow(self, stamps: dict[str, Stamp]) -> None:
        changed = {
            name for name in stamps.keys() | self._stamps.keys() if stamps.get(name) != self._stamps.get(name)
        }
        modules = {module_name(name) for name in changed}
        touched = self._modules.touched_by(modules)
        self._stamps = self._modules.files = stamps
        loads: list[Load] = []
        for name in sorted(_tool_files(stamps) | self._files.keys()):
            file = self._files.setdefault(name, ToolFile(name))
            # What a file imports is known once it is loaded; until then it may import anything.
            again = file.imports & touched or isinstance(file.problem, RepeatedName)
            if name in changed or again or file.load in self._pending:
                self._pending -= {file.load}
                file.load = Load(file, gone=name not in stamps)
                loads.append(file.load)
        loads.sort(key=lambda load: not load.gone)  # what is gone frees its names first
        self._pending.update(loads)
        threading.Thread(target=self._load_all, args=(loads, modules), daemon=True).start()

    def _load_all(self, loads: list[Load], modules: set[str]) -> None:
        started: list[tuple[Load, threading.Thread, float]] = []
        # One batch after the other: a later one must not find the helpers that an earlier one imports.
        with self._turn:
            self._modules.forget(self._modules.touched_by(modules))
            for load in loads:
                thread = threading.Thread(target=self._load, args=(load,), daemon=True)
                thread.start()
                started.append((load, thread, time.monotonic() + self._import_seconds))
                thread.join(min(QUICK_SECONDS, self._import_seconds))
        for load, thread, deadline in started:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                self._settle(load, load.file.version, ImportHangs(self._import_seconds))
        if not loads:
            self._say_and_tell()

    def _load(self, load: Load) -> None:
        # In Python 3.9 a lock or queue made at a file's top belongs to the loop of its thread.
        asyncio.set_event_loop(self._loops.current.events)
        file = load.file
        if file.load is not load:  # saved again before its turn came
            return
        version = None
        # Deleted since it was seen: the next look at the folder would say so.
        load.gone = load.gone or not os.path.lexists(os.path.join(self._folder, file.name))
        try:
            if not load.gone:
                source = Source(self._folder, file.name)
                file.imports = source.imports
                self._modules.begin_load(source)
                version = Version(source, file.name, self._judge)
        except Problem as problem:
            if isinstance(problem, Unsafe) and file.version is not None:
                file.version.destroy(self._loops)
                self._settle(load, None, problem)
            else:
                self._settle(load, file.version, problem)
            return
        except Exception as error:  # an object in the file that cannot even be looked at
            self._settle(load, file.version, import_failed(error, file.name))
            return
        if file.load is not load:  # saved again meanwhile
            if version is not None:
                version.destroy(self._loops)
            return
        if version is not None and (repeated := self._repeats(file, version)) is not None:
            version.destroy(self._loops)
            version.forget()
            self._settle(load, file.version, repeated)
            return
        if file.version is not None:
            file.version.destroy(self._loops)
        self._settle(load, version, None)

    def _repeats(self, file: ToolFile, version: Version) -> RepeatedName | None:
        """Where a save wants a name that another file has, and would cost the file the tools that it offers.

        A file that is on its way itself may be about to give the name away.
        """
        with self._lock:
            if file.version is None or file.name in self._repeated:
                return None
            for tool in version.tools:
                owner = self._tools[tool.name][1] if tool.name in self._tools else file
                if owner is not file and owner.load not in self._pending:
                    return RepeatedName(tool.name, owner.name)
            return None

    def _settle(self, load: Load, version: Version | None, problem: Problem | None) -> None:
        """The end of a load. One that comes after its time limit is welcome all the same."""
        file = load.file
        with self._lock:
            if file.load is load:
                if file.version is not None and file.version is not version:
                    file.version.forget()
                file.version = version
                file.problem = problem
                if load.gone:
                    del self._files[file.name]
                self._index()
            self._pending.discard(load)
            ready = [proceed for name, proceed in self._waiting if self._is_ready(name)]
            self._waiting = [waiting for waiting in self._waiting if not self._is_ready(waiting[0])]
        self._say_and_tell()
        for proceed in ready:
            proceed()

    def _index(self) -> None:
        """Who answers to which name: the first file, by name, that wants it. The later file is skipped."""
        tools: dict[str, tuple[Tool, ToolFile]] = {}
        self._repeated = {}
        for name in sorted(self._files):
            file = self._files[name]
            offered = file.version.tools if file.version is not None else []
            taken = next((tool.name for tool in offered if tool.name in tools), None)
            if taken is not None:
                self._repeated[name] = RepeatedName(taken, tools[taken][1].name)
                continue
            for tool in offered:
                tools[tool.name] = (tool, file)
        self._tools = tools

    def _lines(self) -> list[str]:
        if self._folder_problem is not None:
            return [f"{self._folder}: refused: {self._folder_problem}"]
        lines: list[str] = []
        for name in sorted(self._files):
            line = self._files[name].line()
            if line is None and name in self._repeated:
                line = f"{name}: skipped: {self._repeated[name]}"
            if line is not None:
                lines.append(line)
        return lines

    def _warnings(self) -> list[str]:
        lines: list[str] = []
        for name in sorted(self._files):
            version = self._files[name].version
            lines += [f"{name}: {line}" for line in version.warnings] if version is not None else []
        return lines

    def _say_and_tell(self) -> None:
        with self._lock:
            lines = [*self._lines(), *self._warnings()]
            new = [line for line in lines if line not in self._said]
            self._said = set(lines)
            tell, self._listed = self._listed, False
        for line in new:
            say(line)
        if tell:
            self._changed()


def _tool_files(stamps: dict[str, Stamp]) -> set[str]:
    return {name for name in stamps if not name.startswith("_")}
