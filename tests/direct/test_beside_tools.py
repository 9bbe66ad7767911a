"""Resources, templates, prompts, completions and subscriptions: both eras of clients and of servers, on stdio
and over HTTP, behind the meta-tools and directly.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.http.conftest import Serve, serve
from tests.http.served import Served, Session
from tests.real import node
from tests.support.client import invocation
from tests.support.launch import Launcher, configuration, toolbox

from .clients import Asker, OnHttp, OnStdio

__all__ = ["serve"]

pytestmark = pytest.mark.node

MODERN_SERVER = {"command": sys.executable, "args": [str(Path(__file__).parent / "servers/conformant.py")]}
UPDATED = "notifications/resources/updated"


def everything(program: str) -> dict[str, Any]:
    script = node.package("@modelcontextprotocol/server-everything", "dist", "index.js")
    return {"command": program, "args": [script, "stdio"]}


@pytest.fixture(scope="module")
def config(node_program: str) -> dict[str, Any]:
    return configuration(
        old=toolbox(it=everything(node_program)),
        new=toolbox(it=MODERN_SERVER),
    )


@pytest.fixture(scope="module")
def alike(node_program: str) -> dict[str, Any]:
    """A toolbox in which two servers are the same."""
    return configuration(
        both=toolbox(old=everything(node_program), new=MODERN_SERVER, twin=MODERN_SERVER),
    )


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[False, True], ids=["legacy-client", "modern-client"])
def modern(request: pytest.FixtureRequest) -> bool:
    return request.param


class Meeting:
    """A client, and what it is connected to."""

    def __init__(self, client: Asker, toolbox: str, direct: bool) -> None:
        self.client = client
        self._toolbox = toolbox
        self._direct = direct
        if not direct:
            self.call("open_toolbox", {"toolbox": toolbox}, ours=True)

    def ask(self, method: str, **params: Any) -> Any:
        answer = self.client.ask(method, params)
        assert "result" in answer, answer
        assert "resultType" in answer["result"] or not self.client.modern
        return answer["result"]

    def call(self, name: str, arguments: dict[str, Any] | None = None, *, ours: bool = False) -> Any:
        if ours or self._direct:
            return self.ask("tools/call", name=name, arguments=arguments or {})
        used = invocation(f"{self._toolbox}/it/{name}", arguments)
        return self.ask("tools/call", name="use_tool", arguments=used)


@pytest.fixture(params=[False, True], ids=["meta-tools", "directly"])
def direct(request: pytest.FixtureRequest) -> bool:
    return request.param


Meet = Callable[[dict[str, Any], str], Meeting]


@pytest.fixture
def meet(
    workbench: Launcher,
    tmp_path_factory: pytest.TempPathFactory,
    transport: str,
    modern: bool,
    direct: bool,
) -> Iterator[Meet]:
    """Brings a client and a toolbox of a configuration together."""
    with ExitStack() as stack:

        def meeting(config: dict[str, Any], box: str) -> Meeting:
            if transport == "http":
                served = stack.enter_context(Served(tmp_path_factory.mktemp("meeting"), config))
                path = f"/toolboxes/{box}/mcp" if direct else "/mcp"
                return Meeting(OnHttp(served, path, modern), box, direct)
            args = ("serve", "--toolbox", box) if direct else ()
            return Meeting(OnStdio(workbench(config, args=args), modern), box, direct)

        yield meeting


@pytest.fixture
def old(meet: Meet, config: dict[str, Any]) -> Meeting:
    """A client of npm's server-everything, which is of the legacy era."""
    return meet(config, "old")


@pytest.fixture
def new(meet: Meet, config: dict[str, Any]) -> Meeting:
    """A client of a server of 2026-07-28."""
    return meet(config, "new")


def test_resources_are_listed_and_read(old: Meeting) -> None:
    listed = old.ask("resources/list")["resources"]
    found = next(each for each in listed if each["name"] == "architecture.md")
    contents = old.ask("resources/read", uri=found["uri"])["contents"]
    assert contents[0]["uri"] == "demo://resource/static/document/architecture.md"
    assert contents[0]["text"].startswith("# Everything Server")


def test_a_template_is_listed_filled_in_and_read(old: Meeting) -> None:
    templates = old.ask("resources/templates/list")["resourceTemplates"]
    template = next(each["uriTemplate"] for each in templates if "text" in each["uriTemplate"])
    contents = old.ask("resources/read", uri=template.replace("{resourceId}", "7"))["contents"]
    assert contents[0]["text"].startswith("Resource 7:")
    completed = old.ask(
        "completion/complete",
        ref={"type": "ref/resource", "uri": template},
        argument={"name": "resourceId", "value": "1"},
    )
    assert completed["completion"]["values"] == ["1"]


def test_a_link_in_a_result_can_be_read(old: Meeting) -> None:
    blocks = old.call("get-resource-links", {"count": 2})["content"]
    links = [block["uri"] for block in blocks if block["type"] == "resource_link"]
    assert links
    for uri in links:
        assert old.ask("resources/read", uri=uri)["contents"][0]["uri"] == uri


