"""An endpoint: what clients of either era can ask of us, and how they hear of changes.

What there is to ask for is for the subclasses: the meta-tools, or a toolbox as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence, Set

import msgspec
from msgspec import Raw

from ..chores import Chores
from ..errors import ConnectFailed, RpcError, Unanswered
from ..names import ResourceRef, Scope, ToolRef
from ..progress import Notify, ProgressRelay
from ..protocol import revisions, tasks
from ..protocol.about import About
from ..protocol.audience import Audience, declaration
from ..protocol.results import Result
from ..servers.base import Server
from ..servers.call import Call
from ..wire.lines import Piece
from ..wire.messages import (
    EMPTY_OBJECT,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    encode,
    members,
    with_member,
)
from ..workbench import Workbench
from .introduction import SERVER_INFO, discovered, initialized, modern_members
from .offers import Ambiguous, Offers
from .question import Client, Question, read_level
from .relay import LISTS, NO_RESOURCE, pass_on
from .subscription import Subscription, Wishes
from .tasks import TaskRelay


class Endpoint(ABC):
    streams_lists = False
    """Whether legacy clients get lists as events over HTTP, as most servers send them."""

    def __init__(self, workbench: Workbench, *, shared: bool, addressed: bool) -> None:
        """`shared` by many clients: where they may see different toolboxes, they are told not to share what
        they hear. With `addressed`, resources are known by addresses of ours.
        """
        self.workbench = workbench
        self._shared = shared
        self._info = SERVER_INFO
        self._subscriptions: set[Subscription] = set()
        self._offers = Offers(self._servers, addressed=addressed)
        self._tasks = TaskRelay(workbench.eras, self._server, workbench.config.secrets)
        self._chores = Chores()
        self._stop = [workbench.on_change(self._changed), workbench.on_notice(self._heard)]

    @abstractmethod
    def at_once(self, question: Question) -> bytes | None:
        """The result of what needs no waiting; None for all the rest. Raises RpcError."""

    @abstractmethod
    async def later(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of what `at_once` has none of, in pieces. Raises RpcError."""

    @abstractmethod
    async def _about(self, question: Question) -> About:
        """What we can do for whoever asks. Raises RpcError."""

    @abstractmethod
    def _servers(self, scope: Scope) -> Sequence[Server]:
        """Those that a caller can use now."""

    def _server(self, toolbox: str, name: str, scope: Scope) -> Server | None:
        """One that a caller may know of, whether it can be used by now or not."""
        found = self.workbench.seen(scope).get(toolbox)
        return found.servers.get(name) if found is not None else None

    def _sole(self, scope: Scope) -> Server | None:
        """The one server that there is, where everything is to be as that one says it."""
        return None

    @abstractmethod
    def _changed(self) -> None:
        """Something in the workbench is no longer as it was."""

    async def answer(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of anything but `subscriptions/listen`, in pieces. Raises RpcError.

        `notify` is for what the client is told on the way.
        """
        result = self.at_once(question)
        return (result,) if result is not None else await self.later(question, notify)

    async def definition(self, question: Question) -> Raw | None:
        """That of the downstream tool which a `tools/call` names, where it can name one. Raises RpcError."""
        return None

    def client_of(self, question: Question) -> Client:
        """Who a client is from its `initialize` on."""
        params = question.params
        return msgspec.structs.replace(
            question.client,
            name=params.client_info.name,
            version=revisions.agreed(params.protocol_version),
            declared=declaration(params.capabilities, modern=False),
        )

    # Who hears of changes

    def subscribe(self, subscription: Subscription) -> None:
        """Tell a legacy client of changes, from now on."""
        self._subscriptions.add(subscription)

    async def listen(self, question: Question, subscription: Subscription) -> None:
        """Tell a modern client what it wishes to hear of, as far as that can be had. Raises RpcError."""
        about = await self._about(question)
        wishes = subscription.wishes
        if wishes.tasks and not tasks.understands(question.capabilities):
            raise tasks.undeclared()
        granted = Wishes(
            tools=wishes.tools and about.can("tools", "listChanged"),
            prompts=wishes.prompts and about.can("prompts", "listChanged"),
            resources=wishes.resources and about.can("resources", "listChanged"),
        )
        try:
            for uri in wishes.uris:
                with contextlib.suppress(RpcError):
                    await self._watch(question, subscription, uri)
                    granted.uris.append(uri)
            for id in wishes.tasks:
                with contextlib.suppress(RpcError):
                    await self._tasks.follow(question, subscription, id, self._sole(question.client.scope))
                    granted.tasks.append(id)
        except asyncio.CancelledError:
            self.unsubscribe(subscription)
            raise
        subscription.wishes = granted
        subscription.acknowledge()
        self._subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Tell it nothing more."""
        self._subscriptions.discard(subscription)
        for ref in list(subscription.watched):
            self._unwatch(subscription, ref)
        self._tasks.unfollow(subscription)

    async def _watch(self, question: Question, subscription: Subscription, uri: str) -> None:
        """Raises RpcError."""
        server, own = await self._resource(question, uri)
        ref = ResourceRef(server.config.toolbox, server.config.name, own)
        if ref in subscription.watched:
            return
        subscription.watched[ref] = uri
        try:
            await server.connect()
            await server.hearing.watch(own)
        except (ConnectFailed, Unanswered) as failure:
            subscription.watched.pop(ref, None)
            raise RpcError(INTERNAL_ERROR, failure.reason) from None
        except BaseException:
            subscription.watched.pop(ref, None)  # which the end of its session may have done
            raise

    def _unwatch(self, subscription: Subscription, ref: ResourceRef) -> None:
        del subscription.watched[ref]
        for server in self._servers(None):
            if (server.config.toolbox, server.config.name) == (ref.toolbox, ref.server):
                self._chores.begin(server.hearing.unwatch(ref.uri))

    def _heard(self, server: Server, method: str, params: Raw) -> None:
        toolbox = server.config.toolbox
        hearers = self._hearers({toolbox})
        if method in (tasks.STATUS, tasks.OLDER_STATUS):
            self._tasks.hear(server, method, params, hearers)
            return
        if method == tasks.PROGRESS:
            self._tasks.progressed(server, params, hearers)
            return
        if server not in self._servers(None):
            return
        if method == "notifications/resources/updated":
            with contextlib.suppress(KeyError, msgspec.DecodeError):
                uri = msgspec.json.decode(members(bytes(params))["uri"], type=str)
                for subscription in hearers:
                    subscription.updated(ResourceRef(toolbox, server.config.name, uri), params)
        else:
            kind = method.split("/")[1]
            for subscription in hearers:
                subscription.list_changed(kind)

    def _list_changed(self, kind: str, toolboxes: Set[str]) -> None:
        """Tell those who may know of one of these toolboxes."""
        for subscription in self._hearers(toolboxes):
            subscription.list_changed(kind)

    def _hearers(self, toolboxes: Set[str]) -> list[Subscription]:
        return [
            each for each in self._subscriptions if each.scope is None or not each.scope.isdisjoint(toolboxes)
        ]

    def close(self) -> None:
        """Tell nobody anything any more."""
        for stop in self._stop:
            stop()

    # Tools

    async def _run(
        self, question: Question, ref: ToolRef, arguments: Raw | bytes, notify: Notify, *, listed: bool = True
    ) -> Result:
        """Call a tool for a client. Raises ToolError."""
        params, client = question.params, question.client
        call = Call(
            ref=ref,
            arguments=arguments,
            caller=client.name,
            meta=params.meta,
            principal=client.logged,
            scope=client.scope,
            listed=listed,
            audience=question.audience,
        )
        if params.input_responses:
            call.extra += (b',"inputResponses":', params.input_responses)
        if params.request_state:
            call.extra += (b',"requestState":', params.request_state)
        if client.modern and (client.declared or question.level is not None or params.request_state):
            call.audience = question.visitor(notify)
        sole = self._sole(client.scope) if params.task else None
        as_task = sole is not None and not (client.modern or sole.modern)
        if as_task:
            call.extra += (b',"task":', params.task)
        if not question.progress_token:
            result = await self.workbench.call(call)
        else:
            relay = ProgressRelay(question.progress_token, notify)
            call.on_progress = relay.tell
            try:
                result = await self.workbench.call(call)
            finally:
                relay.flush()
        if as_task or result.is_task:
            return self._tasks.begun(question, call, result, self._sole(client.scope))
        return result

    # Resources, prompts, completions

    async def _relay(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of a request about what servers offer beside tools. Raises RpcError."""
        params, scope = question.params, question.client.scope
        legacy = not question.client.modern
        match question.method:
            case method if method in LISTS:
                kind = LISTS[method]
                return (self._listed(question, kind, await self._offers.list(kind, scope)),)
            case "resources/read":
                server, uri = await self._resource(question, _required(params.uri, "uri"))
                return await pass_on(self.workbench.eras, question, server, notify, uri=uri)
            case "resources/subscribe" if question.subscription is not None and legacy:
                await self._watch(question, question.subscription, _required(params.uri, "uri"))
                return (EMPTY_OBJECT,)
            case "resources/unsubscribe" if question.subscription is not None and legacy:
                uri = _required(params.uri, "uri")
                for ref, known in list(question.subscription.watched.items()):
                    if known == uri:
                        self._unwatch(question.subscription, ref)
                return (EMPTY_OBJECT,)
            case "prompts/get":
                server, name = await self._prompt(question, _required(params.name, "name"))
                return await pass_on(self.workbench.eras, question, server, notify, name=name)
            case "completion/complete":
                return await self._complete(question, notify)
            case _:
                raise unknown_method(question)

    async def _complete(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        ref = question.params.ref
        if ref.name is not None:
            server, name = await self._prompt(question, ref.name)
            own = Raw(with_member(bytes(question.members["ref"]), "name", encode(name)))
        else:
            uri = _required(ref.uri, "ref.uri")
            found = await self._found(self._offers.template(uri, question.client.scope), question, uri)
            server, template = found
            own = Raw(with_member(bytes(question.members["ref"]), "uri", encode(template)))
        return await pass_on(self.workbench.eras, question, server, notify, ref=own)

    async def _prompt(self, question: Question, name: str) -> tuple[Server, str]:
        found = await self._offers.prompt(name, question.client.scope)
        if found is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name}")
        return found

    async def _resource(self, question: Question, uri: str) -> tuple[Server, str]:
        """Whose it is, and what its server calls it. Raises RpcError."""
        client = question.client
        return await self._found(self._offers.resource(uri, client.scope, client.principal), question, uri)

    async def _found(
        self, looking: Awaitable[tuple[Server, str] | None], question: Question, uri: str
    ) -> tuple[Server, str]:
        try:
            found = await looking
        except Ambiguous as problem:
            raise RpcError(INVALID_PARAMS, f"Resource is ambiguous: {problem}") from None
        if found is None:
            code = INVALID_PARAMS if question.client.modern else NO_RESOURCE
            raise RpcError(code, "Resource not found", encode({"uri": uri}))
        return found

    # Log messages

    def _set_level(self, question: Question) -> bytes:
        """From now on a legacy client hears log messages from this level on. Raises RpcError."""
        level = read_level(question.params.level)
        home = question.audience.home if question.audience is not None else None
        if isinstance(home, Audience):
            home.level = level
        return EMPTY_OBJECT

    # Results

    def _initialized(self, question: Question, about: About) -> bytes:
        return initialized(question, about, self._info)

    def _discovered(self, question: Question, about: About) -> bytes:
        return discovered(question, about, self._info, private=self._private)

    def _listed(self, question: Question, kind: str, entries: object) -> bytes:
        """The whole of a list, which has one page."""
        if question.params.cursor is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor")
        if question.client.modern:
            common = modern_members(self._info, private=self._private)
            return encode({"resultType": "complete", kind: entries, **common})
        return encode({kind: entries})

    @property
    def _private(self) -> bool:
        tokens = self.workbench.config.http.tokens.values() if self._shared else ()
        return any(token.toolboxes is not None for token in tokens)


def unknown_method(question: Question) -> RpcError:
    return RpcError(METHOD_NOT_FOUND, "Method not found", encode({"method": question.method}))


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {name} is required")
    return value
