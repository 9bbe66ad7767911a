"""The feature servers, and where clients reach them: directly, behind the meta-tools, as a toolbox.

Processes are started when a place is first needed and shared from then on.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.http.served import Served
from tests.support.client import PATIENCE, Client as Process, invocation
from tests.support.launch import Launcher, configuration, environment, toolbox

from .client import Asker, Json, OnStdio, OverHttp, Wire

SERVERS = Path(__file__).parent / "servers"

Era = Literal["legacy", "modern"]
Behind = Literal["child", "remote"]
Way = Literal["alone", "use_tool", "toolbox"]
Transport = Literal["stdio", "http"]

ERAS: tuple[Era, ...] = ("legacy", "modern")
BEHIND: tuple[Behind, ...] = ("child", "remote")

PAIR = ("modern_child", "modern_remote")

_tags = itertools.count(1)


class Spot(NamedTuple):
    """One combination of the matrix."""

    client: Era
    server: Era
    behind: Behind
    way: Way
    transport: Transport

    def __str__(self) -> str:
        return f"{self.client}-client-{self.server}-{self.behind}-{self.way}-{self.transport}"

    @property
    def toolbox(self) -> str:
        return f"{self.server}-{self.behind}"


SPOTS = [
    *(Spot(era, era, "child", "alone", "stdio") for era in ERAS),
    *(Spot(era, era, "remote", "alone", "http") for era in ERAS),
    *(
        Spot(client, server, behind, way, transport)
        for client, server, behind, way, transport in itertools.product(
            ERAS, ERAS, BEHIND, ("use_tool", "toolbox"), ("stdio", "http")
        )
    ),
]


class Record:
    """What a server saw, from the file that it writes it to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self):
        text = self.path.read_text() if self.path.exists() else ""
        whole, _, _ = text.rpartition("\n")  # the server may be writing another line right now
        return map(json.loads, whole.splitlines())

    def wait_for(self, fits: Callable[[Json], bool], patience: float = PATIENCE) -> Json:
        until = time.monotonic() + patience
        while True:
            for entry in self:
                if fits(entry):
                    return entry
            assert time.monotonic() < until, f"the server never saw it: {list(self)[-5:]}"
            time.sleep(0.01)

    def requests(self, method: str) -> list[Json]:
        return [entry for entry in self if entry.get("got", {}).get("method") == method]

    def calls(self, tag: str) -> list[Json]:
        """The params of the calls with that tag."""
        calls = [entry["got"]["params"] for entry in self.requests("tools/call")]
        return [params for params in calls if (params.get("arguments") or {}).get("tag") == tag]

    def wait_for_call(self, tag: str) -> None:
        self.wait_for(lambda entry: is_call(entry, tag))

    def wait_for_cancelled(self, tag: str) -> None:
        """Until the server knows that nobody waits for that call."""
        self.wait_for(lambda entry: tagged(entry.get("cancelled"), tag))


def tagged(params: Any, tag: str) -> bool:
    return isinstance(params, dict) and (params.get("arguments") or {}).get("tag") == tag


def is_call(entry: Json, tag: str) -> bool:
    got = entry.get("got", {})
    return got.get("method") == "tools/call" and tagged(got.get("params"), tag)


class Place:
    """One server as one client reaches it."""

    def __init__(self, asker: Asker, record: Record, way: Way, toolbox: str) -> None:
        self.asker = asker
        self.record = record
        self.way = way
        self.toolbox = toolbox
        self.server = server_name(toolbox)
        if way == "use_tool":
            opened = asker.result("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": toolbox}})
            assert not opened.get("isError"), opened

    def params(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Json:
        """Those of the `tools/call` that calls a tool of the server."""
        if self.way == "use_tool":
            ref = f"{self.toolbox}/{self.server}/{tool}"
            return {"name": "use_tool", "arguments": invocation(ref, arguments or {})}
        return {"name": tool, "arguments": dict(arguments or {})}

    def start(self, tool: str, arguments: Mapping[str, Any] | None = None, **meta: object) -> int:
        return self.asker.start("tools/call", self.params(tool, arguments), **meta)

    def once(self, tool: str, arguments: Mapping[str, Any] | None = None, **meta: object) -> Json:
        """The whole response to one request."""
        return self.asker.once("tools/call", self.params(tool, arguments), **meta)

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **meta: object) -> Json:
        """The result, with every question answered."""
        return self.asker.result("tools/call", self.params(tool, arguments), **meta)

    def ask(self, *kinds: str, tag: str = "", **more: object) -> Json:
        """What the server's `ask` got for answers."""
        tag = tag or new_tag()
        result = self.call("ask", {"tag": tag, "kinds": list(kinds), **more})
        said = json.loads(text(result))
        assert said["tag"] == tag
        return said["answers"]

    def uri(self, own: str) -> str:
        """What a resource of the server is called here."""
        if self.way != "use_tool":
            return own
        listed = self.asker.result("resources/list")["resources"]
        (found,) = [each["uri"] for each in listed if self.is_ours(each) and each["_meta"][OWN_URI] == own]
        return found

    def prompt(self, own: str) -> str:
        """What a prompt of the server is called here."""
        if self.way != "use_tool":
            return own
        names = [each["name"] for each in self.asker.result("prompts/list")["prompts"] if self.is_ours(each)]
        (found,) = [name for name in names if name == own or name.endswith(f"__{own}")]
        return found

    def is_ours(self, offer: Json) -> bool:
        """Whether something behind the meta-tools is our server's."""
        meta = offer.get("_meta", {})
        return (meta.get("workbench/toolbox"), meta.get("workbench/server")) == (self.toolbox, self.server)


