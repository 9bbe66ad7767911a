"""Whatever JSON a remote server answers with comes out as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.support.client import Client, invocation
from tests.support.launch import Launcher, configuration, toolbox

from .place import Exchange
from .remote import Remote, response, verbatim

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CONTENT = st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=3)
EXTRAS = st.dictionaries(st.text().filter(lambda key: key != "resultType"), VALUES, max_size=4)


class Speaking:
    """A workbench before one server of each era, which says what the test wants said."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.text = "{}"
        self.streamed = False

    def answer(self, exchange: Exchange) -> None:
        if not self.streamed:
            verbatim(exchange, self.text)
            return
        exchange.stream()
        head, _, tail = json.dumps(response(exchange, "@")).partition('"@"')
        exchange.event(head + self.text + tail)

    def result(self, server: str, text: str, *, streamed: bool = False) -> bytes:
        """The bytes of the line that the client gets."""
        self.text, self.streamed = text, streamed
        since = len(self.client.messages)
        params = {"name": "use_tool", "arguments": invocation(f"dev/{server}/act")}
        id = self.client.start_request("tools/call", params)
        answer = self.client.response(id, since=since)
        return next(line for line in self.client.lines[since:] if json.loads(line) == answer)


@pytest.fixture(scope="module")
def speaking(shared_workbench: Launcher) -> Iterator[Speaking]:
    def answer(exchange: Exchange) -> None:
        speaking.answer(exchange)

    with Remote(answer) as legacy, Remote(answer, modern=True) as modern:
        client = shared_workbench(
            configuration(dev=toolbox(legacy={"url": legacy.url()}, modern={"url": modern.url()}))
        )
        speaking = Speaking(client)
        client.initialize()
        client.open("dev")
        yield speaking
        client.end()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=CONTENT, extras=EXTRAS, server=st.sampled_from(["legacy", "modern"]), streamed=st.booleans())
def test_any_result_comes_out_equal(
    speaking: Speaking, content: list[object], extras: dict[str, object], server: str, streamed: bool
):
    result = {**extras, "content": content, "structuredContent": extras, "resultType": "complete"}
    line = speaking.result(server, json.dumps(result), streamed=streamed)
    assert json.dumps(json.loads(line)["result"]) == json.dumps(result)


ODDITIES = [
    '{"content":[],"n":123456789012345678901234567890}',
    '{"content":[],"n":[1e400,-0.0,1E5,1.0,0.1000000000000000055511151231257827]}',
    '{"content":[],"twice":1,"twice":2}',
    '{"content":[],"s":"\\ud800 \\/ \\u00e9 é"}',
    '{ "content" : [ ] , "z":1, "a":2 }',
]


@pytest.mark.parametrize("text", ODDITIES)
@pytest.mark.parametrize("server", ["legacy", "modern"])
@pytest.mark.parametrize("streamed", [False, True])
def test_odd_json_keeps_its_very_bytes(speaking: Speaking, text: str, server: str, streamed: bool):
    assert b'"result":' + text.encode() in speaking.result(server, text, streamed=streamed)


@pytest.mark.parametrize("server", ["legacy", "modern"])
def test_a_result_on_many_lines_travels_on_one(speaking: Speaking, server: str):
    result = {"content": [{"type": "text", "text": "one\ntwo"}], "deep": {"list": [1, 2]}}
    line = speaking.result(server, json.dumps(result, indent=2).replace("\n", "\r\n"))
    assert json.loads(line)["result"] == result


def test_a_large_result_comes_through_both_ways(speaking: Speaking):
    text = json.dumps({"content": [{"type": "text", "text": "é" * 4_000_000}]}, ensure_ascii=False)
    for streamed in (False, True):
        assert text.encode() in speaking.result("modern", text, streamed=streamed)
