"""One loaded state of a tool file: its module, its tools, and its `destroy()`."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from typing import Any

from .forms import Judge, Tool, is_async, tools_of
from .imports import Source, run
from .loops import Loops
from .results import message_of
from .says import say

DESTROY_SECONDS = 1.5


class Version:
    def __init__(self, source: Source, file: str, judge: Judge) -> None:
        """Import the file and collect its tools. Raises Problem; may take as long as the file likes."""
        self.file = file
        self.module = run(source, file)
        self.tools: list[Tool] = []
        self.warnings: list[str] = []
        self._destroyed = False
        try:
            self.tools = tools_of(self.module, file, self.warnings.append, judge)
        except BaseException:
            self.forget()
            raise

    def forget(self) -> None:
        """Calls in flight keep the module alive; nobody else needs to find it any more."""
        sys.modules.pop(self.module.__name__, None)

    def destroy(self, loops: Loops, seconds: float = DESTROY_SECONDS) -> None:
        """Run the file's `destroy()` once; it may fail or hang, which is said and then left behind."""
        function = getattr(self.module, "destroy", None)
        if not callable(function) or self._destroyed:
            return
        self._destroyed = True
        done = threading.Event()

        async def on_loop(begun: Any) -> None:
            try:
                await begun
            except BaseException as error:
                self._warn(f"destroy() failed: {message_of(error)}")
            finally:
                done.set()

        def in_thread() -> None:
            try:
                begun = function()
            except BaseException as error:
                self._warn(f"destroy() failed: {message_of(error)}")
                done.set()
                return
            if isinstance(begun, (Coroutine, asyncio.Future)):
                loops.spawn(lambda: on_loop(begun))  # pyright: ignore[reportUnknownArgumentType]
            else:
                done.set()

        if is_async(function):
            loops.spawn(lambda: on_loop(function()))
        else:
            threading.Thread(target=in_thread, daemon=True).start()
        if not done.wait(seconds):
            self._warn(f"destroy() takes longer than {seconds:g} seconds; going on without it")

    def _warn(self, text: str) -> None:
        say(f"{self.file}: {text}")
