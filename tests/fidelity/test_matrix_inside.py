"""What a server says and asks in the middle of a call, in every combination of `test_matrix`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .client import PREFIX, ROOTS, Json, Question, obliging, sampled
from .places import SPOTS, Place, Spot, Stage, new_tag, text
from .servers import offers

LOGGED = "notifications/message"


# Log messages


def log(place: Place) -> None:
    assert "logging" in place.asker.introduction["capabilities"]
    for least in ("warning", "debug", "emergency"):
        expected = offers.LOG_LEVELS[offers.LOG_LEVELS.index(least) :]
        assert [each["level"] for each in logged(place, least)] == list(expected)


def log_untouched(place: Place) -> None:
    tag = new_tag()
    told = logged(place, "error", tag)
    assert told == [offers.log_message(level, tag) for level in offers.LOG_LEVELS[4:]]


def logged(place: Place, least: str, tag: str = "") -> list[Json]:
    """What is heard of one call before its answer, by a client that wants no less than `least`."""
    asker, tag = place.asker, tag or new_tag()
    if asker.modern:
        place.call("log", {"tag": tag}, **{PREFIX + "logLevel": least})
    else:
        assert asker.result("logging/setLevel", {"level": least}) == {}
        place.call("log", {"tag": tag})
    return [each for each in asker.heard(LOGGED) if each["data"]["tag"] == tag]


# Questions


def form(place: Place) -> None:
    tag = new_tag()
    assert place.ask("form", tag=tag) == {"form-1": {"action": "accept", "content": {"name": tag}}}
    assert asked(place, tag) == [Question(**offers.question("form", tag))]


def declined(place: Place) -> None:
    for action in ("decline", "cancel"):
        assert place.ask("form", tag=f"{action}:{new_tag()}") == {"form-1": {"action": action}}


def url(place: Place) -> None:
    tag = new_tag()
    assert place.ask("url", tag=tag) == {"url-1": {"action": "accept"}}
    (question,) = asked(place, tag)
    id = question.params.pop("elicitationId", None)
    assert question == Question(**offers.question("url", tag))
    if not place.asker.modern:
        assert isinstance(id, str)  # 2025-11-25 wants it, 2026-07-28 does not know it
        assert id
        if place.toolbox.startswith("legacy"):
            place.asker.wait_for_notice(
                "notifications/elicitation/complete", lambda params: params == {"elicitationId": id}
            )


def sampling(place: Place) -> None:
    tag = new_tag()
    question = offers.question("sampling", tag)
    assert place.ask("sampling", tag=tag) == {"sampling-1": sampled(question["params"])}
    assert asked(place, tag) == [Question(**question)]


def roots(place: Place) -> None:
    before = len(place.asker.questions)
    assert place.ask("roots") == {"roots-1": ROOTS}
    assert [each.method for each in place.asker.questions[before:]] == ["roots/list"]


def several(place: Place) -> None:
    """All kinds at once, and again in a second round."""
    tag = new_tag()
    answers = place.ask("form", "sampling", "roots", "url", tag=tag, rounds=2)
    form = obliging(offers.question("form", tag)["params"])
    sample = sampled(offers.question("sampling", tag)["params"])
    assert answers == {
        key: answer
        for turn in (1, 2)
        for key, answer in (
            (f"form-{turn}", form),
            (f"sampling-{turn}", sample),
            (f"roots-{turn}", ROOTS),
            (f"url-{turn}", {"action": "accept"}),
        )
    }


def prompt(place: Place) -> None:
    """Not only calls of tools may ask."""
    got = place.asker.result("prompts/get", {"name": place.prompt("interview")})
    assert got["messages"][0]["content"]["text"] == "Hello, interview"
    assert place.asker.questions[-1] == Question(**offers.question("form", "interview"))


# Errors that a client's protocol knows


def requirement(place: Place) -> None:
    id = place.start("require")
    response = place.asker.response(id)
    same = place.toolbox.startswith("modern") == place.asker.modern
    if same and place.asker.modern:
        data = {"requiredCapabilities": {"sampling": {"tools": {}}}}
        message = "Missing required client capability"
        assert response["error"] == {"code": -32021, "message": message, "data": data}
        assert place.asker.statuses.get(id, 400) == 400
    elif same:
        elicitation = {**offers.question("url", "required")["params"], "elicitationId": "e-0"}
        data = {"elicitations": [elicitation]}
        assert response["error"] == {"code": -32042, "message": "Sign in first", "data": data}
    elif place.way == "use_tool":
        assert response["result"]["isError"] is True
        reason = "Sign in first" if place.asker.modern else "Missing required client capability"
        assert text(response["result"]).endswith(f": {reason}")
    else:
        assert "error" in response


def asked(place: Place, tag: str) -> list[Question]:
    return [each for each in place.asker.questions if tag in str(each.params)]


FEATURES = [
    log,
    log_untouched,
    form,
    declined,
    url,
    sampling,
    roots,
    several,
    prompt,
    requirement,
]


@pytest.mark.parametrize("spot", SPOTS, ids=str)
@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.__name__)
def test_it_gets_through_inside_a_call(stage: Stage, feature: Callable[[Place], None], spot: Spot) -> None:
    feature(stage.place(spot))
