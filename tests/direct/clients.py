"""A raw client in either era, on stdio or over HTTP, of the meta-tools or of one toolbox: asked alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from tests.http.served import Live, Served, Session, modern_body, modern_headers
from tests.support.client import Client


class Asker(Protocol):
    modern: bool

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The whole response."""
        ...

    def watch(self, uri: str) -> None:
        """Ask to hear of updates of a resource."""
        ...

    def heard(self, method: str) -> dict[str, Any]:
        """The next notification of that method."""
        ...


class OnStdio:
    def __init__(self, client: Client, modern: bool) -> None:
        self.modern = modern
        self._client = client
        self._seen = 0
        if not modern:
            client.initialize()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._client.request(method, params, modern=self.modern)

    def watch(self, uri: str) -> None:
        if not self.modern:
            assert self.ask("resources/subscribe", {"uri": uri})["result"] == {}
            return
        wishes = {"notifications": {"resourceSubscriptions": [uri]}}
        self._client.start_request("subscriptions/listen", wishes, modern=True)
        told = self.heard("notifications/subscriptions/acknowledged")
        assert told["params"]["notifications"] == wishes["notifications"]

    def heard(self, method: str) -> dict[str, Any]:
        return self._client.wait_for(lambda each: each.get("method") == method)


class OnHttp:
    def __init__(self, served: Served, path: str, modern: bool) -> None:
        self.modern = modern
        self._served = served
        self._path = path
        self._live: Live | None = None
        self._session = None if modern else Session(served, "2025-11-25", {}, path)

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        if self._session is not None:
            return self._session.ask(method, params).message
        headers = modern_headers(method, params)
        return self._served.request("POST", self._path, modern_body(method, params), headers).message

    def watch(self, uri: str) -> None:
        if self._session is not None:
            assert self.ask("resources/subscribe", {"uri": uri})["result"] == {}
            self._live = self._session.listen()
            return
        method = "subscriptions/listen"
        wishes = {"notifications": {"resourceSubscriptions": [uri]}}
        self._live = self._served.stream(
            "POST", modern_body(method, wishes), modern_headers(method), self._path
        )
        told = self.heard("notifications/subscriptions/acknowledged")
        assert told["params"]["notifications"] == wishes["notifications"]

    def heard(self, method: str) -> dict[str, Any]:
        assert self._live is not None
        while True:
            event = self._live.event()
            if event.get("data"):
                message = json.loads(event["data"])
                if message.get("method") == method:
                    return message
