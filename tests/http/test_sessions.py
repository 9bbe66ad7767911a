"""How long sessions last, how many there are, and that what they needed is given back."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mcp_workbench.endpoint.question import Client
from mcp_workbench.http.callers import ANYONE, Caller
from mcp_workbench.http.request import Refused
from mcp_workbench.http.sessions import COME_BACK, IDLE, MOST, MOST_BYTES, MOST_TOLD, Session, Sessions
from mcp_workbench.http.streams import Stream

from .conftest import Serve
from .served import Served, use
from .test_connections import resident

CLIENT = Client("c", "2025-11-25")


def in_a_loop(test: Callable[[Sessions], None]) -> None:
    async def run() -> None:
        test(Sessions(on_end=lambda _: None))

    asyncio.run(run())


def test_a_session_that_is_not_used_for_half_an_hour_ends() -> None:
    def test(sessions: Sessions) -> None:
        old, young, busy = (sessions.start(CLIENT, ANYONE) for _ in range(3))
        old.used -= IDLE + 1
        busy.used -= IDLE + 1
        busy.requests = 1
        young.used -= IDLE - 60
        sessions.sweep()
        with pytest.raises(Refused) as refusal:
            sessions.find(old.id, ANYONE)
        assert refusal.value.status == 404
        assert sessions.find(young.id, ANYONE) is young
        assert sessions.find(busy.id, ANYONE) is busy
        assert old.own.ended

    in_a_loop(test)


def test_the_longest_unused_session_makes_room_for_a_new_one() -> None:
    def test(sessions: Sessions) -> None:
        all_of_them = [sessions.start(CLIENT, ANYONE) for _ in range(MOST)]
        all_of_them[0].requests = 1
        sessions.find(all_of_them[1].id, ANYONE)
        sessions.start(CLIENT, ANYONE)
        assert len(sessions) == MOST
        assert sessions.find(all_of_them[0].id, ANYONE)
        assert sessions.find(all_of_them[1].id, ANYONE)
        with pytest.raises(Refused):
            sessions.find(all_of_them[2].id, ANYONE)

    in_a_loop(test)


def test_where_every_session_is_in_use_there_is_no_room() -> None:
    def test(sessions: Sessions) -> None:
        for _ in range(MOST):
            sessions.start(CLIENT, ANYONE).requests = 1
        with pytest.raises(Refused) as refusal:
            sessions.start(CLIENT, ANYONE)
        assert refusal.value.status == 503

    in_a_loop(test)


def test_nobody_finds_the_session_of_somebody_else() -> None:
    def test(sessions: Sessions) -> None:
        session = sessions.start(CLIENT, Caller("alice"))
        for other in (ANYONE, Caller("bob"), Caller("alice", issuer="https://id.example")):
            with pytest.raises(Refused) as refusal:
                sessions.find(session.id, other)
            assert refusal.value.status == 404

    in_a_loop(test)


def kept(session: Session) -> list[int]:
    found: list[int] = []
    for number in range(1, 100):
        try:
            session.resume(f"{number}-1")
        except Refused:
            continue
        found.append(number)
    return found


def ended(session: Session, *, told: bool = False, answer: bytes = b"answer") -> Stream:
    """A stream of its client's that has ended, and has been read or not."""
    stream = session.new_stream()
    session.keep(stream)
    stream.put(answer)
    stream.end()
    if told:
        stream._delivered = stream._last  # pyright: ignore[reportPrivateUsage]
        session.told(stream)
    return stream


def test_a_session_keeps_the_last_streams_that_were_read_and_all_that_were_not_for_a_while() -> None:
    def test(sessions: Sessions) -> None:
        session = sessions.start(CLIENT, ANYONE)
        lost = [ended(session).number for _ in range(MOST_TOLD + 10)]
        read = [ended(session, told=True).number for _ in range(MOST_TOLD + 10)]
        assert kept(session) == lost + read[-MOST_TOLD:]
        for number in kept(session):
            session.resume(f"{number}-1")[0].left -= COME_BACK + 1
        sessions.sweep()
        assert kept(session) == []

    in_a_loop(test)


def test_where_all_sessions_together_keep_too_much_the_longest_unused_give_way() -> None:
    def test(sessions: Sessions) -> None:
        all_of_them = [sessions.start(CLIENT, ANYONE) for _ in range(3)]
        for session in all_of_them:
            ended(session, answer=b"x" * (MOST_BYTES // 2 - 20_000))
        sessions.sweep()
        assert [kept(session) for session in all_of_them] == [[], [1], [1]]

    in_a_loop(test)


def test_what_was_read_gives_way_before_what_was_not() -> None:
    def test(sessions: Sessions) -> None:
        lost, read = (sessions.start(CLIENT, ANYONE) for _ in range(2))
        ended(lost, answer=b"x" * (MOST_BYTES // 2))
        ended(read, answer=b"x" * (MOST_BYTES // 2), told=True)
        sessions.sweep()
        assert [kept(session) for session in (lost, read)] == [[1], []]

    in_a_loop(test)


def test_many_small_streams_that_nobody_comes_back_for_are_bounded_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp_workbench.http.sessions.MOST_BYTES", 1 << 20)

    def test(sessions: Sessions) -> None:
        session = sessions.start(CLIENT, ANYONE)
        for _ in range(1000):
            ended(session)
        sessions.sweep()
        assert kept(session) == []

    in_a_loop(test)


def test_an_unused_session_ends_by_itself_and_one_with_an_open_stream_does_not(serve: Serve) -> None:
    served = serve(patience={"sessions.IDLE": 1.0, "serving.SWEEP": 0.1})
    listening, idle = served.session(), served.session()
    live = listening.listen()
    live.event()
    time.sleep(1.5)
    assert idle.ask("ping").status == 404
    assert listening.ask("ping").status == 200
    live.close()


def test_five_hundred_abandoned_sessions_disturb_nobody(serve: Serve) -> None:
    served = serve()
    served.open("dev")
    warm = [served.session() for _ in range(20)]
    before = resident(served)

    def abandon(number: int) -> None:
        session = served.session()
        if number % 5 == 0:
            live = session.listen()
            live.event()
            live.close()
        elif number % 5 == 1:
            params = use("dev/echo/progress", {"steps": 3, "pause": 0.05}, progressToken=number)
            live = session.stream("tools/call", params)
            live.event()
            live.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(abandon, range(500), timeout=60))
    assert open_sessions(served) == 520
    assert served.use("dev/echo/echo", {"still": "here"})["content"]
    assert warm[0].ask("ping").status == 200
    assert resident(served) - before < 32 * 2**20
    for session in warm:
        session.end()
    assert open_sessions(served) == 500


def open_sessions(served: Served) -> int:
    text = served.request("GET", "/metrics").body.decode()
    found = re.search(r"^mcp_workbench_http_sessions (\d+)$", text, re.MULTILINE)
    assert found is not None
    return int(found[1])
