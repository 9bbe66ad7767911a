"""Two peers joined by real pipes: replies find their requests, whatever else comes along."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Raw

from mcp_workbench.errors import RpcError
from mcp_workbench.wire.peer import Peer, PeerClosed, Request


class Silent:
    """A receiver that remembers what it was told."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.notifications: list[tuple[str, bytes]] = []
        self.junk: list[bytes] = []
        self.closed = asyncio.Event()

    def on_request(self, peer: Peer, request: Request) -> None:
        self.requests.append(request)

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        self.notifications.append((method, bytes(params)))

    def on_junk(self, peer: Peer, line: bytes, problem: ValueError) -> None:
        self.junk.append(line)

    def on_overlong(self, peer: Peer) -> None:
        self.junk.append(b"(overlong)")

    def on_closed(self, peer: Peer) -> None:
        self.closed.set()


class OtherEnd:
    """The far side of a peer, in plain bytes."""

    def __init__(self) -> None:
        self.receiver = Silent()
        self._reads, theirs = os.pipe()
        ours, self._writes = os.pipe()
        self.peer = Peer(ours, theirs, self.receiver, max_line=10_000)

    async def next(self) -> Any:
        """The next message that the peer wrote."""
        line = await asyncio.to_thread(self._read_line)
        return json.loads(line)

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self._reads, 1)
        return line

    def say(self, message: object) -> None:
        self.say_bytes(json.dumps(message).encode() + b"\n")

    def say_bytes(self, data: bytes) -> None:
        os.write(self._writes, data)

    def hang_up(self) -> None:
        os.close(self._writes)


def with_peer(work: Callable[[OtherEnd], Awaitable[None]]) -> None:
    async def main() -> None:
        other = OtherEnd()
        await asyncio.wait_for(work(other), 5)
        other.peer.close()

    asyncio.run(main())


def asking(other: OtherEnd, **options: Any) -> asyncio.Task[Raw]:
    return asyncio.create_task(other.peer.request(b'"do"', b"{}", **options))


def test_replies_find_their_requests_in_any_order() -> None:
    async def work(other: OtherEnd) -> None:
        first, second = asking(other), asking(other)
        ids = [(await other.next())["id"], (await other.next())["id"]]
        for stray in ({"id": 99, "result": 1}, {"id": str(ids[0]), "result": 1}):
            other.say(stray)
        other.say({"id": ids[1], "result": {"n": 2}})
        other.say({"id": ids[0], "result": {"n": 1}})
        other.say({"id": ids[0], "result": {"n": 3}})
        assert [bytes(await first), bytes(await second)] == [b'{"n": 1}', b'{"n": 2}']
        await asyncio.sleep(0.01)
        assert other.peer.strays == 3

    with_peer(work)


def test_replies_are_understood_in_any_words() -> None:
    replies = [
        b'{"jsonrpc":"2.0","id":%d,"result":{"n": 1}}\n',
        b'{"jsonrpc": "2.0", "id": %d, "result": {"n": 1}}\n',
        b'{"result":{"n": 1},"jsonrpc":"2.0","id":%d}\n',
        b'{"id":%d,"jsonrpc":"2.0","result":{"n": 1}}\n',
        b'{"jsonrpc":"2.0", "result":{"n": 1},"id":%d}\n',
        b'{"jsonrpc":"2.0","id":%d,"result": {"n": 1}}\n',
        b'{"jsonrpc":"2.0","id":%d,"result":{"n": 1} }\n',
        b'{"jsonrpc": "2.0", "id": %d, "result":  {"n": 1} } \n',
        b'{"result": {"n": 1},"jsonrpc":"2.0","id":%d}\n',
        b' {"result":{"n": 1},"jsonrpc":"2.0","id":%d}\n',
    ]

    async def work(other: OtherEnd) -> None:
        for turn, reply in enumerate([*replies, *reversed(replies), replies[0], *replies]):
            task = asking(other)
            other.say_bytes(b'{"jsonrpc":"2.0","method":"n","params":{"id":1,"result":2}}\n')
            line = reply % (await other.next())["id"]
            for part in (line[:9], line[9:]) if turn % 2 else (line,):
                other.say_bytes(part)
                await asyncio.sleep(0.001)
            assert bytes(await task) == b'{"n": 1}'

    with_peer(work)


def test_an_error_reply_is_raised_with_all_that_it_says() -> None:
    async def work(other: OtherEnd) -> None:
        task = asking(other)
        other.say({"id": (await other.next())["id"], "error": {"code": 7, "message": "no", "data": [1]}})
        with pytest.raises(RpcError) as caught:
            await task
        assert (caught.value.code, caught.value.message, caught.value.data) == (7, "no", b"[1]")

    with_peer(work)


