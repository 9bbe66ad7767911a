"""Log messages of servers: for the client whose call they belong to, at the level that it asked for."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from .client import PREFIX, Json
from .places import ERAS, Behind, Era, Place, Spot, Stage, Transport, Way, new_tag, text
from .servers import offers

LOGGED = "notifications/message"
BOTH = pytest.mark.parametrize("behind", ["child", "remote"])
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
WAYS = pytest.mark.parametrize("way", ["use_tool", "toolbox"])
SERVERS = pytest.mark.parametrize("server", ERAS)


def levels(place: Place, tag: str) -> list[str]:
    return [each["level"] for each in place.asker.heard(LOGGED) if each["data"]["tag"] == tag]


def log(place: Place, **meta: object) -> str:
    tag = new_tag()
    assert text(place.call("log", {"tag": tag}, **meta)) == "logged"
    return tag


@WAYS
@BOTH
@TRANSPORTS
@SERVERS
def test_a_modern_client_hears_nothing_that_it_did_not_ask_for(
    stage: Stage, server: Era, transport: Transport, behind: Behind, way: Way
) -> None:
    place = stage.place(Spot("modern", server, behind, way, transport))
    asked = log(place, **{PREFIX + "logLevel": "alert"})
    assert levels(place, asked) == ["alert", "emergency"]
    assert levels(place, log(place)) == []


@WAYS
@TRANSPORTS
@SERVERS
def test_a_legacy_client_changes_its_level_as_it_likes(
    stage: Stage, server: Era, transport: Transport, way: Way
) -> None:
    place = stage.place(Spot("legacy", server, "child", way, transport))
    for least in ("emergency", "debug", "alert"):
        assert place.asker.result("logging/setLevel", {"level": least}) == {}
        expected = offers.LOG_LEVELS[offers.LOG_LEVELS.index(least) :]
        assert levels(place, log(place)) == list(expected)


@WAYS
@SERVERS
def test_the_level_of_a_legacy_client_is_what_a_server_hears(stage: Stage, server: Era, way: Way) -> None:
    place = stage.place(Spot("legacy", server, "child", way, "stdio"))
    place.asker.result("logging/setLevel", {"level": "critical"})
    tag = log(place)
    (call,) = place.record.calls(tag)
    if server == "modern":
        assert call["_meta"][PREFIX + "logLevel"] == "critical"
    else:
        assert PREFIX + "logLevel" not in call.get("_meta", {})


@WAYS
@pytest.mark.parametrize("client", ERAS)
def test_a_level_that_does_not_exist_is_refused(stage: Stage, client: Era, way: Way) -> None:
    place = stage.place(Spot(client, "legacy", "child", way, "stdio"))
    if client == "legacy":
        error = place.asker.once("logging/setLevel", {"level": "loud"})["error"]
    else:
        error = place.once("log", {"tag": new_tag()}, **{PREFIX + "logLevel": "loud"})["error"]
    assert error["code"] == -32602


@BOTH
@SERVERS
@pytest.mark.parametrize(
    "eras", [("legacy", "legacy"), ("legacy", "modern"), ("modern", "modern")], ids="-".join
)
def test_two_clients_of_one_process_each_hear_their_own_at_their_own_level(
    stage: Stage, eras: tuple[Era, Era], server: Era, behind: Behind
) -> None:
    """On the one connection of a modern child nothing says whose call a message is about: with two calls at
    once it may be dropped, but it never goes to the wrong one.
    """
    sure = (server, behind) != ("modern", "child")

    def talk(place: Place, least: str) -> None:
        meta = {PREFIX + "logLevel": least} if place.asker.modern else {}
        if not meta:
            place.asker.result("logging/setLevel", {"level": least})
        expected = list(offers.LOG_LEVELS[offers.LOG_LEVELS.index(least) :])
        tags = [log(place, **meta) for _ in range(10)]
        assert not sure or [levels(place, tag) for tag in tags] == [expected] * 10
        heard = place.asker.heard(LOGGED)
        assert {each["data"]["tag"] for each in heard} <= set(tags)
        assert {each["level"] for each in heard} <= set(expected)

    places = [stage.new_place(Spot(era, server, behind, "use_tool", "http")) for era in eras]
    with ThreadPoolExecutor() as pool:
        for done in [
            pool.submit(talk, place, least) for place, least in zip(places, ("info", "critical"), strict=True)
        ]:
            done.result(60)


@BOTH
@pytest.mark.parametrize("capabilities", [None, {}], ids=["able", "plain"])
def test_a_client_without_anything_to_declare_hears_the_logs_of_its_calls(
    stage: Stage, capabilities: Json | None, behind: Behind
) -> None:
    place = stage.new_place(Spot("legacy", "legacy", behind, "use_tool", "stdio"), capabilities=capabilities)
    place.asker.result("logging/setLevel", {"level": "alert"})
    assert levels(place, log(place)) == ["alert", "emergency"]


def test_a_message_that_belongs_to_nobody_is_dropped_and_counted(stage: Stage) -> None:
    """Several clients share a connection on which nothing was declared: it could be anyone's."""
    spot = Spot("legacy", "legacy", "child", "use_tool", "http")
    places = [stage.new_place(spot, capabilities={}) for _ in range(2)]
    before = dropped(stage, places[0])
    tag = new_tag()
    assert text(places[0].call("mutter", {"tag": tag})) == "later"
    places[0].record.wait_for(lambda entry: entry.get("muttered") == tag)
    for place in places:
        assert text(place.call("structured")) == "see there"
        assert levels(place, tag) == []
    assert dropped(stage, places[0]) == before + 1


def dropped(stage: Stage, place: Place) -> float:
    said = stage.served.request("GET", "/metrics").body.decode()
    label = re.escape(f'toolbox="{place.toolbox}",server="{place.server}"')
    found = re.findall(rf"^mcp_workbench_messages_dropped_total\{{{label}\}} ([0-9.]+)$", said, re.MULTILINE)
    return float(found[0]) if found else 0.0
