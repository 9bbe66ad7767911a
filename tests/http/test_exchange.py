"""Calls whose client leaves, and calls that take long."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

from mcp_workbench.http.exchange import SOON

from .conftest import ECHO, Serve
from .served import Served, use


def cancelled(served: Served) -> int:
    return len(json.loads(served.use("dev/echo/about")["content"][0]["text"])["cancelled"])


def wait_for_cancellations(served: Served, count: int, patience: float = 5.0) -> None:
    until = time.monotonic() + patience
    while cancelled(served) < count:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_modern_client_that_disconnects_cancels_its_call_downstream(served: Served) -> None:
    before = cancelled(served)
    connection = served.modern_begun("tools/call", use("dev/echo/slow", {"seconds": 60}))
    time.sleep(2 * SOON)
    connection.close()
    wait_for_cancellations(served, before + 1)


def test_a_client_that_leaves_a_stream_cancels_its_call_too(served: Served) -> None:
    before = cancelled(served)
    params = use("dev/echo/progress", {"steps": 1000, "pause": 0.05}, progressToken="t")
    live = served.modern_stream("tools/call", params)
    live.message()
    live.close()
    wait_for_cancellations(served, before + 1)


def test_an_older_client_that_disconnects_cancels_its_call_as_nobody_could_hear_the_answer(
    served: Served,
) -> None:
    before = cancelled(served)
    session = served.session("2025-06-18")
    params = use("dev/echo/progress", {"steps": 1000, "pause": 0.05}, progressToken="t")
    live = session.stream("tools/call", params)
    live.message()
    live.close()
    wait_for_cancellations(served, before + 1)


def test_a_call_whose_client_could_come_back_goes_on_until_it_is_clear_that_it_will_not(serve: Serve) -> None:
    served = serve(ECHO, patience={"sessions.COME_BACK": 1.5, "serving.SWEEP": 0.1})
    served.open("dev")
    session = served.session()
    live = session.stream("tools/call", use("dev/echo/slow", {"seconds": 60}))
    first = live.event()
    live.close()
    time.sleep(0.7)
    again = session.listen(first["id"])
    assert again.status == 200
    time.sleep(1.6)
    assert cancelled(served) == 0
    again.close()
    wait_for_cancellations(served, 1)


def test_ending_a_session_cancels_its_calls(served: Served) -> None:
    before = cancelled(served)
    session = served.session()
    live = session.stream("tools/call", use("dev/echo/slow", {"seconds": 60}))
    live.event()
    session.end()
    assert live.rest() == []
    wait_for_cancellations(served, before + 1)


def test_many_calls_of_many_clients_at_once_each_get_their_own_answer(served: Served) -> None:
    def call(number: int) -> object:
        result = served.use("dev/echo/echo", {"n": number})
        return json.loads(result["content"][0]["text"])["n"]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(call, range(200), timeout=30)) == list(range(200))


def test_a_large_answer_comes_whole_as_json_and_as_an_event(served: Served) -> None:
    size = 3_000_000
    result = served.use("dev/echo/large", {"size": size})
    assert len(result["content"][0]["text"]) == size
    answer = served.session().ask("tools/call", use("dev/echo/large", {"size": 20_000_000}))
    assert len(answer.message["result"]["content"][0]["text"]) == 20_000_000
