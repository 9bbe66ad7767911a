"""What is passed on to servers besides calls: requests about resources, prompts and completions."""

from __future__ import annotations

from msgspec import Raw

from ..errors import ConnectFailed, RpcError, Unanswered
from ..progress import Notify, ProgressRelay
from ..protocol.results import relayed
from ..protocol.session import Asked
from ..servers.base import Server
from ..servers.eras import Eras
from ..wire.lines import Piece
from ..wire.messages import INTERNAL_ERROR, INVALID_PARAMS, encode
from .question import Question

LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The methods that list what is no tool, and the member of the result that is the list."""

RELAYED = frozenset(
    (
        *LISTS,
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/get",
        "completion/complete",
    )
)
KEPT = frozenset((*LISTS, "resources/read"))
"""Methods whose results a modern client may keep for a while."""

PATIENT = frozenset(("tasks/result",))
"""Methods whose results come when something is done."""

NO_RESOURCE = -32002


async def pass_on(
    eras: Eras, question: Question, server: Server, notify: Notify, **replaced: object
) -> tuple[Piece, ...]:
    """The server's own answer to a question; `replaced` are parameters that it knows by other names.

    Raises RpcError.
    """
    params = question.members
    params |= {name: Raw(encode(value)) for name, value in replaced.items()}
    audience = question.visitor(notify) if question.client.modern else question.audience
    asked = Asked(question.method, params, audience=audience, patient=question.method in PATIENT)
    relay = ProgressRelay(question.progress_token, notify) if question.progress_token else None
    if relay is not None:
        asked.on_progress = relay.tell
    try:
        raw = await eras.ask(server, asked)
        return relayed(raw, modern=question.client.modern, kept=question.method in KEPT)
    except (ConnectFailed, Unanswered) as failure:
        raise RpcError(INTERNAL_ERROR, failure.reason) from None
    except RpcError as error:
        if error.code == NO_RESOURCE and question.client.modern:  # which has no code of its own for that
            raise RpcError(INVALID_PARAMS, error.message, error.data) from None
        raise
    finally:
        if relay is not None:
            relay.flush()
