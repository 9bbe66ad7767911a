"""Every feature × every pairing of eras × every way to the server × both transports, as one test.

Where client and server are of one era, the client also reaches the server alone: the same body must hold
there. What servers ask and log during a call is in `test_matrix_inside`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.support.client import PATIENCE

from .client import PREFIX, Json
from .places import OWN_URI, SPOTS, Place, Spot, Stage, new_tag, text
from .servers import offers

CHANGED = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"


def definitions(place: Place) -> None:
    names = [each["name"] for each in offers.TOOLS]
    if place.way == "use_tool":
        arguments = {"toolbox": place.toolbox}
        opened = place.asker.result("tools/call", {"name": "open_toolbox", "arguments": arguments})
        tools = opened["structuredContent"]["tools"]
        tools = [{k: v for k, v in each.items() if k not in ("toolbox", "server")} for each in tools]
    else:
        tools = place.asker.result("tools/list")["tools"]
    assert [each for each in tools if each["name"] in names] == offers.TOOLS


def meta(place: Place) -> None:
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", "baggage": "a=1"}
    result = place.call("mirror", {}, **trace, **{"example.com/own": [1, None]})
    seen = json.loads(text(result))["params"]["_meta"]
    assert {key: value for key, value in seen.items() if not key.startswith(PREFIX)} == {
        **trace,
        "example.com/own": [1, None],
    }


def progress(place: Place) -> None:
    token = new_tag()
    result = place.call("progress", {}, progressToken=token)
    assert text(result) == "done"
    told = [each for each in place.asker.heard("notifications/progress") if each["progressToken"] == token]
    assert told == [
        {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
        for step in (1, 2, 3)
    ]


def cancel(place: Place) -> None:
    tag = new_tag()
    id = place.start("wait", {"tag": tag})
    place.record.wait_for_call(tag)
    place.asker.cancel(id)
    place.record.wait_for_cancelled(tag)
    assert text(place.call("structured")) == "see there"
    assert [each for each in place.asker.received if each.get("id") == id and "method" not in each] == []


def resources(place: Place) -> None:
    asker = place.asker
    for method, kind, key, offered in (
        ("resources/list", "resources", "uri", offers.RESOURCES),
        ("resources/templates/list", "resourceTemplates", "uriTemplate", offers.TEMPLATES),
    ):
        listed = asker.result(method)[kind]
        if place.way == "use_tool":
            ours = [each for each in listed if place.is_ours(each)]
            listed = [{**each, key: each["_meta"][OWN_URI]} for each in ours]
            for each in listed:
                del each["_meta"]
        assert listed == offered
    for uri in (offers.NOTE, offers.DOT):
        read = asker.result("resources/read", {"uri": place.uri(uri)})
        assert read["contents"] == [offers.CONTENTS[uri]]
    unknown = asker.once("resources/read", {"uri": "note://nowhere"})["error"]
    assert unknown["code"] in (-32002, -32602)
    assert unknown["data"] == {"uri": "note://nowhere"}


def template(place: Place) -> None:
    uri = "note://a%20b/page"
    if place.way == "use_tool":
        address = f"workbench://{place.toolbox}/{place.server}/note%3A%2F%2Fa%2520b%2Fpage"
        assert place.asker.result("resources/read", {"uri": address})["contents"] == [offers.CONTENTS[uri]]
    else:
        assert place.asker.result("resources/read", {"uri": uri})["contents"] == [offers.CONTENTS[uri]]


def link(place: Place) -> None:
    """A resource that no list has, but a result."""
    (found,) = [each for each in place.call("contents")["content"] if each["type"] == "resource_link"]
    uri = found["uri"]
    if place.way == "use_tool":  # other servers of this workbench have named the same
        uri = f"workbench://{place.toolbox}/{place.server}/note%3A%2F%2Flinked"
    assert place.asker.result("resources/read", {"uri": uri})["contents"] == [offers.CONTENTS[found["uri"]]]


def prompts(place: Place) -> None:
    listed = place.asker.result("prompts/list")["prompts"]
    if place.way == "use_tool":
        ours = [each for each in listed if place.is_ours(each)]
        assert [{**each, "name": each["name"].rpartition("__")[2]} for each in ours] == [
            {**each, "_meta": ours[0]["_meta"]} for each in offers.PROMPTS
        ]
    else:
        assert listed == offers.PROMPTS
    params = {"name": place.prompt("greet"), "arguments": {"who": "Ada"}}
    got = place.asker.result("prompts/get", params)
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": "Hello, Ada"}}]
    assert got["description"] == "A greeting"


def completion(place: Place) -> None:
    template = offers.TEMPLATE
    if place.way == "use_tool":
        listed = place.asker.result("resources/templates/list")["resourceTemplates"]
        (template,) = [each["uriTemplate"] for each in listed if place.is_ours(each)]
    for ref in (
        {"type": "ref/prompt", "name": place.prompt("greet")},
        {"type": "ref/resource", "uri": template},
    ):
        params = {"ref": ref, "argument": {"name": "who", "value": "A"}}
        assert place.asker.result("completion/complete", params)["completion"] == offers.COMPLETION


def subscription(place: Place) -> None:
    asker, uri = place.asker, place.uri(offers.NOTE)
    if asker.modern:
        id = listen(place, {"resourceSubscriptions": [uri]})
    else:
        id = None
        assert asker.result("resources/subscribe", {"uri": uri}) == {}
    before = len(asker.heard(UPDATED))
    place.call("touch", {"uri": offers.NOTE})
    asker.wait_for(lambda each: len(asker.heard(UPDATED)) > before)
    told = asker.heard(UPDATED)[before]
    assert told["uri"] == uri
    if id is not None:
        assert told["_meta"] == {PREFIX + "subscriptionId": id}
        asker.cancel(id)
    else:
        assert asker.result("resources/unsubscribe", {"uri": uri}) == {}


def list_changed(place: Place) -> None:
    asker, name = place.asker, new_tag()
    id = listen(place, {"toolsListChanged": True}) if asker.modern else None
    before = len(asker.heard(CHANGED))
    assert text(place.call("change", {"name": name})) == "changed"
    asker.wait_for(lambda each: len(asker.heard(CHANGED)) > before)
    if id is not None:
        assert {PREFIX + "subscriptionId": id} in [told["_meta"] for told in asker.heard(CHANGED)[before:]]
    wait_for_tool(place, name)
    if id is not None:
        asker.cancel(id)


def structured(place: Place) -> None:
    assert place.call("structured")["structuredContent"] == offers.STRUCTURED


def any_structured(place: Place) -> None:
    """Of a server of 2026-07-28 it may be anything; older clients get an object all the same."""
    for like in ([1, {"a": None}], "text", 0.5, None, True):
        got = place.call("structured", {"like": like})["structuredContent"]
        assert got == (like if place.asker.modern else {"result": like})


def contents(place: Place) -> None:
    result = dict(place.call("contents"))
    if place.asker.modern:
        assert result.pop("resultType") == "complete"
    elif place.toolbox.startswith("modern"):
        result.pop("resultType", None)
    assert result == {
        "content": offers.BLOCKS,
        "_meta": offers.RESULT_META,
        "example.com/unknown": {"a": None},
    }


FEATURES = [
    definitions,
    meta,
    progress,
    cancel,
    resources,
    template,
    link,
    prompts,
    completion,
    subscription,
    list_changed,
    structured,
    any_structured,
    contents,
]


CASES = [
    pytest.param(feature, spot, id=f"{feature.__name__}-{spot}")
    for feature in FEATURES
    for spot in SPOTS
    if spot.server == "modern" or feature is not any_structured
]


@pytest.mark.parametrize(("feature", "spot"), CASES)
def test_it_gets_through(stage: Stage, feature: Callable[[Place], None], spot: Spot) -> None:
    feature(stage.place(spot))


def listen(place: Place, wishes: Json) -> int:
    """The id of a subscription of 2026-07-28 that was granted as it was wished."""
    id = place.asker.start("subscriptions/listen", {"notifications": wishes})
    told = place.asker.wait_for_notice(
        "notifications/subscriptions/acknowledged",
        lambda params: params["_meta"] == {PREFIX + "subscriptionId": id},
    )
    assert told["notifications"] == wishes
    return id


def wait_for_tool(place: Place, name: str) -> None:
    """The notice of a change may be that of another one, which came before it."""
    until = time.monotonic() + PATIENCE
    while True:
        if place.way == "use_tool":
            params = {"name": "open_toolbox", "arguments": {"toolbox": place.toolbox}}
            tools = place.asker.result("tools/call", params)["structuredContent"]["tools"]
        else:
            tools = place.asker.result("tools/list")["tools"]
        if name in [each["name"] for each in tools]:
            return
        assert time.monotonic() < until, f"{name} was never listed"
        time.sleep(0.05)
