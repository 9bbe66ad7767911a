"""The load client over pipes: requests made beforehand, answers counted by their newlines and not read.

Each answer is taken for that of the oldest request under way; with several under way, a server that answers
out of order shows the right mean and rate, and latencies that are a little too even.
"""

from __future__ import annotations

import itertools
import json
import os
import select
from collections import deque
from collections.abc import Iterator
from time import perf_counter, perf_counter_ns
from typing import Any, Protocol

from .process import Process
from .sample import Sample, time_limit

PATIENCE = 60.0
MOST_BUFFERS = 512


class Calls(Protocol):
    """How a target wants to be called."""

    def request(self, id: int, text: str) -> bytes:
        """A whole line; the text is its last part but for closing brackets."""
        ...


class Pipes:
    """A conversation with a process over its standard input and output."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._to = process.input
        self._from = process.output
        self._rest = b""
        self._ids = itertools.count(1)
        self._buffer = bytearray(1 << 20)
        self.answered = 0.0
        """When the last answer to `ask` had come in whole; what it says was read after that."""
        os.set_blocking(self._to, False)

    # The opening words, which are not measured call by call

    def ask(self, method: str, params: object) -> Any:
        """The result of a request, decoded."""
        return self.result(self.begin(method, params))

    def begin(self, method: str, params: object) -> int:
        """A request without waiting; `result` takes the id that this returns."""
        id = next(self._ids)
        self._say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def result(self, id: int) -> Any:
        with time_limit(PATIENCE, "an answer"):
            while True:
                line = self._line()
                self.answered = perf_counter()
                message = json.loads(line)
                if message.get("id") == id and "method" not in message:
                    break
        if "error" in message:
            raise RuntimeError(f"an error for an answer: {message['error']}")
        return message["result"]

    def tell(self, method: str) -> None:
        self._say({"jsonrpc": "2.0", "method": method})

    def _say(self, message: object) -> None:
        self._write([memoryview(json.dumps(message).encode() + b"\n")])

    def _line(self) -> bytes:
        chunks = [self._rest]
        while b"\n" not in chunks[-1]:
            chunks.append(os.read(self._from, 1 << 20))
            if not chunks[-1]:
                raise EOFError(f"it has ended: {self.process.last_words}")
        end, _, self._rest = chunks.pop().partition(b"\n")
        return b"".join([*chunks, end])

    def _write(self, views: list[memoryview]) -> None:
        while views:
            select.select([], [self._to], [])
            views = _after(views, os.writev(self._to, views[:MOST_BUFFERS]))

    # The measured calls

    def check(self, calls: Calls, text: str) -> None:
        """One call whose answer is read: a target that answers something else is not measured."""
        self._write([memoryview(calls.request(1, text))])
        with time_limit(PATIENCE, "a call"):
            message = json.loads(self._line())
        got = message.get("result", {}).get("content", [{}])[0].get("text")
        if got != text:
            raise RuntimeError(f"not an echo: {json.dumps(message)[:300]}")

    def measure(self, calls: Calls, text: str, in_flight: int, seconds: float) -> Sample:
        """Keep `in_flight` calls under way for so long, and wait for the last of them."""
        requests = _requests(calls, text, in_flight)
        with time_limit(PATIENCE + seconds, f"{in_flight} in flight, {len(text)} bytes"):
            cpu = self.process.cpu()
            sample = self._run(requests, in_flight, int(seconds * 1e9))
            sample.cpu = self.process.cpu() - cpu
        if select.select([self._from], [], [], 0)[0]:
            raise RuntimeError(f"more lines than requests: {os.read(self._from, 300)!r}")
        return sample

    def _run(self, requests: Iterator[tuple[bytes, bytes]], in_flight: int, duration: int) -> Sample:
        sample = Sample()
        began = now = perf_counter_ns()
        end = began + duration
        under_way: deque[int] = deque()
        unsent: list[memoryview] = []
        free = in_flight
        while True:
            if free and now < end:
                batch = list(itertools.chain.from_iterable(itertools.islice(requests, free)))
                now = perf_counter_ns()
                under_way.extend([now] * free)
                if unsent:
                    unsent += map(memoryview, batch)
                else:
                    unsent = self._try_to_write(batch)
            if not under_way:
                break
            while unsent:
                readable, writable, _ = select.select([self._from], [self._to], [])
                if writable:
                    unsent = _after(unsent, os.writev(self._to, unsent[:MOST_BUFFERS]))
                if readable:
                    break
            free = self._answers()
            now = perf_counter_ns()
            for _ in range(free):
                sample.latencies.append(now - under_way.popleft())
        sample.elapsed = now - began
        return sample

    def _try_to_write(self, batch: list[bytes]) -> list[memoryview]:
        try:
            written = os.writev(self._to, batch)
        except BlockingIOError:
            written = 0
        total = sum(map(len, batch))
        return _after([memoryview(part) for part in batch], written) if written < total else []

    def _answers(self) -> int:
        """How many lines came to an end with the next read."""
        count = os.readv(self._from, (self._buffer,))
        if not count:
            raise EOFError(f"it has ended: {self.process.last_words}")
        return self._buffer.count(b"\n", 0, count)


def _requests(calls: Calls, text: str, in_flight: int) -> Iterator[tuple[bytes, bytes]]:
    """For ever: requests with ids that differ from all under way, sharing the bytes of their text."""
    lines = [calls.request(id, text) for id in range(1000, 1000 + 2 * in_flight)]
    tail = lines[0][lines[0].index(text.encode()) :]
    return itertools.cycle([(line[: -len(tail)], tail) for line in lines])


def _after(views: list[memoryview], written: int) -> list[memoryview]:
    """What is left to write."""
    for position, view in enumerate(views):
        if written < len(view):
            return [view[written:], *views[position + 1 :]]
        written -= len(view)
    return []
