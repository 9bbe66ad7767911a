"""The `requestState` of a call that waits for its answer: ours for a legacy server, a modern server's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Json
from .places import Behind, Era, Place, Spot, Stage, Transport, Way, new_tag, text

EXPIRED = "the question has expired, call again"
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
WAYS = pytest.mark.parametrize("way", ["use_tool", "toolbox"])
SPOT = Spot("modern", "legacy", "child", "use_tool", "http")


class Held:
    """A call of a modern client that a legacy server has asked something in."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.tag = new_tag()
        self.params = place.params("ask", {"tag": self.tag, "kinds": ["form"]})
        self.asked: Json = place.asker.once("tools/call", self.params)["result"]
        assert self.asked["resultType"] == "input_required"
        self.reply = place.asker.reply_to(self.asked)
        self.state: str = self.asked["requestState"]

    def retry(self, place: Place | None = None, params: Json | None = None, **changed: object) -> Json:
        """The whole response."""
        given = {**(params or self.params), **self.reply, **changed}
        return (place or self.place).asker.once("tools/call", given)

    def finish(self) -> None:
        """It is still there, and the right words end it."""
        result = self.retry()["result"]
        assert list(json.loads(text(result))["answers"].values()) == [
            {"action": "accept", "content": {"name": self.tag}}
        ]


def assert_expired(response: Json) -> None:
    assert response.get("error", response)["code"] == -32602
    assert response["error"]["message"] == EXPIRED


@pytest.fixture(
    params=[(way, transport) for way in ("use_tool", "toolbox") for transport in ("stdio", "http")],
    ids="-".join,
)
def held(stage: Stage, request: pytest.FixtureRequest) -> Held:
    way, transport = request.param
    return Held(stage.place(SPOT._replace(way=way, transport=transport)))


def test_what_is_asked_is_put_as_the_era_wants_it(held: Held) -> None:
    assert set(held.asked) <= {"resultType", "inputRequests", "requestState", "_meta"}
    (request,) = held.asked["inputRequests"].values()
    assert request["method"] == "elicitation/create"
    assert held.tag not in held.state
    held.finish()


@pytest.mark.parametrize("position", [0, 0.25, 0.5, 0.75, 1])
def test_a_tampered_state_is_refused_and_the_true_one_still_holds(held: Held, position: float) -> None:
    at = round(position * (len(held.state) - 1))
    other = "A" if held.state[at] != "A" else "B"
    assert_expired(held.retry(requestState=held.state[:at] + other + held.state[at + 1 :]))
    held.finish()


@pytest.mark.parametrize("state", ["", "x", "☃", "e30.e30.e30", "a" * 10_000])
def test_a_state_that_nobody_made_is_refused(held: Held, state: str) -> None:
    assert_expired(held.retry(requestState=state))
    held.finish()


@pytest.mark.parametrize("state", [5, None, {}, []], ids=str)
def test_a_state_that_is_no_string_is_refused(held: Held, state: object) -> None:
    assert held.retry(requestState=state)["error"]["code"] == -32602
    held.finish()


def test_a_state_holds_once(held: Held) -> None:
    held.finish()
    assert_expired(held.retry())
    assert len(held.place.record.calls(held.tag)) == 1


def test_a_state_holds_for_its_own_arguments_alone(held: Held) -> None:
    other = held.place.params("ask", {"tag": held.tag, "kinds": ["form"], "rounds": 1})
    assert_expired(held.retry(params=other))
    held.finish()


def test_arguments_are_the_same_in_whatever_order_they_are_written(held: Held) -> None:
    arguments = held.params["arguments"]
    if held.place.way == "use_tool":
        own = arguments["arguments"]
        turned: Json = {"arguments": dict(reversed(own.items())), "tool": arguments["tool"]}
    else:
        turned = dict(reversed(arguments.items()))
    result = held.retry(params={**held.params, "arguments": turned})["result"]
    assert held.tag in text(result)


def test_a_state_holds_for_its_own_tool_alone(held: Held) -> None:
    other = held.place.params("mirror", {"tag": held.tag, "kinds": ["form"]})
    assert_expired(held.retry(params=other))
    held.finish()


def test_a_state_holds_for_its_own_server_alone(stage: Stage) -> None:
    held = Held(stage.place(SPOT))
    elsewhere = stage.place(SPOT._replace(behind="remote"))
    other = elsewhere.params("ask", {"tag": held.tag, "kinds": ["form"]})
    assert_expired(held.retry(params=other))
    held.finish()


def test_a_call_without_the_state_is_a_call_of_its_own(held: Held) -> None:
    again = held.place.asker.once("tools/call", held.params)["result"]
    assert again["resultType"] == "input_required"
    assert again["requestState"] != held.state
    held.finish()
    assert held.place.asker.once("tools/call", {**held.params, **held.place.asker.reply_to(again)})["result"]


