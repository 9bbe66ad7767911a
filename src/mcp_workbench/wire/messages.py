"""JSON-RPC messages as bytes: the few fields that we read; the rest stays raw and is spliced, not copied."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Raw

from ..errors import RpcError

if TYPE_CHECKING:
    from .lines import Line, Piece  # an event loop is not for reading messages

T = TypeVar("T")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

NULL = b"null"
EMPTY_OBJECT = b"{}"

COPIED = 4096
"""Bytes up to which a copy costs less than a view."""


class Message(msgspec.Struct):
    """A request, a notification or a reply. A field that is not there is empty: no JSON value is."""

    id: Raw = Raw()
    method: str | None = None
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()

    @property
    def key(self) -> bytes:
        return bytes(self.id)


class NotJson(ValueError):
    """The line is no JSON; says why."""


class NotAMessage(ValueError):
    """JSON, but neither a request, nor a notification, nor a reply."""


class TooDeep(ValueError):
    """JSON nested deeper than anybody here can read; `id` is that of the message, where it has one."""

    def __init__(self, id: bytes) -> None:
        self.id = id
        super().__init__("nested too deeply to be read")


ID_STARTS = frozenset(b'"-0123456789')

_decode = msgspec.json.Decoder(Message).decode
_decode_many = msgspec.json.Decoder(list[Raw]).decode


def read(line: Line) -> Message:
    """The message in a line. Raises NotJson, NotAMessage or TooDeep."""
    if not line.isascii():
        check_utf8(line)
    try:
        message = _decode(line)
    except msgspec.ValidationError as error:
        # The decoder stops at the first surprise; what follows it may not even be JSON.
        try:
            _check_json(line)
        except RecursionError:
            raise TooDeep(members(line).get("id", b"")) from None
        raise NotAMessage(str(error)) from None
    except (msgspec.DecodeError, RecursionError):
        message = _read_leniently(line)
    if message.error and bytes(message.error) == NULL:  # some write it beside a result
        message.error = Raw()
    if message.id:
        if message.key[0] not in ID_STARTS:
            raise NotAMessage("id must be a string or a number")
        if message.method is not None or message.result or message.error:
            return message
    elif message.method is not None:
        return message
    raise NotAMessage("neither a method nor a reply")


_CHECKED_AT_ONCE = 1 << 20


def check_utf8(line: Line) -> None:
    """What stays raw is not checked by the decoder, and bad UTF-8 would kill the reader at the other end.

    Long lines are checked in parts: as a whole, a string can take four times the room of its bytes.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(line), _CHECKED_AT_ONCE):
            decoder.decode(line[start : start + _CHECKED_AT_ONCE])
        decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 ({error.reason})") from None


def read_batch(line: bytes) -> list[bytes] | None:
    """The messages of a batch, each as JSON; None where the line is no array."""
    for text in (line, mended(line)):
        try:
            return [bytes(item) for item in _decode_many(text)]
        except (msgspec.DecodeError, RecursionError):
            continue
    return None


# The words of our own requests and answers. Whoever puts small ones together at once takes them from here:
# that costs less than to keep their pieces apart, and less than to have them formatted.
ID = b'{"jsonrpc":"2.0","id":'
CALL = b',"method":"tools/call","params":'
RESULT = b',"result":'
END = b"}\n"


# How servers word a reply: with the result last, with Python's spaces or without, or first, as TypeScript's
# SDK does. Each is a few steps over its words as they are; a regular expression takes as long as a decoding.
# They say what is in the places of the id and of the result, if the line is a reply in these words. It is one
# if it begins with `{`, the id is one of ours, and the result a JSON object with nothing around it.


def _compact(line: bytes) -> tuple[bytes, bytes]:
    head, _, result = line.partition(RESULT)
    return head.removeprefix(ID), result.removesuffix(b"}")


def _spaced(line: bytes) -> tuple[bytes, bytes]:
    head, _, result = line.partition(b', "result": ')
    return head.removeprefix(b'{"jsonrpc": "2.0", "id": '), result.removesuffix(b"}")


_FIRST = b'{"result":'


def _result_first(line: bytes) -> tuple[bytes, bytes]:
    head, _, id = line.rpartition(b',"jsonrpc":"2.0","id":')
    if not (head.startswith(_FIRST) and id.endswith(b"}")):
        return b"", b""
    return id[:-1], head.removeprefix(_FIRST)


WORDINGS = (_compact, _spaced, _result_first)
BRACE = b"{"
CLOSING = ord("}")
_WORDS = 64
"""Bytes at either end of a line in which all of these words are found, with the id between them."""


def ends_of(line: Line) -> bytes:
    """What there is to look at in a long line."""
    return bytes(line[:_WORDS]) + bytes(line[-_WORDS:])


def between(line: Line, ends: bytes, result: bytes) -> memoryview:
    """The whole of a result, of which `result` was found in the ends of its line."""
    start = len(_FIRST) if ends.startswith(_FIRST) else len(ends) - len(result) - 1
    return memoryview(line)[start : start + len(result) + len(line) - len(ends)]


