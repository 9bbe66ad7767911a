"""Arguments and texts made fit for the log: masked, cut, on one line. What is secret, the Mask knows."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from .masking import MASKED, Mask, Sensitivity
from .quoting import quote

# Deeper values are cut: strict readers refuse what is nested hundreds of levels deep.
_DEPTH = 64
# So often may a string be JSON that has strings that are JSON again.
_NESTED = 3
_OPENINGS = ("{", "[", '"')
# {"name": "Authorization", "value": "…"}, in this order: headers and variables are often told like that.
_NAMES = frozenset(("name", "Name", "key", "Key"))
_VALUES = frozenset(("value", "Value"))
_LONGEST_NAME = 64

# A string (its inside, its end, the colon that makes it a key), a bracket, or a run of anything else: numbers
# and literals with their commas. Possessive, so that it is linear in whatever a client sends.
_TOKEN = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)("?)(\s*+:)?|[{}\[\]]|[^"{}\[\]]++', re.DOTALL)

_LITERAL = re.compile(r"[^\s,:]++")

_valid = msgspec.json.Decoder(msgspec.Raw).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Arguments:
    """Writes JSON that holds no secret, no string of more than `limit` characters, and nothing too deep."""

    def __init__(self, mask: Mask, limit: int, depth: int = _DEPTH) -> None:
        self._mask = mask
        self._limit = limit
        self._depth = depth
        # As much of a long value as is read at all: enough to fill the limit when some of it is escaped.
        self._window = 2 * limit + mask.margin
        self._room = 4 * limit

    def json(self, raw: bytes, *, valid: bool = False) -> str:
        """A JSON object on one line, equal to the raw one where nothing had to be masked or cut.

        `valid` says that it was read as JSON already.

        Most arguments are small and have nothing to hide; they are found out by a few searches and taken
        as they are. The others are rewritten token by token and never decoded as a whole, so that numbers
        stay as written and nothing is too deep or too large.
        """
        try:
            size = len(raw)
            if size > self._limit:
                text = self._large(raw)
            else:
                text = raw.decode() if raw.isascii() else raw.decode("utf-8", "replace")
                if (
                    self._mask.may_touch(text)
                    or not text.isprintable()
                    or (size > self._depth and text.count("{") + text.count("[") > self._depth)
                ):
                    text = self._rewrite(text, size)
                elif valid:
                    return text
            _valid(text)
        except (ValueError, IndexError, RecursionError):
            # Not JSON after all: nothing of it can be shown, since nothing says where its secrets are.
            return f'{{"…":"[not readable, {len(raw)} bytes]"}}'
        return text

    def text(self, text: str) -> str:
        """A JSON string."""
        return quote(self._fit(text, self._masked))

    def _fit(self, text: str, mask: Callable[[str], str], size: int | None = None) -> str:
        """Masked, and cut if too long. With `size`, this is only the beginning of a text of so many bytes."""
        if size is None and len(text) <= self._limit:
            return mask(text)
        margin = self._mask.margin
        kept = mask(text[: self._limit + margin])
        if size is not None or len(text) > self._limit + margin:
            kept = kept[:-margin]  # may end in the first half of a secret
        if size is None:
            size = len(text.encode("utf-8", "replace"))
        return f"{kept[: self._limit]}…[cut, {size} bytes]"

    def _large(self, raw: bytes) -> str:
        try:
            fields = _fields(raw)
        except (msgspec.MsgspecError, RecursionError):
            return self._rewrite(str(raw[: self._window], "utf-8", "replace"), len(raw))
        parts: list[str] = []
        room = self._room
        for key, value in fields.items():
            if room < 0:
                parts.append(f'"…":"[cut, {len(fields) - len(parts)} more]"')
                break
            view = memoryview(value)
            level = self._mask.sensitivity(key)
            rewritten = (not level and self._long_text(view)) or self._rewrite(
                str(view[: self._window], "utf-8", "replace"), len(view), level
            )
            part = f"{self._key(key)}{rewritten}"
            parts.append(part)
            room -= len(part)
        return f"{{{','.join(parts)}}}"

    def _long_text(self, view: memoryview) -> str | None:
        """The cut of a long string that needs no reading, being without escapes as far as it is kept."""
        beginning = bytes(view[: self._limit + self._mask.margin + 1])
        if (
            len(view) <= len(beginning)
            or beginning[:1] != b'"'
            or b"\\" in beginning
            or beginning.count(b'"') > 1
        ):
            return None
        return quote(self._fit(str(beginning[1:], "utf-8", "replace"), self._masked, len(view)))

    def _rewrite(self, text: str, size: int, level: Sensitivity = Sensitivity.NONE) -> str:
        """One JSON value of `size` bytes, of which this text may be only the beginning."""
        is_whole = size <= self._window
        # Masking makes short strings longer; what fits the limit as it came is not cut for that.
        room = self._limit if size > self._limit else self._room
        out: list[str] = []
        closers: list[str] = []
        place = _Place(self._mask, level)
        for token in _TOKEN.finditer(text):
            first = token[0][0]
            is_cut = False
            if first == '"':
                inside, closed, is_key = token.groups()
                if is_key:
                    key = _unescape(inside)
                    place.key(key)
                    piece = self._key(key)
                elif closers and closers[-1] == "}" and out[-1][-1] in "{,":
                    break  # a key that has lost its value
                elif place.level:
                    piece = f'"{MASKED}"'
                else:
                    string = _unescape(inside)
                    place.string(string)
                    piece = quote(self._fit(string, self._masked, None if closed else size))
            elif first in "{[":
                if room < 0 or len(closers) == self._depth:
                    break
                closers.append("}" if first == "{" else "]")
                place.open()
                piece = first
            elif first in "}]":
                closers.pop()
                place.close()
                piece = first
            else:
                run = "".join(token[0].split())
                is_torn = not is_whole and token.end() == len(text)  # perhaps only half of the last number
                is_cut = is_torn or len(run) > room
                if is_cut:
                    run = run[: run.rfind(",", 0, max(room, 0)) + 1]
                piece = self._literals(run, place.level)
            if piece:
                out.append(piece)
                room -= len(piece)
            if is_cut:
                break
        return "".join(out + _ending(out, closers, size))

    def _masked(self, text: str) -> str:
        """Without secrets that are known, or are under telling keys where the text is JSON itself."""
        return self._mask.text(self._looked_into(text, _NESTED))

    def _looked_into(self, text: str, depth: int) -> str:
        """As it is written but for what has to be masked by its key. It may be torn, or no JSON after all."""
        if not depth or not text.lstrip().startswith(_OPENINGS) or not self._mask.may_touch(text):
            return text
        out: list[str] = []
        place = _Place(self._mask, Sensitivity.NONE)
        for token in _TOKEN.finditer(text):
            piece = token[0]
            first = piece[0]
            if first == '"':
                inside, _, is_key = token.groups()
                if is_key:
                    place.key(_readable(inside))
                elif place.level:
                    piece = f'"{MASKED}"'
                    place.string("")
                else:
                    place.string(inside)
                    piece = self._string(piece, inside, depth - 1)
            elif first in "{[":
                place.open()
            elif first in "}]":
                place.close()
            elif place.level is Sensitivity.ALL:
                piece = _LITERAL.sub(_hidden, piece)
            out.append(piece)
        return "".join(out)

    def _string(self, written: str, inside: str, depth: int) -> str:
        """A string of a JSON text that is in a string itself, left as written where nothing is masked."""
        if "\\" not in inside:
            return written  # no quotation marks, so no keys
        text = _readable(inside)
        looked_into = self._looked_into(text, depth)
        return written if looked_into == text else quote(looked_into)

    def _key(self, key: str) -> str:
        return f"{quote(self._fit(key, self._mask.known))}:"

    def _literals(self, run: str, level: Sensitivity) -> str:
        """Numbers, `true`, `false` and `null`, with the commas between them and around them."""
        if level is not Sensitivity.ALL and self._mask.text(run) == run:
            return run
        return ",".join(
            f'"{MASKED}"'
            if literal not in ("", "null")
            and (level is Sensitivity.ALL or self._mask.text(literal) != literal)
            else literal
            for literal in run.split(",")
        )


class _Place:
    """Where in a JSON text a reader is, as far as that tells what has to be masked there."""

    __slots__ = ("_is_name", "_levels", "_mask", "_named", "level")

    def __init__(self, mask: Mask, level: Sensitivity) -> None:
        self._mask = mask
        self.level = level
        """For the value that comes next."""
        self._levels = [level]
        """Inside each open bracket; the outermost is the text itself."""
        self._is_name = False
        self._named = Sensitivity.NONE

    def key(self, key: str) -> None:
        self.level = max(self._levels[-1], self._mask.sensitivity(key))
        self._is_name = key in _NAMES
        if key in _VALUES:
            self.level = max(self.level, self._named)

    def string(self, text: str) -> None:
        """A string that is shown. One that is a name tells of the value beside it as a key does."""
        if self._is_name:
            self._is_name = False
            # A title of several words ("Password policy") is no name.
            if len(text) <= _LONGEST_NAME and " " not in text:
                self._named = self._mask.sensitivity(text)
        self.level = self._levels[-1]

    def open(self) -> None:
        self._levels.append(self.level)
        self._named = Sensitivity.NONE
        self._is_name = False

    def close(self) -> None:
        if len(self._levels) > 1:
            self._levels.pop()
        self.level = self._levels[-1]
        self._named = Sensitivity.NONE


def _ending(out: list[str], closers: list[str], size: int) -> list[str]:
    """What makes a value whole that was left in the middle."""
    mark = f'"[cut, {size} bytes]"'
    if not closers:
        return [] if out else [mark]
    last = out[-1][-1]
    comma = "" if last in "{[,:" else ","
    name = '"…":' if closers[-1] == "}" and last != ":" else ""
    return [comma, name, mark, *reversed(closers)]


def _unescape(inside: str) -> str:
    """The text that the inside of a JSON string stands for, if it was torn without its last character."""
    if "\\" not in inside:
        return inside
    try:
        return msgspec.json.decode(f'"{inside}"', type=str)
    except msgspec.DecodeError:
        import json  # knows halves of surrogate pairs; rarely needed

        for torn in range(6):
            try:
                return json.loads(f'"{inside[: len(inside) - torn]}"', strict=False)
            except ValueError:
                continue
        raise


def _hidden(literal: re.Match[str]) -> str:
    return "null" if literal[0] == "null" else f'"{MASKED}"'


def _readable(inside: str) -> str:
    """The same of a text that need not be JSON."""
    try:
        return _unescape(inside)
    except ValueError:
        return inside