def test_an_answer_that_is_missing_is_asked_for_again(held: Held) -> None:
    again = held.retry(inputResponses={})["result"]
    assert again["resultType"] == "input_required"
    assert list(again["inputRequests"].values()) == list(held.asked["inputRequests"].values())
    result = held.place.asker.once("tools/call", {**held.params, **held.place.asker.reply_to(again)})[
        "result"
    ]
    assert held.tag in text(result)


def test_answers_to_what_nobody_asked_are_ignored(held: Held) -> None:
    responses = {**held.reply["inputResponses"], "made-up": {"action": "accept"}}
    assert held.tag in text(held.retry(inputResponses=responses)["result"])


# Other callers, other processes, later


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("tokens"), tokens=("ada-token", "bob-token")) as stage:
        yield stage


@WAYS
def test_a_state_holds_for_its_own_caller_alone(tokens: Stage, way: Way) -> None:
    held = Held(tokens.new_place(SPOT._replace(way=way), token="ada-token"))
    bob = tokens.new_place(SPOT._replace(way=way), token="bob-token")
    assert_expired(held.retry(bob))
    held.finish()


def test_a_state_holds_for_every_connection_of_its_caller(tokens: Stage) -> None:
    """A stateless client may come by any."""
    held = Held(tokens.new_place(SPOT, token="ada-token"))
    again = tokens.new_place(SPOT, token="ada-token")
    assert held.tag in text(held.retry(again)["result"])


def test_another_process_does_not_hold_the_state(stage: Stage, tokens: Stage) -> None:
    held = Held(stage.place(SPOT))
    assert_expired(held.retry(tokens.new_place(SPOT, token="ada-token")))
    held.finish()


def test_a_process_that_was_started_again_does_not_hold_the_state(tmp_path: Path) -> None:
    spot = SPOT._replace(transport="stdio")
    with Stage(tmp_path) as stage:
        held = Held(stage.new_place(spot))
        assert_expired(held.retry(stage.new_place(spot)))


@pytest.mark.parametrize("behind", ["child", "remote"])
@WAYS
@TRANSPORTS
def test_a_state_expires_with_the_call_which_is_then_cancelled(
    tmp_path: Path, way: Way, transport: Transport, behind: Behind
) -> None:
    with Stage(tmp_path, limits={"timeout": 1}) as stage:
        spot = Spot("modern", "legacy", behind, way, transport)
        held = Held(stage.new_place(spot))
        held.place.record.wait_for_cancelled(held.tag)
        assert_expired(held.retry())
        (cancelled,) = held.place.record.requests("notifications/cancelled")
        assert "requestId" in cancelled["got"]["params"]
        Held(held.place).finish()


# The states of a server of 2026-07-28


@WAYS
@TRANSPORTS
@pytest.mark.parametrize("behind", ["child", "remote"])
@pytest.mark.parametrize("client", ["legacy", "modern"])
def test_the_states_of_a_modern_server_come_back_to_it_as_they_were(
    stage: Stage, client: Era, way: Way, transport: Transport, behind: Behind
) -> None:
    place = stage.place(Spot(client, "modern", behind, way, transport))
    before = len(place.asker.rounds)
    tag = new_tag()
    place.ask("form", tag=tag, rounds=3)
    states = [params.get("requestState") for params in place.record.calls(tag)]
    assert states[0] is None
    assert all(str(state).startswith('state "☃"\\') for state in states[1:])
    assert len(set(states)) == 4
    if client == "modern":
        assert [result["requestState"] for result in place.asker.rounds[before:]] == states[1:]


@WAYS
def test_what_a_modern_server_says_of_a_strange_state_is_the_answer(stage: Stage, way: Way) -> None:
    place = stage.place(Spot("modern", "modern", "child", way, "stdio"))
    params = {**place.params("ask", {"tag": new_tag(), "kinds": ["form"]}), "requestState": "strange"}
    assert place.asker.once("tools/call", params)["error"] == {
        "code": -32602,
        "message": "This is no state of mine",
    }


# The call log


@pytest.mark.parametrize(
    ("client", "server", "lines"),
    [("legacy", "legacy", 1), ("legacy", "modern", 3), ("modern", "legacy", 3), ("modern", "modern", 3)],
)
def test_each_round_is_a_line_of_the_log(tmp_path: Path, client: Era, server: Era, lines: int) -> None:
    with Stage(tmp_path) as stage:
        place = stage.new_place(Spot(client, server, "child", "use_tool", "stdio"))
        place.ask("form", rounds=2)
        (log,) = tmp_path.glob("home*/log/ToolBox.log")
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        assert [(entry["tool"], entry["stat"]) for entry in entries] == [("ask", "success")] * lines
        assert len({entry["id"] for entry in entries}) == lines


def test_a_call_whose_question_expired_is_an_error_in_the_log(tmp_path: Path) -> None:
    with Stage(tmp_path, limits={"timeout": 1}) as stage:
        held = Held(stage.new_place(SPOT._replace(transport="stdio")))
        held.place.record.wait_for_cancelled(held.tag)
        assert_expired(held.retry())
        (log,) = tmp_path.glob("home*/log/ToolBox.log")
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        assert entries[0]["stat"] == "success"
        assert entries[-1]["stat"] == "error"
