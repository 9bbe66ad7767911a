"""Lines in and lines out of a file descriptor, without blocking. What a line means is for others.

A reader copies each byte once, however many reads a line took; a writer hands the caller's own buffers to the
kernel and keeps only what the kernel would not take.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import termios
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Raw

from . import memory
from .turn import turn

Piece: TypeAlias = bytes | Raw
"""A part of a line, as it goes to the kernel."""

Pieces: TypeAlias = bytes | Sequence[Piece]
"""A line on its way out, with its newline: whole, or in pieces that it would cost more to put together."""

Line: TypeAlias = bytes | bytearray
"""A line as it came; nobody else changes it."""

PIPE_SIZE = 1 << 20
"""Asked of the kernel for every pipe: a megabyte result then costs one wake-up and not sixteen."""

_MOST_BUFFERS = 512  # below every system's IOV_MAX
_MOST_HELD = 6
"""Lines that it is cheaper to send together: of more, whoever gets the first can be at work meanwhile.
Measured with 16 calls in flight on two cores: a fifth more calls.
"""

_JOINED = 1 << 16
"""Bytes up to which it is cheaper to put pieces together than to name each of them to the kernel."""

_LITTLE = 448
_USUAL = 1 << 16
"""Bytes asked for at a time, and more of them when so many came. Room has to be found for all that is asked
for: Python has it at hand up to half a KiB; beyond that the C library is asked, and then the kernel.
"""


def widen(fd: int) -> None:
    """Raise a pipe's capacity where the system can; a smaller one is only slower."""
    set_size = getattr(fcntl, "F_SETPIPE_SZ", None)
    if set_size is not None:
        try:
            fcntl.fcntl(fd, set_size, PIPE_SIZE)
        except OSError:
            return  # not a pipe, or over the user's share


def _no_shortcut(line: Line) -> bool:
    return False


class LineReader:
    """Calls `on_line` for each line, without its newline, and `on_end` once when there are no more.

    `shortcut` is shown every whole line first, and says whether that was all there is to do about it. A line
    longer than `max_line` is dropped as it comes in, and `on_overlong` is called for it.
    """

    def __init__(
        self,
        fd: int,
        *,
        on_line: Callable[[Line], None],
        on_end: Callable[[], None],
        on_overlong: Callable[[], None],
        max_line: int,
        shortcut: Callable[[Line], bool] = _no_shortcut,
    ) -> None:
        self._fd = fd
        self._on_line = on_line
        self._shortcut = shortcut
        self._on_end = on_end
        self._on_overlong = on_overlong
        self._max_line = max_line
        self._max_chunk = max_line + len(b"\n")
        self._loop = asyncio.get_running_loop()
        # Grown in place as a long line comes in: put together at its end, 50 MB would hold up everybody.
        self._begun = bytearray()
        self._skipping = False
        self._room = _LITTLE
        self._reading = False
        self._closed = False
        self.resume()

    def resume(self) -> None:
        if not self._reading and not self._closed:
            self._reading = True
            self._loop.add_reader(self._fd, self._readable)

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def close(self) -> None:
        """Stop reading and close the descriptor; `on_end` is not called."""
        if not self._closed:
            self.pause()
            self._closed = True
            self._begun = bytearray()
            os.close(self._fd)

    def _readable(self) -> None:
        # One read to a wake-up: the descriptor need not be non-blocking (a terminal's flags are shared
        # with its shell), and one busy peer cannot keep the others waiting.
        try:
            chunk = os.read(self._fd, self._room)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # a terminal that went away gives EIO
            chunk = b""
        size = len(chunk)
        line, newline, rest = chunk.partition(b"\n")
        if newline and not (rest or self._begun or self._skipping):  # one line and nothing else
            # As `_handle` does it, written out: this is how most lines come, and it is a step less for each.
            if size < _LITTLE:
                self._room = _LITTLE
            else:
                self._make_room(size)
            try:
                if size > self._max_chunk:
                    self._on_overlong()
                elif not self._shortcut(line):
                    self._on_line(line)
            except Exception as error:
                self._mistaken(error)
            return
        if not chunk:
            self._end()
            return
        self._make_room(size)
        if not newline:
            self._keep(chunk)
            return
        turn.lasts = True
        try:
            self._handle_all(line, rest)
        finally:
            turn.end()

    def _make_room(self, size: int) -> None:
        """So much came at a time."""
        if size < _USUAL:
            self._room = _USUAL
        else:
            self._room = PIPE_SIZE
            memory.keep_freed()

    def begin_with(self, chunk: bytes) -> None:
        """Handle what somebody else has read from the descriptor, before anything that is still in it."""
        line, newline, rest = chunk.partition(b"\n")
        if newline:
            self._handle_all(line, rest)
        else:
            self._keep(chunk)

    def _handle_all(self, end: bytes, rest: bytes) -> None:
        """A line that may have begun before, and all that comes behind its newline."""
        # Only the rest is split: that looks at every byte by itself, and the end of a line can be long.
        lines: list[Line] = [end, *rest.split(b"\n")]
        if self._skipping:
            self._skipping = False
            del lines[0]
        elif self._begun:
            self._begun += end
            lines[0], self._begun = self._begun, bytearray()
        unfinished = lines.pop()
        for line in lines:
            if self._closed:
                return
            self._handle(line)
        if unfinished and not self._closed:
            self._keep(unfinished)

    def _handle(self, line: Line) -> None:
        try:
            if len(line) > self._max_line:
                self._on_overlong()
            elif not self._shortcut(line):
                self._on_line(line)
        except Exception as error:
            self._mistaken(error)

    def _mistaken(self, error: Exception) -> None:
        """A mistake of ours; the lines behind this one are not to blame."""
        self._loop.call_exception_handler({"message": "a line was not handled", "exception": error})

    def _keep(self, chunk: Line) -> None:
        if self._skipping:
            return
        self._begun += chunk
        if len(self._begun) > self._max_line:
            self._skipping = True
            self._begun = bytearray()
            self._on_overlong()

    def _end(self) -> None:
        self.pause()
        rest, self._begun = self._begun, bytearray()
        if rest:  # `printf '{…}' | mcp-workbench` has no last newline
            self._on_line(rest)
        self._on_end()


