"""Raw clients that declare the extension: of one server, of several, and of the meta-tools."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tests.direct.clients import Asker
from tests.http.served import Live, Served, modern_body, modern_headers
from tests.support.client import Client, invocation

SERVERS = Path(__file__).parent / "servers"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
EXTENSION = "io.modelcontextprotocol/tasks"
DECLARED = {CAPABILITIES: {"extensions": {EXTENSION: {}}, "elicitation": {}}}
REQUIRED = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}

Way = Literal["one", "several", "meta"]


def server(script: str, *args: str, **keys: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", str(SERVERS / f"{script}.py"), *args], **keys}


class Tasked:
    """A modern client of the server `it` in the toolbox `dev`."""

    def __init__(self, asker: Asker, way: Way) -> None:
        self._asker = asker
        self.way = way
        if way == "meta":
            self.call("open_toolbox", {"toolbox": "dev"}, ours=True)

    def ask(self, method: str, params: Mapping[str, Any] | None = None, meta: Any = DECLARED) -> Any:
        """The whole response."""
        return self._asker.ask(method, {**(params or {}), "_meta": meta})

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        meta: Any = DECLARED,
        *,
        ours: bool = False,
    ) -> Any:
        answer = self.start(tool, arguments, meta, ours=ours)
        assert "result" in answer, answer
        return answer["result"]

    def start(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        meta: Any = DECLARED,
        *,
        ours: bool = False,
    ) -> Any:
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        if not ours and self.way == "meta":
            params = {"name": "use_tool", "arguments": invocation(f"dev/it/{tool}", arguments)}
        elif not ours and self.way == "several":
            params["name"] = f"it__{tool}"
        return self.ask("tools/call", params, meta)

    def get(self, id: str) -> Any:
        answer = self.ask("tasks/get", {"taskId": id})
        assert "result" in answer, answer
        return answer["result"]

    def seen(self, method: str) -> list[dict[str, Any]]:
        """The requests of that method as the server got them."""
        said = json.loads(self.call("seen")["content"][0]["text"])
        return [each for each in said["seen"] if each["method"] == method]


class StdioEar:
    """A subscription to tasks."""

    def __init__(self, client: Client, ids: list[str], meta: Any = DECLARED) -> None:
        params = {"notifications": {"taskIds": ids}, "_meta": meta}
        self._client = client
        self._at = len(client.messages)
        self.id = client.start_request("subscriptions/listen", params, modern=True)

    def heard(self) -> Any:
        """The next message of this subscription, or the answer to it."""
        message = self._client.wait_for(self._fits, since=self._at)
        self._at = self._client.messages.index(message, self._at) + 1
        return message

    def _fits(self, message: Any) -> bool:
        named = message.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/subscriptionId")
        return self.id in (named, message.get("id"))


class HttpEar:
    def __init__(self, served: Served, path: str, ids: list[str], meta: Any = DECLARED) -> None:
        method = "subscriptions/listen"
        params = {"notifications": {"taskIds": ids}, "_meta": meta}
        self.id = 7
        self._live: Live = served.stream(
            "POST", modern_body(method, params, self.id), modern_headers(method), path
        )

    def heard(self) -> Any:
        if self._live.headers["Content-Type"] == "application/json":
            return json.loads(self._live.response.read())
        while not (event := self._live.event()).get("data"):
            pass
        return json.loads(event["data"])