@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize(
    "line",
    [
        b'%d,"result":{"x":"?"}}\n',
        b'%d, "result": {"x":"?"}}\n',
        b'{"x":"?"},"jsonrpc":"2.0","id":%d}\n',
        b'{"method":"ping","params":{"x":"?"},"jsonrpc":"2.0","id":%d}\n',
    ],
)
def test_what_only_has_some_words_of_a_reply_is_none(line: bytes, size: int) -> None:
    async def work(other: OtherEnd) -> None:
        task = asking(other)
        id = (await other.next())["id"]
        other.say_bytes((line % id).replace(b"?", b"x" * size))
        other.say_bytes(b'{"jsonrpc":"2.0","id":%d,"result":{"n":1}}\n' % id)
        assert bytes(await task) == b'{"n":1}'

    with_peer(work)


@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize(
    "reply",
    [
        b'{"id":%d,"result":{"x":"\xff"}}\n',
        b'{"jsonrpc":"2.0","id":%d,"result":{"x":"\xff"}}\n',
        b'{"jsonrpc":"2.0","id":%d,"result":{}]\n',
        b'{"jsonrpc": "2.0", "id": %d, "result": {}\n',
        b'{"jsonrpc":"2.0","id":%d,"result":{]}\n',
        b'{"jsonrpc":"2.0","id":%d,"result":{} \n',
        b'{"jsonrpc": "2.0", "id": %d, "result": {"x":"?"}]\n',
        b'{"jsonrpc": "2.0", "id": %d, "result": {"x":"?"}x\n',
        b'{"jsonrpc": "2.0", "id": %d, "result": {"x":"?"}\n',
    ],
)
def test_an_unreadable_reply_ends_its_request(reply: bytes, size: int) -> None:
    async def work(other: OtherEnd) -> None:
        task = asking(other)
        other.say_bytes((reply % (await other.next())["id"]).replace(b"?", b"x" * size))
        with pytest.raises(RpcError, match="unreadable"):
            await task

    with_peer(work)


def test_a_hang_up_fails_what_was_asked_and_what_is_asked_later() -> None:
    async def work(other: OtherEnd) -> None:
        task = asking(other)
        await other.next()
        other.hang_up()
        with pytest.raises(PeerClosed):
            await task
        await other.receiver.closed.wait()
        with pytest.raises(PeerClosed):
            await other.peer.request(b'"do"', b"{}")

    with_peer(work)


@pytest.mark.parametrize("cancel", [True, False])
def test_cancelling_a_request_tells_the_other_end_unless_it_would_not_understand(cancel: bool) -> None:
    async def work(other: OtherEnd) -> None:
        task = asking(other, cancel=cancel)
        id = (await other.next())["id"]
        task.cancel()
        await asyncio.wait({task})
        other.peer.notify(b'"after"', b"{}")
        said = await other.next()
        if cancel:
            assert (said["method"], said["params"]["requestId"]) == ("notifications/cancelled", id)
        else:
            assert said["method"] == "after"

    with_peer(work)


def test_progress_goes_to_whoever_asked_for_it() -> None:
    async def work(other: OtherEnd) -> None:
        told: list[bytes] = []
        id = other.peer.next_id()
        task = asking(other, id=id, on_progress=lambda params: told.append(bytes(params)))
        await other.next()
        for token in (int(id), str(int(id)), 77, None):
            other.say({"method": "notifications/progress", "params": {"progressToken": token}})
        other.say({"method": "notifications/progress", "params": [1]})
        other.say({"id": int(id), "result": {}})
        await task
        assert told == [b'{"progressToken": %b}' % id]

    with_peer(work)


def test_requests_and_notifications_reach_the_receiver_and_junk_does_too() -> None:
    async def work(other: OtherEnd) -> None:
        other.say({"id": "a", "method": "ping"})
        other.say({"method": "notifications/x", "params": {"y": 1}})
        other.say_bytes(b"junk\n\n  \n" + b"x" * 20_000 + b"\n")
        other.hang_up()
        await other.receiver.closed.wait()
        (request,) = other.receiver.requests
        request.answer(b"{}")
        assert await other.next() == {"jsonrpc": "2.0", "id": "a", "result": {}}
        assert other.receiver.notifications == [("notifications/x", b'{"y": 1}')]
        assert other.receiver.junk == [b"junk", b"(overlong)"]

    with_peer(work)


def test_a_request_of_which_nothing_was_read_is_known_when_the_other_end_goes_away() -> None:
    async def work(other: OtherEnd) -> None:
        seen = asking(other)
        await other.next()
        unseen = [asking(other) for _ in range(3)]
        await asyncio.sleep(0)
        other.hang_up()
        ends = await asyncio.gather(seen, *unseen, return_exceptions=True)
        assert [isinstance(end, PeerClosed) and end.unread for end in ends] == [False, True, True, True]

    with_peer(work)
