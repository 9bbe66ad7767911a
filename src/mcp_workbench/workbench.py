"""The workbench: opens toolboxes, and is the one place that every call of every tool passes through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Set
from typing import TypeAlias

from msgspec import Raw

from .chores import Chores
from .config import ChildConfig, Config, FolderConfig, RemoteConfig, ServerConfig
from .errors import (
    CallFailed,
    CallRefused,
    ConnectFailed,
    RpcError,
    ServerNotFound,
    ToolboxNotFound,
    ToolboxNotOpen,
    ToolboxUnknown,
    ToolNotFound,
    ToolNotOffered,
    Unanswered,
    said_of_a_mistake,
)
from .journal import Journal, beginning
from .names import Scope, ToolRef
from .pins.pins import Pins
from .protocol.audience import Audience
from .protocol.results import Result
from .servers.base import Begun, Server
from .servers.call import Call
from .servers.child import ChildServer
from .servers.eras import Eras
from .servers.folder import FolderServer
from .servers.guard import Watchdog
from .servers.link import Link
from .servers.processes import Processes
from .servers.remote.server import RemoteServer
from .servers.tool import Tool, unlisted_tool
from .switchboard import Switchboard
from .toolbox import Toolbox
from .wire.lines import Piece
from .wire.messages import NULL, encode, error_object

Hearer: TypeAlias = Callable[[Server, str, Raw], None]
"""Hears a notification of a server: its method and its params."""


class Workbench:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.pins = Pins(config.path)
        self._processes = Processes()
        self._listeners: set[Callable[[], None]] = set()
        self._hearers: set[Hearer] = set()
        self.shown: set[ToolRef] = set()
        """What a search has shown to a client, which may then call it without opening its toolbox first."""
        self.calls = 0
        self.errors = 0
        self._farewells = Chores()
        self.toolboxes: dict[str, Toolbox] = {}
        self._found_secrets: set[str] = set()
        """Those that the configuration does not hold itself."""
        self._on_record: dict[str, object] = {}
        """What each toolbox offered when it was last put on record."""
        self.eras = Eras()
        self._arrange(config)
        self.journal = self._journal()

    def reload(self, config: Config) -> None:
        """Go on with another configuration.

        Servers whose entries are the same keep their processes; changed and removed ones finish their calls
        and are closed; new ones are connected when they are used. Another log is a change to tool files.
        """
        before, self.config = self.config, config
        servers = set(self._servers())
        self._arrange(config)
        for server in servers.difference(self._servers()):
            self._farewells.begin(server.retire())
        if config.log != before.log or config.secrets != before.secrets:
            self.journal.close()
            self.journal = self._journal()
            self._on_record.clear()
        self._changed()

    def prepare(self, watchdog: Watchdog | None = None) -> None:
        """Do what makes the first opening faster, before anybody asks for one.

        `watchdog` is one that was started already.
        """
        if self.config.has_children or watchdog is not None:
            self._processes.prepare(watchdog)

    def seen(self, scope: Scope) -> Mapping[str, Toolbox]:
        """The toolboxes that a caller may know of; the others do not exist for it."""
        if scope is None:
            return self.toolboxes
        return {name: toolbox for name, toolbox in self.toolboxes.items() if name in scope}

    @property
    def skipped(self) -> int:
        """Lines of servers that were no messages."""
        return sum(server.skipped for server in self._servers())

    @property
    def untied(self) -> int:
        """Questions and log messages of servers that could not be tied to one client."""
        return sum(server.unasked + server.untold for server in self._servers())

    async def open(
        self,
        name: str,
        scope: Scope = None,
        on_settled: Callable[[Server], None] | None = None,
        audience: Audience | None = None,
    ) -> Toolbox:
        """Raises ToolboxUnknown or OpeningFailed. `audience` is for whom."""
        toolboxes = self.seen(scope)
        toolbox = toolboxes.get(name)
        if toolbox is None:
            raise ToolboxUnknown(name, toolboxes)
        self._heed_pins()
        await toolbox.open(on_settled, audience)
        if self.config.log.record:
            self._record(toolbox)
        return toolbox

    async def call(self, call: Call) -> Result:
        """Call a tool: the path of every call, from whomever and to wherever, with its one line in the log.

        Raises CallRefused where there is nothing to call, and CallFailed where no result came of it.
        """
        ref = call.ref
        server = self._find(call)
        if server.config.pinned:
            self._heed_pins()
        tool = server.tools.get(ref.name)
        if tool is None and (server.connected or server.asleep):
            tool = await self._look_up(server, call)
        call.id, call.began, call.clock = beginning()
        result = await self.see_through(call, self._make(call, server, tool))
        audience = call.audience
        if server.modern and audience is not None and not (audience.modern or call.again):
            return await self.eras.see_through(server, call, audience, result, self.call)
        return result

    async def _make(self, call: Call, server: Server, tool: Tool | None) -> Result:
        audience = call.audience
        if not server.connected:
            await server.connect(audience)
            tool = await self._look_up(server, call)
        assert tool is not None
        if audience is not None and audience.modern and not server.modern:
            return await self.eras.call(server, tool, call)
        return Result(await server.call(tool, call), server.modern)

    async def see_through(self, call: Call, answer: Awaitable[Result]) -> Result:
        """What becomes of a call that has begun, here and in the log. Raises what `call` does."""
        error: str | None = None
        pieces: tuple[Piece, ...] = ()
        try:
            result = await answer
            error = result.error_text
            pieces = (b'"result":', result.raw)
            return result
        except (RpcError, ConnectFailed, Unanswered) as failure:
            error = failure.reason
            if isinstance(failure, RpcError):  # the server's own words, as a result would be
                pieces = (b'"error":', error_object(failure))
            else:
                error = self.masked(error)
                pieces = (b'"unanswered":', encode(error))
            raise CallFailed(call.ref, error, failure if isinstance(failure, RpcError) else None) from None
        except asyncio.CancelledError:
            error = "cancelled"
            raise
        except CallRefused:
            call.id = ""  # there was nothing to call after all
            raise
        except Exception as mistake:  # of ours; whoever asked gets an apology
            error = said_of_a_mistake(mistake)
            raise
        finally:
            if call.id:
                self.log(call, error, pieces)

    def straight(self, call: Call) -> tuple[Server, Tool, Link] | None:
        """Where this call goes, if nothing has to be waited for but its answer; else `call` is the way."""
        ref = call.ref
        toolboxes = self.toolboxes if call.scope is None else self.seen(call.scope)
        try:
            toolbox = toolboxes[ref.toolbox]
            server = toolbox.servers[ref.server]
            tool = server.tools[ref.name]
        except KeyError:
            return None
        if not toolbox.opened or server.config.pinned:
            return None
        link = server.straight(tool, call)
        return (server, tool, link) if link is not None else None

    def begin(self, begun: Begun) -> bool:
        """Make a call that can go straight. Where it cannot after all, nothing was done.

        Whoever begins a call logs what becomes of it.
        """
        call = begun.call
        call.id, call.began, call.clock = beginning()
        if not begun.server.begin(begun):
            return False
        if begun.id:  # then the server works meanwhile; else it waits for a place, with as little as can be
            call.note = self.journal.note(call)
        return True

    def roots_changed(self, home: object) -> None:
        """A client's roots are no longer what they were."""
        for server in self._servers():
            server.roots_changed(home)

    def tool(self, ref: ToolRef) -> Tool | None:
        """The tool, where it is offered now."""
        toolbox = self.toolboxes.get(ref.toolbox)
        server = toolbox.servers.get(ref.server) if toolbox is not None else None
        return server.tools.get(ref.name) if server is not None else None

    def identify(self, name: str, scope: Scope) -> ToolRef | None:
        """A tool of this name in an open toolbox."""
        for toolbox in self.seen(scope).values():
            if toolbox.opened and (server := toolbox.find(name)) is not None:
                return ToolRef(toolbox.config.name, server.config.name, name)
        return None

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called when tools have changed; returns how to stop that."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def on_notice(self, hearer: Hearer) -> Callable[[], None]:
        """Have `hearer` called with what servers say of resources and prompts; returns how to stop that."""
        self._hearers.add(hearer)
        return lambda: self._hearers.discard(hearer)

    async def close(self) -> None:
        """End every connection and every process."""
        self.eras.close()
        self._farewells.cancel()
        await asyncio.gather(*(server.close() for server in self._servers()))
        await self._processes.close()
        self.journal.close()

    async def _look_up(self, server: Server, call: Call) -> Tool:
        """Raises CallRefused where the server, connected as it is, does not offer the tool."""
        ref = call.ref
        tool = await server.find(ref.name)
        if tool is not None:
            return tool
        if ref.name in server.withheld:
            raise ToolNotOffered(ref, server.withheld[ref.name])
        if not call.listed and server.takes_unlisted(ref.name):
            return unlisted_tool(ref.name)
        raise ToolNotFound(ref)

    def log(self, call: Call, error: str | None, answer: tuple[Piece, ...]) -> None:
        """The one line of a call that has ended; `answer` is for its record."""
        self.calls += 1
        if error is not None:
            self.errors += 1
        self.journal.write(call, time.perf_counter_ns() - call.clock, error, answer)
        if self.config.log.record and (toolbox := self.toolboxes.get(call.ref.toolbox)):
            self._record(toolbox)

    def _record(self, toolbox: Toolbox) -> None:
        """Have on record what a toolbox offers, so that its calls can be served again."""
        servers = toolbox.servers
        # A server replaces its tools as a whole, and what is the very same is not looked into.
        state = (toolbox.config, [(server.listed, server.about, server.tools) for server in servers.values()])
        if self._on_record.get(toolbox.config.name) == state:
            return
        self._on_record[toolbox.config.name] = state
        from .journal.recorded import ServerListing

        listings = {
            name: ServerListing(
                name,
                server.modern,
                server.about.info or Raw(NULL),
                server.about.instructions,
                [tool.definition for tool in server.tools.values()],
            )
            for name, server in servers.items()
            if server.listed
        }
        self.journal.list_toolbox(
            toolbox.config.name,
            toolbox.config.description,
            {name: listings.get(name) for name in servers},
        )

    def _servers(self) -> Iterable[Server]:
        return (server for toolbox in self.toolboxes.values() for server in toolbox.servers.values())

    def _arrange(self, config: Config) -> None:
        """Make the toolboxes what the configuration says, with the servers that we have where they fit."""
        toolboxes: dict[str, Toolbox] = {}
        for name, entry in config.toolboxes.items():
            toolbox = self.toolboxes.get(name)
            if toolbox is None:
                toolbox = Toolbox(entry, {})
            had = toolbox.servers
            toolbox.config = entry
            toolbox.servers = {
                key: had[key] if key in had and self._fits(had[key], server) else self._new_server(server)
                for key, server in entry.servers.items()
            }
            for key, server in toolbox.servers.items():
                if key in had and had[key] is not server:
                    server.hearing.inherit(had[key].hearing)
            toolboxes[name] = toolbox
        self.toolboxes = toolboxes

    def _fits(self, server: Server, config: ServerConfig) -> bool:
        """Whether it is what it would be if it were made now."""
        if isinstance(server, FolderServer) and server.log_path != self.config.log.path:
            return False
        return server.config == config

    def _new_server(self, config: ServerConfig) -> Server:
        server = self._server(config)
        server.inspect = self.pins.inspect
        server.masked = self.masked
        server.on_notice = self._heard
        return server

    def _server(self, config: ServerConfig) -> Server:
        if isinstance(config, ChildConfig):
            return ChildServer(config, self._changed, self._processes, self._hide)
        if isinstance(config, FolderConfig):
            return FolderServer(
                config, self._changed, self._processes, Switchboard(self), self.config.log.path
            )
        assert isinstance(config, RemoteConfig)
        return RemoteServer(config, self._changed)

    def _find(self, call: Call) -> Server:
        ref = call.ref
        toolboxes = self.seen(call.scope)
        toolbox = toolboxes.get(ref.toolbox)
        if toolbox is None:
            raise ToolboxNotFound(ref.toolbox, toolboxes)
        if not toolbox.usable:
            if not (toolbox.config.open_on_use or ref in self.shown):
                raise ToolboxNotOpen(ref.toolbox)
            toolbox.open_in_background(call.audience)
        server = toolbox.servers.get(ref.server)
        if server is None:
            raise ServerNotFound(ref.server, ref.toolbox)
        return server

    def _heed_pins(self) -> None:
        """What was accepted since the last look, or is no longer, counts from now on."""
        if not self.pins.refresh():
            return
        offered = [server.tools for server in self._servers()]
        for server in self._servers():
            if server.listed:
                server.sort_out()
        if offered != [server.tools for server in self._servers()]:
            self._changed()

    def _heard(self, server: Server, method: str, params: Raw) -> None:
        for hearer in list(self._hearers):
            hearer(server, method, params)

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()

    def masked(self, text: str) -> str:
        """What servers say of their trouble, without the secrets that they were given."""
        return self.journal.masked(text)

    def _hide(self, secrets: Set[str]) -> None:
        self._found_secrets |= secrets
        self.journal.add_secrets(secrets)

    def _journal(self) -> Journal:
        log = self.config.log
        return Journal(
            log.path,
            max_size=log.max_size,
            keep=log.keep,
            value_limit=log.value_limit,
            redact=log.redact,
            secrets=self.config.secrets | self._found_secrets,
            record=log.record,
        )