def _check_json(line: Line) -> None:
    """Raises NotJson, or RecursionError. Slower and more patient than the decoder that we use first."""
    import json

    def refuse(constant: str) -> None:
        raise NotJson(f"{constant} is no JSON")

    try:
        json.loads(line, parse_constant=refuse, parse_int=len)  # an integer may have any number of digits
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error)) from None


def _read_leniently(line: Line) -> Message:
    """A message that only the more patient reader accepts: lone surrogates are JSON, if odd ones."""
    import json

    try:
        _check_json(line)
    except RecursionError:
        raise TooDeep(members(line).get("id", b"")) from None
    found = members(line)
    if not found:
        raise NotAMessage("not an object")
    method = json.loads(found["method"]) if "method" in found else None
    if not (method is None or isinstance(method, str)):
        raise NotAMessage("method is no string")
    raw = {name: Raw(found.get(name, b"")) for name in ("id", "params", "result", "error")}
    return Message(method=method, **raw)


_token = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


def spans(text: Line) -> Iterator[tuple[str, int, int]]:
    """Where the members of the object in `text` have their values; told by brackets, at any depth."""
    depth = 0
    key = b""
    start = -1
    for match in _token.finditer(text):
        token = match.group()
        if token in b"{[":
            depth += 1
            if depth == 1 and token == b"[":
                return
        elif depth == 1:
            if token == b":":
                start = match.end()
            elif token in b",}":
                if start >= 0:
                    yield _unquoted(key), start, match.start()
                start = -1
                depth -= token == b"}"
            elif start < 0:
                key = token
        elif token in b"}]":
            depth -= 1


def _unquoted(key: bytes) -> str:
    if key.count(b"\\"):
        import json

        with contextlib.suppress(ValueError):
            return json.loads(key)
    return key[1:-1].decode(errors="replace")


def members(text: Line) -> dict[str, bytes]:
    """The members of the object in `text`, each as it is written."""
    return {key: bytes(text[start:end]).strip() for key, start, end in spans(text)}


def with_member(text: bytes, name: str, value: bytes) -> bytes:
    """The object in `text` with another value for a member that it has; all else as it is written."""
    # The last, where it is there more than once: that is the one that counts.
    start, end = [(start, end) for key, start, end in spans(text) if key == name][-1]
    return text[:start] + value + text[end:]


# Every escape in turn: a whole pair of surrogates, a half of one, or another.
_ESCAPES = (
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def mended(text: Line) -> bytes:
    """The JSON in `text` with U+FFFD for every half of a surrogate pair.

    Those are JSON, if odd ones: what is left where an emoji is cut in two. Many decoders refuse them, and
    with them all that is around; also ours, which is the only one that is fast.
    """
    return re.sub(_ESCAPES, lambda match: b"\\ufffd" if match[1] else match[0], text, flags=re.DOTALL)


def patiently(decode: Callable[[Raw | bytes], T], text: Raw | bytes) -> T:
    """What a decoder of msgspec makes of JSON, which is mended where that helps. Raises DecodeError."""
    try:
        return decode(text)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return decode(mended(bytes(text)))


def encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate that somebody sent us, in something that we quote: as an escape it is JSON.
        import json

        def plain(raw: object) -> object:
            return json.loads(bytes(raw)) if isinstance(raw, Raw) else str(raw)

        return json.dumps(value, default=plain).encode()


_MOST_DIGITS = 4000
"""What Python makes an integer of without objecting."""


def decode(raw: Raw | bytes) -> Any:
    """Any JSON as plain objects, by the more patient decoder where the fast one refuses (1e400, surrogates).

    Raises ValueError where it is none, or too deep for both.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        import json

        def whole(digits: str) -> float:
            return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)

        try:
            return json.loads(bytes(raw), parse_int=whole)
        except RecursionError:
            raise ValueError("nested too deeply to be read") from None


def request(id: Piece, method: bytes, *params: Piece) -> tuple[Piece, ...]:
    """The pieces of a request's line; `method` is its JSON."""
    return (ID, id, b',"method":', method, b',"params":', *params, END)


def notification(method: bytes, *params: Piece) -> tuple[Piece, ...]:
    return (b'{"jsonrpc":"2.0","method":', method, b',"params":', *params, END)


def answer(id: Piece, *result: Piece) -> tuple[Piece, ...]:
    return (ID, id, RESULT, *result, END)


def failure(id: Piece, error: RpcError) -> tuple[Piece, ...]:
    return (ID, id, b',"error":', error_object(error), END)


def error_object(error: RpcError) -> bytes:
    if error.raw is not None:
        return error.raw
    data = b',"data":' + error.data if error.data is not None else b""
    return b'{"code":%d,"message":%b%b}' % (error.code, encode(error.message), data)


def read_error(raw: Raw) -> RpcError:
    """The error of a reply, whatever a careless server made of it."""
    text = bytes(raw)
    found = members(text)
    code, message = (_decoded(found.get(name, NULL)) for name in ("code", "message"))
    return RpcError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else text.decode(errors="replace"),
        found.get("data"),
        raw=text,
    )


def _decoded(text: bytes) -> object:
    try:
        return decode(mended(text))
    except ValueError:
        return None
