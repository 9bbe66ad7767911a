"""The first exchange on stdio, from the configuration alone: importing the rest of us takes as long again.

All that follows it, and whatever is unusual about a first request, is for `stdio`.
"""

from __future__ import annotations

import os
import select
import signal

import msgspec

from .config import Config
from .endpoint.introduction import discovered, initialized, introduction
from .endpoint.question import STRANGER, Question
from .errors import RpcError
from .wire import messages

_ANSWERED = {"initialize": initialized, "server/discover": discovered}


class Greeting(msgspec.Struct, frozen=True):
    """How far it got; the connection goes on from there, and nothing is said twice or out of order."""

    answered: bytes = b""
    """The client's first line, where its answer was given."""
    unsent: bytes = b""
    """What of that answer the client has not taken."""
    unread: bytes = b""
    """What else was taken in, of which nothing was made."""


UNGREETED = Greeting()

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that wait, once the greeting was answered, until the connection heeds them."""


def greet(config: Config) -> Greeting:
    """Answer the client's first request, where it is here already and can be answered now."""
    if not select.select([0], [], [], 0)[0]:
        return UNGREETED
    said = os.read(0, 1 << 16)
    line, newline, rest = said.partition(b"\n")
    answer = _answer(config, line) if newline else None
    if answer is None:
        return Greeting(unread=said)
    # Whoever has its answer may ask us to end, and is to be heard by the connection.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        written = os.write(1, answer)
    except OSError:  # full, or gone; the connection will find out which
        written = 0
    return Greeting(line, answer[written:], rest)


def _answer(config: Config, line: bytes) -> bytes | None:
    try:
        message = messages.read(line)
        if not message.id or message.method not in _ANSWERED:
            return None
        question = Question(message.method, message.params, STRANGER)
        result = _ANSWERED[message.method](
            question, introduction(config, None, modern=question.client.modern)
        )
    except (ValueError, RpcError):  # what is wrong with it, the connection will say
        return None
    return b"".join(messages.answer(message.id, result))
