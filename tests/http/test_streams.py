"""Events that wait for their reader: how they are written, and how much of them is kept."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp_workbench.http.request import Request
from mcp_workbench.http.streams import MOST_BYTES, Stream


class Reader:
    """A client at the other end of an ASGI server that is no more than two queues."""

    def __init__(self) -> None:
        self.heard = b""
        self.done = False
        self._left = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()
        scope = {"method": "GET", "path": "/mcp", "headers": [], "server": ("127.0.0.1", 1)}
        self.request = Request(scope, self._receive, self._send)

    def leave(self) -> None:
        self._left.set()

    async def _receive(self) -> Any:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.takes.wait()
        if self._left.is_set():
            return
        self.heard += message.get("body", b"")
        self.done |= message["type"] == "http.response.body" and not message["more_body"]


def test_an_event_is_one_line_whatever_space_its_json_has() -> None:
    async def run() -> None:
        stream, reader = Stream(), Reader()
        stream.put(b'{\n "a":\r\n', b'"x"}', b"\n")
        stream.end()
        assert await stream.feed(reader.request)
        assert reader.heard == b'event: message\ndata: {  "a":  "x"}\n\n'
        assert reader.done

    asyncio.run(run())


def test_events_of_a_numbered_stream_have_ids_and_can_be_read_from_any_of_them_on() -> None:
    async def run() -> None:
        stream = Stream(3)
        stream.prime()
        stream.put(b"1")
        stream.put(b"2")
        stream.end()
        for after, expected in ((0, 3), (1, 2), (2, 1), (3, 0), (99, 0)):
            reader = Reader()
            assert await stream.feed(reader.request, after)
            assert reader.heard.count(b"id: 3-") == expected
            assert reader.done

    asyncio.run(run())


def test_a_stream_keeps_its_newest_events_and_the_last_whatever_its_size() -> None:
    async def run() -> None:
        stream = Stream(1)
        for number in range(40):
            stream.put(b"%d" % number, b"x" * (MOST_BYTES // 10))
        stream.put(b"last", b"x" * 2 * MOST_BYTES)
        stream.end()
        reader = Reader()
        await stream.feed(reader.request, 0)
        assert reader.heard.count(b"id: ") == 1
        assert b"data: last" in reader.heard

    asyncio.run(run())


def test_events_that_cannot_be_asked_for_again_are_forgotten_once_they_are_read() -> None:
    async def run() -> None:
        stream, reader = Stream(), Reader()
        feeding = asyncio.create_task(stream.feed(reader.request))
        for number in range(1000):
            stream.put(b"%d" % number)
            if number % 100 == 0:
                await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert stream.size == 0
        stream.end()
        assert await asyncio.wait_for(feeding, 1)
        assert reader.heard.count(b"data: ") == 1000

    asyncio.run(run())


def test_a_later_reader_takes_over_from_an_earlier_one() -> None:
    async def run() -> None:
        stream = Stream(0)
        first, second = Reader(), Reader()
        feeding = asyncio.create_task(stream.feed(first.request))
        await asyncio.sleep(0)
        stream.put(b"one")
        await asyncio.sleep(0.01)
        then = asyncio.create_task(stream.feed(second.request))
        assert not await asyncio.wait_for(feeding, 1)
        stream.put(b"two")
        stream.end()
        assert await asyncio.wait_for(then, 1)
        assert (first.heard.count(b"data"), second.heard.count(b"data")) == (1, 1)

    asyncio.run(run())


def test_a_reader_that_leaves_ends_the_reading_and_not_the_stream() -> None:
    async def run() -> None:
        stream, reader = Stream(0), Reader()
        feeding = asyncio.create_task(stream.feed(reader.request))
        await asyncio.sleep(0.01)
        assert stream.read
        reader.leave()
        assert not await asyncio.wait_for(feeding, 1)
        assert not stream.read
        assert not stream.ended
        stream.put(b"kept")
        assert stream.waiting

    asyncio.run(run())


def test_what_is_written_to_a_client_that_is_gone_still_waits_for_it() -> None:
    async def run() -> None:
        stream, reader = Stream(1), Reader()
        feeding = asyncio.create_task(stream.feed(reader.request))
        await asyncio.sleep(0.01)
        reader.takes.clear()
        stream.put(b"one")
        stream.put(b"two")
        stream.end()
        await asyncio.sleep(0.01)
        reader.leave()
        reader.takes.set()
        assert not await asyncio.wait_for(feeding, 1)
        assert stream.waiting
        again = Reader()
        assert await asyncio.wait_for(stream.feed(again.request), 1)
        assert again.heard.count(b"data: ") == 2

    asyncio.run(run())
