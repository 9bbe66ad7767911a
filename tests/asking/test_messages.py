"""Log messages of a legacy server, at the level that each client asked for."""

from __future__ import annotations

from tests.asking.asked import LOG_LEVEL, greet, heard, modern, said, start
from tests.support.launch import Launcher, child, configuration, toolbox

ASKING = configuration(dev=toolbox(asking=child("asking")))
ALL = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def test_a_legacy_client_hears_what_the_server_says_and_less_where_it_wants_less(workbench: Launcher) -> None:
    client = workbench(ASKING)
    result = greet(client, {})
    assert result["capabilities"]["logging"] == {}
    client.open("dev")
    client.use("dev/asking/log", {"who": "me"})
    assert heard(client) == ALL
    (first, *_) = client.notifications("notifications/message")
    assert first["params"] == {"level": "debug", "logger": "mine", "data": {"who": "me"}}
    client.request("logging/setLevel", {"level": "error"})
    client.use("dev/asking/log")
    assert heard(client)[len(ALL) :] == ["error", "critical", "alert", "emergency"]
    assert said(client.response(start(client, "dev/asking/seen")))["level"] == ["error"]


def test_an_unknown_level_is_refused(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    assert client.request("logging/setLevel", {"level": "loud"})["error"]["code"] == -32602
    client.open("dev")
    assert modern(client, "dev/asking/log", meta={LOG_LEVEL: "loud"})["error"]["code"] == -32602


def test_a_modern_client_hears_of_the_call_that_asked_for_a_level_alone(workbench: Launcher) -> None:
    client = workbench(ASKING)
    client.open("dev", modern=True)
    for capabilities in ({}, {"roots": {}}):
        since = len(heard(client))
        modern(client, "dev/asking/log", capabilities=capabilities)
        assert len(heard(client)) == since
        modern(client, "dev/asking/log", capabilities=capabilities, meta={LOG_LEVEL: "alert"})
        assert heard(client)[since:] == ["alert", "emergency"]
        modern(client, "dev/asking/log", capabilities=capabilities)
        assert len(heard(client)) == since + 2