def test_prompts_are_listed_filled_in_and_completed(old: Meeting) -> None:
    names = [each["name"] for each in old.ask("prompts/list")["prompts"]]
    assert "args-prompt" in names
    messages = old.ask("prompts/get", name="args-prompt", arguments={"city": "Bonn"})["messages"]
    assert messages[0]["content"]["text"] == "What's weather in Bonn?"
    completed = old.ask(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "completable-prompt"},
        argument={"name": "department", "value": "S"},
    )
    assert completed["completion"]["values"] == ["Sales", "Support"]


def test_updates_of_a_legacy_server_reach_whoever_subscribed(old: Meeting) -> None:
    uri = old.ask("resources/list")["resources"][0]["uri"]
    old.client.watch(uri)
    old.call("toggle-subscriber-updates")
    assert old.client.heard(UPDATED)["params"]["uri"] == uri
    old.call("toggle-subscriber-updates")


def test_updates_of_a_modern_server_reach_whoever_subscribed(new: Meeting) -> None:
    listed = new.ask("resources/list")["resources"]
    uri = next(each["uri"] for each in listed if "watched" in each["uri"])
    new.client.watch(uri)
    new.call("touch")
    assert new.client.heard(UPDATED)["params"]["uri"] == uri


def test_a_resource_that_nobody_has_is_told_in_the_clients_own_terms(new: Meeting) -> None:
    error = new.client.ask("resources/read", {"uri": "test://nothing"})["error"]
    assert error["code"] in ((-32602,) if new.client.modern else (-32602, -32002))


def test_of_two_servers_alike_each_keeps_its_own(meet: Meet, alike: dict[str, Any]) -> None:
    meeting = meet(alike, "both")
    names = [each["name"] for each in meeting.ask("prompts/list")["prompts"]]
    assert "args-prompt" in names
    assert {"new__test_simple_prompt", "twin__test_simple_prompt"} <= set(names)
    assert meeting.ask("prompts/get", name="twin__test_simple_prompt")["messages"]
    resources = meeting.ask("resources/list")["resources"]
    shared = [each for each in resources if each["_meta"]["workbench/uri"] == "test://static-text"]
    assert [each["uri"] for each in shared] == [
        "workbench://both/new/test%3A%2F%2Fstatic-text",
        "workbench://both/twin/test%3A%2F%2Fstatic-text",
    ]
    for each in shared:
        assert meeting.ask("resources/read", uri=each["uri"])["contents"][0]["uri"] == "test://static-text"
    ambiguous = meeting.client.ask("resources/read", {"uri": "test://static-text"})["error"]
    assert ambiguous["code"] == -32602
    assert shared[0]["uri"] in ambiguous["message"]


def test_an_opened_toolbox_tells_that_there_are_resources_and_prompts(
    workbench: Launcher, config: dict[str, Any]
) -> None:
    client = workbench(config)
    client.initialize()
    assert client.request("resources/list")["result"] == {"resources": []}
    client.open("new")
    for kind in ("resources", "prompts"):
        client.wait_for(lambda each, kind=kind: each.get("method") == f"notifications/{kind}/list_changed")


def test_a_resource_of_a_toolbox_that_a_caller_may_not_see_does_not_exist(
    serve: Serve, config: dict[str, Any]
) -> None:
    tokens = {"all": {"token": "t-all"}, "old": {"token": "t-old", "toolboxes": ["old"]}}
    served = serve({**config, "http": {"tokens": tokens}})
    served.headers = {"Authorization": "Bearer t-all"}
    served.open("new")
    read = {"uri": "workbench://new/it/test%3A%2F%2Fstatic-text"}
    assert "result" in served.modern("resources/read", read).message
    served.headers = {"Authorization": "Bearer t-old"}
    assert served.modern("resources/read", read).message["error"]["code"] == -32602
    assert served.modern("resources/list").message["result"]["resources"] == []


def test_one_who_leaves_takes_its_subscription_along(serve: Serve, config: dict[str, Any]) -> None:
    served = serve(config)
    path = "/toolboxes/old/mcp"
    staying, leaving = (Session(served, "2025-11-25", {}, path) for _ in range(2))
    uri = "demo://resource/static/document/architecture.md"
    for session in (staying, leaving):
        assert session.ask("resources/subscribe", {"uri": uri}).message["result"] == {}
    assert leaving.end().status == 204
    heard = staying.listen()
    called = {"name": "toggle-subscriber-updates", "arguments": {}}
    assert "result" in staying.ask("tools/call", called).message
    while (event := heard.event()) and UPDATED not in event.get("data", ""):
        pass
    assert json.loads(event["data"])["params"]["uri"] == uri


def test_a_server_that_was_started_again_is_watched_again(new: Meeting) -> None:
    listed = new.ask("resources/list")["resources"]
    uri = next(each["uri"] for each in listed if "watched" in each["uri"])
    new.client.watch(uri)
    assert new.call("vanish")["isError"] is True
    new.call("test_simple_text")  # which starts it
    new.call("touch")
    assert new.client.heard(UPDATED)["params"]["uri"] == uri