def _pieces(line: Pieces) -> Sequence[Piece]:
    return (line,) if isinstance(line, bytes) else line


def _gathered(pieces: Sequence[Piece]) -> tuple[bytes, Sequence[Piece]]:
    """As a whole, or as they are; the other one is empty."""
    return (b"".join(pieces), ()) if sum(map(len, pieces)) <= _JOINED else (b"", pieces)


class LineWriter:
    """Writes in order and never blocks; what does not fit is queued.

    `on_full` is called when more than `high` bytes wait and `on_drained` when none do. After the other
    end went away, `on_broken` is called once and everything written is dropped.
    """

    def __init__(
        self,
        fd: int,
        *,
        on_full: Callable[[], None],
        on_drained: Callable[[], None],
        on_broken: Callable[[], None],
        high: int = 4 * PIPE_SIZE,
    ) -> None:
        self._fd = fd
        self._on_full = on_full
        self._on_drained = on_drained
        self._on_broken = on_broken
        self._high = high
        self._loop = asyncio.get_running_loop()
        self._queue: deque[memoryview] = deque()
        self._held: list[Piece] = []
        self._held_lines = 0
        self._full = False
        self._closed = False
        self._drained: asyncio.Future[None] | None = None
        self.waiting = 0
        self.written = 0
        """Bytes in all that were given to `write`, whether the kernel has them yet or not."""
        self._taken: int | None = None
        os.set_blocking(fd, False)

    def write(self, line: Pieces, soon: bool = False) -> None:
        """Write one line; its pieces must not change afterwards.

        With `soon`, it goes out together with what else is written before the loop's next turn.
        """
        if self._closed:
            return
        if turn.lasts or soon or self._held:
            if not self._held:
                if turn.lasts:
                    turn.send_then(self.let_go)
                else:
                    self._loop.call_soon(self.let_go)
            self._held += _pieces(line)
            self._held_lines += 1
            if self._held_lines >= _MOST_HELD:
                self.let_go()
        elif self._queue:
            self._enqueue(_pieces(line), 0)
        else:
            self._write(line)

    def let_go(self) -> None:
        """Send what was held back."""
        if not self._held:
            return
        turn.record()
        held, self._held, self._held_lines = self._held, [], 0
        if self._closed:
            return
        if self._queue or len(held) > _MOST_BUFFERS:
            self._enqueue(held, 0)
        else:
            self._write(held)

    def _write(self, line: Pieces) -> None:
        if isinstance(line, bytes):
            whole, pieces = line, ()
        else:
            whole, pieces = _gathered(line)
        size = len(whole) or sum(map(len, pieces))
        try:
            written = os.writev(self._fd, pieces) if pieces else os.write(self._fd, whole)
        except (BlockingIOError, InterruptedError):
            written = 0
        except OSError:
            self._break()
            return
        if written == size:
            self.written += size
        else:
            self._enqueue(_pieces(line), written)

    def taken(self) -> int:
        """Bytes that the other end has read from its pipe; all of them where the system does not tell."""
        if self._taken is not None:
            return self._taken
        try:
            left = fcntl.ioctl(self._fd, termios.FIONREAD, bytes(4))
        except OSError:
            return self.written
        return self.written - self.waiting - int.from_bytes(left, sys.byteorder)

    async def drain(self) -> None:
        """Until nothing waits any more, or nothing can be written."""
        if self._held:
            self.let_go()
        if self._queue and not self._closed:
            if self._drained is None:
                self._drained = self._loop.create_future()
            await self._drained

    def close(self) -> None:
        self.let_go()
        if not self._closed:
            self._stop()
            os.close(self._fd)

    def _enqueue(self, parts: Sequence[Piece], written: int) -> None:
        """Keep what was not written."""
        self.written += sum(map(len, parts))
        idle = not self._queue
        for part in parts:
            view = memoryview(part)
            if written >= view.nbytes:
                written -= view.nbytes
                continue
            self._queue.append(view[written:])
            self.waiting += view.nbytes - written
            written = 0
        if idle:
            self._loop.add_writer(self._fd, self._writable)
        if self.waiting > self._high and not self._full:
            self._full = True
            self._on_full()

    def _writable(self) -> None:
        batch = [self._queue[i] for i in range(min(len(self._queue), _MOST_BUFFERS))]
        try:
            written = os.writev(self._fd, batch)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._break()
            return
        self.waiting -= written
        while written:
            first = self._queue[0]
            if first.nbytes > written:
                self._queue[0] = first[written:]
                break
            written -= first.nbytes
            self._queue.popleft()
        if not self._queue:
            self._loop.remove_writer(self._fd)
            self._tell_drained()
            if self._full:
                self._full = False
                self._on_drained()

    def _tell_drained(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def _stop(self) -> None:
        self._taken = self.taken()
        if self._queue:
            self._loop.remove_writer(self._fd)
        self._closed = True
        self._queue.clear()
        self.waiting = 0
        self._tell_drained()

    def _break(self) -> None:
        self._stop()
        os.close(self._fd)
        self._on_broken()