OWN_URI = "workbench/uri"


def new_tag() -> str:
    return f"tag-{next(_tags)}"


def text(result: Json) -> str:
    (block,) = result["content"]
    return block["text"]


def server_name(toolbox: str) -> str:
    return toolbox.replace("-", "_")


class Stage:
    """Everything that a module's tests run against, in one folder; used by `with`."""

    def __init__(
        self,
        folder: Path,
        *,
        limits: Json | None = None,
        script: str = "{era}",
        tokens: Sequence[str] = (),
        capabilities: Json | None = None,
    ) -> None:
        """`script` names the servers; `tokens` are names that are tokens too; `capabilities` are those that
        clients declare unless they are told otherwise.
        """
        self.folder = folder
        self.limits = limits or {}
        self._script = script
        self._tokens = tokens
        self._options: Json = {"capabilities": capabilities}
        self._remotes: dict[Era, str] = {}
        self._places: dict[Spot, Place] = {}
        self._served: Served | None = None
        self._stack = ExitStack()
        self._launcher = self._stack.enter_context(Launcher(folder))

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def place(self, spot: Spot) -> Place:
        """Shared by everyone who asks for that spot."""
        if spot not in self._places:
            self._places[spot] = self.new_place(spot)
        return self._places[spot]

    def new_place(self, spot: Spot, token: str = "", process: Process | None = None, **options: Any) -> Place:
        """A client of its own, in a process of its own on stdio; `options` are the Asker's."""
        wire = self._wire(spot, token) if process is None else OnStdio(process)
        asker = Asker(wire, modern=spot.client == "modern", **{**self._options, **options})
        self._stack.callback(asker.close)
        return Place(asker, self.record(spot.server, spot.behind), spot.way, spot.toolbox)

    def pair(self) -> Asker:
        """A client of 2026-07-28 of the toolbox with two servers, over HTTP."""
        url = self.served.url.replace("/mcp", "/toolboxes/pair/mcp")
        asker = Asker(OverHttp(url, self.served.headers), modern=True, **self._options)
        self._stack.callback(asker.close)
        return asker

    def record(self, era: Era, behind: Behind) -> Record:
        return Record(self.folder / f"{era}-{behind}.record")

    @property
    def served(self) -> Served:
        """The one workbench that serves over HTTP."""
        if self._served is None:
            home = self.folder / "served"
            home.mkdir()
            self._served = self._stack.enter_context(Served(home, self.config()))
        return self._served

    def config(self) -> Json:
        boxes = {
            f"{era}-{behind}": toolbox(**{f"{era}_{behind}": self._entry(era, behind)})
            for era in ERAS
            for behind in BEHIND
        }
        # And a toolbox with more than one server.
        boxes["pair"] = toolbox(**{name: boxes[name.replace("_", "-")]["mcpServers"][name] for name in PAIR})
        http = {"http": {"tokens": {name: {"token": name} for name in self._tokens}}} if self._tokens else {}
        return {**configuration(**boxes), **http}

    def script(self, era: Era) -> str:
        return str(SERVERS / f"{self._script.format(era=era)}.py")

    def _entry(self, era: Era, behind: Behind) -> Json:
        limits = {"limits": self.limits} if self.limits else {}
        if behind == "remote":
            return {"url": self._remote(era), **limits}
        env = {"RECORD": str(self.record(era, "child").path)}
        return {"command": sys.executable, "args": ["-S", self.script(era)], "env": env, **limits}

    def _wire(self, spot: Spot, token: str) -> Wire:
        if spot.transport == "stdio":
            return OnStdio(self.process(spot))
        if spot.way == "alone":
            return OverHttp(self._remote(spot.server))
        path = f"/toolboxes/{spot.toolbox}/mcp" if spot.way == "toolbox" else "/mcp"
        headers = {"Authorization": f"Bearer {token}"} if token else self.served.headers
        return OverHttp(self.served.url.replace("/mcp", path), headers)

    def process(self, spot: Spot) -> Process:
        """A new one of its own, which speaks with us on stdio."""
        if spot.way == "alone":
            env = {"PATH": os.environ["PATH"], "RECORD": str(self.record(spot.server, "child").path)}
            process = Process(
                [sys.executable, "-S", self.script(spot.server)],
                env=env,
                cwd=self.folder,
                mark=str(self.folder),
            )
            self._stack.callback(process.end)
            return process
        args = ("serve", "--toolbox", spot.toolbox) if spot.way == "toolbox" else ()
        return self._launcher(self.config(), args=args)

    def _remote(self, era: Era) -> str:
        if era not in self._remotes:
            env = {**environment(self.folder), "RECORD": str(self.record(era, "remote").path)}
            remote = subprocess.Popen(
                [sys.executable, "-S", self.script(era), "0"],
                env=env,
                stdout=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
            )
            self._stack.callback(remote.wait, PATIENCE)
            self._stack.callback(remote.terminate)
            assert remote.stdout is not None
            self._remotes[era] = f"http://127.0.0.1:{int(remote.stdout.readline())}/mcp"
        return self._remotes[era]
