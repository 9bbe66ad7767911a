"""The old transport, where everything comes on one stream."""

from __future__ import annotations

import queue
import time

import pytest

from tests.support.client import Client, text as said
from tests.support.launch import Launcher, configuration, toolbox

from .place import Exchange, Place
from .remote import LEGACY, response, text, tool


class OldRemote(Place):
    """Answers calls on the stream; told `cut`, it ends the stream instead."""

    def __init__(self, endpoint: str = "/messages") -> None:
        super().__init__(self._answer)
        self.endpoint = endpoint
        self.cut = False
        self._words: queue.Queue[object] = queue.Queue()

    def _answer(self, exchange: Exchange) -> None:
        if exchange.method == "GET":
            self._words = queue.Queue()
            exchange.stream()
            exchange.event(self.endpoint, event="endpoint")
            while (word := self._words.get(timeout=10)) is not None:
                exchange.event(word, event="message")
            return
        exchange.answer(202, b"Accepted")
        method = exchange.message["method"]
        if method == "tools/call" and self.cut:
            self._words.put(None)
        elif method == "initialize":
            capabilities = {"protocolVersion": LEGACY, "capabilities": {"tools": {}}}
            self._words.put(response(exchange, capabilities))
        elif method == "tools/list":
            self._words.put(response(exchange, {"tools": [tool("act")]}))
        elif method == "tools/call":
            self._words.put(response(exchange, text("done")))
        elif method == "server/discover":
            failure = {"code": -32601, "message": "Method not found"}
            self._words.put({"jsonrpc": "2.0", "id": exchange.message["id"], "error": failure})

    def __exit__(self, *error: object) -> None:
        self._words.put(None)
        super().__exit__(None, None, None)


def started(workbench: Launcher, remote: Place) -> Client:
    client = workbench(configuration(dev=toolbox(far={"url": remote.url("/sse"), "transport": "sse"})))
    client.initialize()
    return client


def test_a_cut_stream_fails_its_calls_at_once_and_the_next_call_opens_another(workbench: Launcher):
    with OldRemote() as remote:
        client = started(workbench, remote)
        client.open("dev")
        assert said(client.use("dev/far/act")) == "done"
        remote.cut = True
        began = time.monotonic()
        assert "the connection was cut during the call" in said(client.use("dev/far/act"))
        assert time.monotonic() - began < 2
        assert len(remote.posts("tools/call")) == 2
        remote.cut = False
        assert said(client.use("dev/far/act")) == "done"
        assert len([each for each in remote.seen if each.method == "GET"]) == 2


@pytest.mark.parametrize(
    "endpoint", ["http://localhost:1/messages", "//10.0.0.1/messages", "https://127.0.0.1/"]
)
def test_messages_are_sent_nowhere_else(workbench: Launcher, endpoint: str):
    with OldRemote(endpoint) as remote:
        result = started(workbench, remote).call("open_toolbox", {"toolbox": "dev"})
        assert said(result).endswith("it wants its messages sent to another host")
