"""What servers ask in the middle of a call: often, of many clients, and of those that cannot be asked."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import processes

from .client import Json, Refusal, obliging
from .places import ERAS, Behind, Era, Place, Spot, Stage, Transport, Way, is_call, new_tag, tagged, text
from .servers import offers

PAIRINGS = pytest.mark.parametrize(("client", "server"), [(c, s) for c in ERAS for s in ERAS])
BOTH = pytest.mark.parametrize("behind", ["child", "remote"])
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
WAYS = pytest.mark.parametrize("way", ["use_tool", "toolbox"])

CANCELLED = "notifications/cancelled"


def accepted(name: str) -> Json:
    return {"action": "accept", "content": {"name": name}}


# Many questions


@TRANSPORTS
@PAIRINGS
def test_a_hundred_calls_of_one_connection_are_all_asked_and_answered(
    stage: Stage, client: Era, server: Era, transport: Transport
) -> None:
    place = stage.place(Spot(client, server, "child", "use_tool", transport))
    before = len(place.asker.questions)
    for number in range(100):
        tag = new_tag()
        assert place.ask("form", tag=tag) == {"form-1": accepted(tag)}, f"call {number + 1}"
    assert len(place.asker.questions) == before + 100


@PAIRINGS
def test_a_call_may_ask_as_often_as_it_likes(stage: Stage, client: Era, server: Era) -> None:
    place = stage.place(Spot(client, server, "child", "use_tool", "stdio"))
    answers = place.ask("form", "sampling", rounds=25)
    assert len(answers) == 50


@TRANSPORTS
@pytest.mark.parametrize("client", ERAS)
def test_a_modern_server_may_want_no_more_than_to_be_called_again(
    stage: Stage, client: Era, transport: Transport
) -> None:
    place = stage.place(Spot(client, "modern", "child", "use_tool", transport))
    before = len(place.asker.questions)
    assert place.ask(rounds=3) == {}
    assert len(place.asker.questions) == before


@pytest.mark.parametrize("server", ERAS)
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_older_clients_are_asked_what_they_know(stage: Stage, version: str, server: Era) -> None:
    form = {"elicitation": {}} if version == "2025-06-18" else {}
    spot = Spot("legacy", server, "child", "use_tool", "stdio")
    place = stage.new_place(spot, version=version, capabilities={"sampling": {}, "roots": {}, **form})
    assert place.asker.introduction["protocolVersion"] == version
    tag = new_tag()
    answers = place.ask("sampling", "roots", *(["form"] if form else []), tag=tag)
    assert answers["roots-1"]["roots"]
    assert answers["sampling-1"]["content"]["text"] == f"sampled: {tag}"
    assert not form or answers["form-1"] == accepted(tag)
    required = place.once("require")  # the error of 2025-11-25 is no word of theirs
    assert required["result"]["isError"] is True


@BOTH
@TRANSPORTS
@pytest.mark.parametrize("server", ERAS)
def test_a_legacy_client_answers_calls_side_by_side_in_any_order(
    stage: Stage, server: Era, behind: Behind, transport: Transport
) -> None:
    tags = [new_tag() for _ in range(6)]
    may = {tag: threading.Event() for tag in tags}

    def when_told(params: Json) -> Json:
        assert may[params["message"]].wait(10)
        return obliging(params)

    spot = Spot("legacy", server, behind, "use_tool", transport)
    place = stage.new_place(spot, answers={"elicitation/create": when_told})
    ids = [place.start("ask", {"tag": tag, "kinds": ["form"]}) for tag in tags]
    for tag, id in reversed(list(zip(tags, ids, strict=True))):
        wait_until_asked(place, tag)
        may[tag].set()
        answers = json.loads(text(place.asker.response(id)["result"]))
        assert answers == {"tag": tag, "answers": {"form-1": accepted(tag)}}


@BOTH
@TRANSPORTS
@pytest.mark.parametrize("server", ERAS)
def test_a_modern_client_answers_calls_side_by_side_in_any_order(
    stage: Stage, server: Era, behind: Behind, transport: Transport
) -> None:
    place = stage.place(Spot("modern", server, behind, "use_tool", transport))
    tags = [new_tag() for _ in range(6)]
    calls = {tag: place.params("ask", {"tag": tag, "kinds": ["form"]}) for tag in tags}
    started = {tag: place.asker.start("tools/call", params) for tag, params in calls.items()}
    asked = {tag: place.asker.response(id)["result"] for tag, id in started.items()}
    for tag in reversed(calls):
        (request,) = asked[tag]["inputRequests"].values()
        assert request == offers.question("form", tag)
        retry = place.asker.once("tools/call", {**calls[tag], **place.asker.reply_to(asked[tag])})
        answers = json.loads(text(retry["result"]))
        assert answers["tag"] == tag
        assert list(answers["answers"].values()) == [accepted(tag)]


@BOTH
@pytest.mark.parametrize("server", ERAS)
@pytest.mark.parametrize(
    "eras", [("legacy", "legacy"), ("legacy", "modern"), ("modern", "modern")], ids="-".join
)
def test_two_clients_of_one_process_are_never_mistaken_for_each_other(
    stage: Stage, eras: tuple[Era, Era], server: Era, behind: Behind
) -> None:
    def talk(place: Place, name: str) -> None:
        for _ in range(20):
            tag = new_tag()
            assert place.ask("form", tag=tag) == {"form-1": accepted(f"{name} {tag}")}
            tags[name].add(tag)

    tags: dict[str, set[str]] = {"ada": set(), "bob": set()}
    places: dict[str, Place] = {}
    for name, era in zip(tags, eras, strict=True):
        answers = {"elicitation/create": lambda params, name=name: accepted(f"{name} {params['message']}")}
        spot = Spot(era, server, behind, "use_tool", "http")
        places[name] = stage.new_place(spot, answers=answers, name=name)
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(talk, place, name) for name, place in places.items()]:
            done.result(60)
    for name, place in places.items():
        assert {question.params["message"] for question in place.asker.questions} == tags[name]


# Clients that cannot be asked


@BOTH
@TRANSPORTS
@pytest.mark.parametrize("client", ERAS)
def test_a_legacy_server_is_told_by_errors_what_the_client_cannot_do(
    stage: Stage, client: Era, behind: Behind, transport: Transport
) -> None:
    place = stage.new_place(Spot(client, "legacy", behind, "use_tool", transport), capabilities={})
    tag = new_tag()
    answers = place.ask("form", "url", "sampling", "roots", tag=tag)
    assert answers["form-1"]["error"]["code"] in (-32601, -32602)
    assert answers["url-1"]["error"]["code"] in (-32601, -32602)
    assert answers["sampling-1"]["error"]["code"] in (-32600, -32601, -32602)
    assert answers["roots-1"]["error"]["code"] == -32601
    assert place.asker.questions == []
    assert declared_for(place, tag) == {}


@pytest.mark.parametrize("client", ERAS)
def test_a_legacy_server_hears_exactly_what_its_client_can_do(stage: Stage, client: Era) -> None:
    only_forms = {"elicitation": {}}
    place = stage.new_place(Spot(client, "legacy", "child", "use_tool", "http"), capabilities=only_forms)
    tag = new_tag()
    answers = place.ask("form", "url", tag=tag)
    assert answers["form-1"] == accepted(tag)
    assert answers["url-1"]["error"]["code"] == -32602
    assert [question.params["mode"] for question in place.asker.questions] == ["form"]
    declared = declared_for(place, tag)
    assert set(declared) == {"elicitation"}
    assert "url" not in declared["elicitation"]


def declared_for(place: Place, tag: str) -> Json:
    """What was declared on the connection that a call came by, to a server of 2025-11-25."""
    entries = list(place.record)
    (call,) = [entry for entry in entries if is_call(entry, tag)]
    (greeting,) = [
        entry["got"]
        for entry in entries
        if entry["connection"] == call["connection"] and entry.get("got", {}).get("method") == "initialize"
    ]
    return greeting["params"]["capabilities"]


@BOTH
@TRANSPORTS
@pytest.mark.parametrize("client", ERAS)
@pytest.mark.parametrize("declared", [{}, {"elicitation": {}}, {"sampling": {}, "roots": {}}], ids=str)
def test_a_modern_server_sees_what_the_client_declared(
    stage: Stage, client: Era, declared: Json, behind: Behind, transport: Transport
) -> None:
    place = stage.new_place(Spot(client, "modern", behind, "use_tool", transport), capabilities=declared)
    assert json.loads(text(place.call("mirror")))["capabilities"] == declared
    kind, required = (
        ("url", {"elicitation": {"url": {}}}) if "elicitation" in declared else ("form", {"elicitation": {}})
    )
    response = place.once("ask", {"tag": new_tag(), "kinds": [kind]})
    if client == "modern":
        assert response["error"]["code"] == -32021
        assert response["error"]["data"] == {"requiredCapabilities": required}
    else:
        assert response["result"]["isError"] is True
    assert place.asker.questions == []


@pytest.mark.parametrize("client", ERAS)
def test_a_plain_client_after_one_that_can_be_asked_has_a_connection_without(
    stage: Stage, client: Era
) -> None:
    able = stage.new_place(Spot(client, "legacy", "child", "use_tool", "http"))
    assert able.ask("roots")["roots-1"]["roots"]
    plain = stage.new_place(Spot(client, "legacy", "child", "use_tool", "http"), capabilities={})
    tag = new_tag()
    assert plain.ask("roots", tag=tag)["roots-1"]["error"]["code"] == -32601
    assert declared_for(plain, tag) == {}


# Answers that are none


@pytest.mark.parametrize("server", ERAS)
def test_a_refusal_of_a_legacy_client_ends_where_the_servers_era_can_hear_it(
    stage: Stage, server: Era
) -> None:
    def refuse(params: Json) -> Json:
        raise Refusal(-32000, "the user is asleep")

    spot = Spot("legacy", server, "child", "use_tool", "stdio")
    place = stage.new_place(spot, answers={"elicitation/create": refuse})
    if server == "legacy":
        assert place.ask("form") == {"form-1": {"error": {"code": -32000, "message": "the user is asleep"}}}
    else:  # a retry has no room for an error
        result = place.call("ask", {"tag": new_tag(), "kinds": ["form"]})
        assert result["isError"] is True
        assert "the user is asleep" in text(result)


@BOTH
@TRANSPORTS
def test_a_question_that_the_server_takes_back_is_taken_back_from_a_legacy_client(
    stage: Stage, behind: Behind, transport: Transport
) -> None:
    released = threading.Event()
    answers = {"elicitation/create": lambda params: released.wait(10) and obliging(params)}
    place = stage.new_place(Spot("legacy", "legacy", behind, "use_tool", transport), answers=answers)
    tag = new_tag()
    assert text(place.call("hurry", {"tag": tag})) == "gave up"
    question = place.asker.wait_for(
        lambda each: "id" in each and each.get("params", {}).get("message") == tag
    )
    told = place.asker.wait_for_notice(CANCELLED)
    assert told["requestId"] == question["id"]
    released.set()
    assert text(place.call("structured")) == "see there"


def test_a_question_that_the_server_takes_back_leaves_a_modern_client_the_result(stage: Stage) -> None:
    place = stage.place(Spot("modern", "legacy", "child", "use_tool", "stdio"))
    assert text(place.call("hurry", {"tag": new_tag()})) == "gave up"


# Questions that nobody can be asked


@BOTH
@pytest.mark.parametrize(
    ("client", "capabilities"), [("modern", None), ("modern", {}), ("legacy", {})], ids=str
)
def test_a_question_that_cannot_be_tied_to_one_client_is_refused_and_counted(
    stage: Stage, client: Era, capabilities: Json | None, behind: Behind
) -> None:
    """It belongs to no call, and the connection to nobody."""
    place = stage.new_place(Spot(client, "legacy", behind, "use_tool", "http"), capabilities=capabilities)
    before = refused(stage, place)
    tag = new_tag()
    assert text(place.call("stray", {"tag": tag})) == "later"
    entry = place.record.wait_for(lambda entry: entry.get("stray") == tag)
    assert entry["response"]["error"]["code"] in (-32600, -32601, -32602, -32603)
    assert place.asker.questions == []
    if capabilities is None:  # where nothing was declared, no question is anybody's
        assert refused(stage, place) == before + 1


@BOTH
def test_a_question_outside_any_call_is_asked_of_nobody_but_the_client_whose_connection_it_came_by(
    stage: Stage, behind: Behind
) -> None:
    spot = Spot("legacy", "legacy", behind, "use_tool", "http")
    own, other = stage.new_place(spot), stage.new_place(spot)
    assert other.ask("roots")["roots-1"]["roots"]
    tag = new_tag()
    assert text(own.call("stray", {"tag": tag})) == "later"
    response = own.record.wait_for(lambda entry: entry.get("stray") == tag)["response"]
    asked = [question.params["message"] for question in own.asker.questions]
    assert asked == ([tag] if "result" in response else [])
    assert [question.method for question in other.asker.questions] == ["roots/list"]


def refused(stage: Stage, place: Place) -> float:
    """How many questions of the server the workbench says it could not pass on."""
    said = stage.served.request("GET", "/metrics").body.decode()
    label = re.escape(f'toolbox="{place.toolbox}",server="{place.server}"')
    found = re.findall(rf"^mcp_workbench_questions_refused_total\{{{label}\}} ([0-9.]+)$", said, re.MULTILINE)
    return float(found[0]) if found else 0.0


# The end of a call that waits for an answer


@pytest.fixture
def slow_answers() -> Iterator[threading.Event]:
    """Set at the end, so that no thread waits for ever."""
    event = threading.Event()
    yield event
    event.set()


def waiting_place(stage: Stage, spot: Spot, event: threading.Event) -> tuple[Place, int, str]:
    """A client, the id of its call that waits for its answer, and the tag of that."""

    def never(params: Json) -> Json:
        event.wait(20)
        return {"action": "cancel"}

    place = stage.new_place(spot, answers={"elicitation/create": never})
    tag = new_tag()
    id = place.start("ask", {"tag": tag, "kinds": ["form"]})
    wait_until_asked(place, tag)
    return place, id, tag


@BOTH
@TRANSPORTS
def test_cancelling_a_call_that_waits_for_an_answer_reaches_a_legacy_server(
    stage: Stage, slow_answers: threading.Event, behind: Behind, transport: Transport
) -> None:
    spot = Spot("legacy", "legacy", behind, "use_tool", transport)
    place, id, tag = waiting_place(stage, spot, slow_answers)
    place.asker.cancel(id)
    place.record.wait_for_cancelled(tag)
    assert text(place.call("structured")) == "see there"


@BOTH
def test_a_client_that_ends_its_session_over_http_cancels_what_waits_for_it(
    stage: Stage, slow_answers: threading.Event, behind: Behind
) -> None:
    spot = Spot("legacy", "legacy", behind, "use_tool", "http")
    place, _, tag = waiting_place(stage, spot, slow_answers)
    assert place.asker.end_session() in (200, 202, 204)
    place.record.wait_for_cancelled(tag)


def test_a_client_that_leaves_on_stdio_takes_its_questions_with_it(
    tmp_path: Path, slow_answers: threading.Event
) -> None:
    spot = Spot("legacy", "legacy", "remote", "use_tool", "stdio")
    with Stage(tmp_path) as stage:
        process = stage.process(spot)
        place = stage.new_place(
            spot, process=process, answers={"elicitation/create": lambda _: slow(slow_answers)}
        )
        tag = new_tag()
        place.start("ask", {"tag": tag, "kinds": ["form"]})
        wait_until_asked(place, tag)
        process.close_input()
        assert process.wait() == 0
        # The end of a session is the end of its calls.
        place.record.wait_for(lambda entry: "ended" in entry or tagged(entry.get("cancelled"), tag))


def slow(event: threading.Event) -> Json:
    event.wait(20)
    return {"action": "cancel"}


# Connections


@pytest.mark.parametrize("client", ERAS)
def test_no_more_connections_are_made_than_the_limit_allows(tmp_path: Path, client: Era) -> None:
    with Stage(tmp_path, limits={"connections": 2}) as stage:
        spot = Spot(client, "legacy", "child", "use_tool", "http")
        places = [stage.new_place(spot, name=f"client {number}") for number in range(5)]
        seen: list[int] = []

        def talk(place: Place) -> None:
            for _ in range(4):
                tag = new_tag()
                assert place.ask("form", tag=tag) == {"form-1": accepted(tag)}
                seen.append(children(stage))

        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(talk, place) for place in places]:
                done.result(60)
        assert max(seen) <= 2


def children(stage: Stage) -> int:
    """How many processes of the legacy server live now."""
    count = 0
    for each in processes.descendants(stage.served.process.pid):
        with contextlib.suppress(OSError):  # it has just gone
            count += b"legacy.py" in Path(f"/proc/{each.pid}/cmdline").read_bytes()
    return count


@WAYS
def test_twenty_clients_in_turn_share_a_few_connections(tmp_path: Path, way: Way) -> None:
    with Stage(tmp_path, limits={"connections": 2}) as stage:
        for number in range(20):
            place = stage.new_place(Spot("legacy", "legacy", "child", way, "http"), name=f"client {number}")
            tag = new_tag()
            assert place.ask("form", tag=tag) == {"form-1": accepted(tag)}
        assert children(stage) <= 2


def wait_until_asked(place: Place, tag: str) -> None:
    place.asker.wait_for(
        lambda each: "method" in each and "id" in each and each.get("params", {}).get("message") == tag
    )
