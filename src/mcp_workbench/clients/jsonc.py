"""JSON with comments, as editors write it: read, and changed in one place with every other character kept.

Comments, trailing commas, single quotes and bare keys are read. What is written is plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

import msgspec

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_BARE = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_DEEPEST = 200


class NotJson(ValueError):
    """The text cannot be read; `line` is where that was noticed."""

    def __init__(self, text: str, position: int) -> None:
        self.line = text.count("\n", 0, position) + 1
        unclosed = not text[position:].strip()
        super().__init__(
            f"it ends too soon, on line {self.line}: something is not closed"
            if unclosed
            else f"no JSON from line {self.line} on"
        )


class Node(msgspec.Struct):
    """A value and the place that it has in the text; `members` are those of an object."""

    start: int
    end: int
    value: Any
    members: list[Member] = []

    def member(self, key: str) -> Member | None:
        return next((each for each in reversed(self.members) if each.key == key), None)


class Member(msgspec.Struct):
    """`start` is where its key begins; `comma` is where the comma after it stands."""

    key: str
    start: int
    node: Node
    comma: int | None = None


def parse(text: str) -> Any:
    """The data. Raises NotJson."""
    return _Reader(text).document().value


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at `path`, in the text's own style; objects on the way are made if need be.

    Raises NotJson, also where something on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    node = _Reader(text).document()
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise NotJson(text, node.start)
        member = node.member(key)
        if member is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _checked(_Style(text).insert(node, key, value), path[: depth + 1], value)
        node = member.node
    return _checked(_Style(text).replace(node, value), path, value)


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`; the same text where there is none. Raises NotJson."""
    node = _Reader(text).document()
    for key in path[:-1]:
        member = node.member(key)
        if member is None:
            return text
        node = member.node
    found = node.member(path[-1])
    if found is None:
        return text
    shorter = _Style(text).remove(node, found)
    parse(shorter)
    return shorter


def _checked(text: str, path: Sequence[str], value: object) -> str:
    """An edit must say what was meant; a text that we misread is better left alone."""
    found = parse(text)
    for key in path:
        found = found[key]
    if found != value:
        raise NotJson(text, 0)
    return text


class _Style:
    """Writes into a text the way the text is written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        indented = re.search(r"^([ \t]+)[\"'\w]", text, re.MULTILINE)
        self._unit = indented[1] if indented else "  "

    def replace(self, node: Node, value: object) -> str:
        written = self._written(value, self._indent(node.start))
        return self._text[: node.start] + written + self._text[node.end :]

    def insert(self, node: Node, key: str, value: object) -> str:
        """Behind the last member and whatever comments follow it."""
        text = self._text
        close = node.end - 1
        inside = text[node.start + 1 : close]
        name = json.dumps(key, ensure_ascii=False) + ": "
        last = node.members[-1] if node.members else None
        if last is not None and "\n" not in inside:
            member = name + json.dumps(value, ensure_ascii=False)
            place = last.node.end
            after = text[last.comma + 1 :] if last.comma is not None else text[place:]
            return f"{text[:place]}, {member}{after}"
        outer = self._indent(node.start)
        inner = self._indent(last.start) if last is not None else outer + self._unit
        member = self._newline + inner + name + self._written(value, inner)
        content_end = node.start + 1 + len(inside.rstrip())
        tail = text[content_end:close] if "\n" in inside else self._newline + outer
        trailing = "," if last is not None and last.comma is not None else ""
        if last is None or last.comma is not None:
            head = text[:content_end]
        else:
            head = text[: last.node.end] + "," + text[last.node.end : content_end]
        return head + member + trailing + tail + text[close:]

    def remove(self, node: Node, member: Member) -> str:
        """With its comma, and with its lines where it has lines of its own."""
        text = self._text
        start, end = member.start, member.node.end
        if member.comma is not None:
            end = member.comma + 1
        line_start = text.rfind("\n", 0, start) + 1
        rest = re.compile(r"[ \t]*(?://[^\n]*)?\r?\n").match(text, end)
        if not text[line_start:start].strip() and rest is not None:
            start, end = line_start, rest.end()
        elif member.comma is not None:
            end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        index = node.members.index(member)
        before = node.members[index - 1] if index else None
        if member.comma is None and before is not None and before.comma is not None:
            return text[: before.comma] + text[before.comma + 1 : start].rstrip(" \t") + text[end:]
        return text[:start] + text[end:]

    def _written(self, value: object, indent: str) -> str:
        """An object on several lines, a list on one: lists here are arguments."""
        if not isinstance(value, dict) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = self._newline + indent + self._unit
        members = [
            f"{json.dumps(key, ensure_ascii=False)}: {self._written(each, indent + self._unit)}"
            for key, each in cast("dict[str, object]", value).items()
        ]
        return "{" + inner + f",{inner}".join(members) + self._newline + indent + "}"

    def _indent(self, position: int) -> str:
        line = self._text.rfind("\n", 0, position) + 1
        return self._text[line : line + len(self._text[line:]) - len(self._text[line:].lstrip(" \t"))]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0

    def document(self) -> Node:
        node = self._value(0)
        self._skip()
        if self._at != len(self._text):
            raise self._problem()
        return node

    def _value(self, depth: int) -> Node:
        self._skip()
        if depth > _DEEPEST:
            raise self._problem()
        start = self._at
        match self._text[start : start + 1]:
            case "{":
                return self._object(start, depth)
            case "[":
                return self._array(start, depth)
            case '"' | "'":
                value = self._string()
                return Node(start, self._at, value)
            case _:
                return self._scalar(start)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        self._at += 1
        while not self._ends("}"):
            if members and members[-1].comma is None:
                raise self._problem()
            key_start = self._at
            key = self._key()
            self._skip()
            self._expect(":")
            member = Member(key, key_start, self._value(depth + 1))
            members.append(member)
            member.comma = self._comma()
        return Node(start, self._at, {each.key: each.node.value for each in members}, members)

    def _array(self, start: int, depth: int) -> Node:
        items: list[Any] = []
        separated = True
        self._at += 1
        while not self._ends("]"):
            if not separated:
                raise self._problem()
            items.append(self._value(depth + 1).value)
            separated = self._comma() is not None
        return Node(start, self._at, items)

    def _scalar(self, start: int) -> Node:
        if (word := _BARE.match(self._text, start)) and word[0] in _WORDS:
            self._at = word.end()
            return Node(start, self._at, _WORDS[word[0]])
        number = _NUMBER.match(self._text, start)
        if number is None:
            raise self._problem()
        self._at = number.end()
        return Node(start, self._at, float(number[0]) if re.search(r"[.eE]", number[0]) else int(number[0]))

    def _key(self) -> str:
        if self._text[self._at : self._at + 1] in ('"', "'"):
            return self._string()
        bare = _BARE.match(self._text, self._at)
        if bare is None:
            raise self._problem()
        self._at = bare.end()
        return bare[0]

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._problem()
        quoted = found[0]
        if quoted[0] == "'":
            inner = quoted[1:-1].replace("\\'", "'")
            quoted = '"' + re.sub(r'(?<!\\)"', '\\"', inner) + '"'
        try:
            value: str = json.loads(quoted, strict=False)
        except ValueError:
            raise self._problem() from None
        self._at = found.end()
        return value

    def _comma(self) -> int | None:
        self._skip()
        if self._text[self._at : self._at + 1] != ",":
            return None
        self._at += 1
        return self._at - 1

    def _ends(self, bracket: str) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] != bracket:
            return False
        self._at += 1
        return True

    def _expect(self, character: str) -> None:
        if self._text[self._at : self._at + 1] != character:
            raise self._problem()
        self._at += 1

    def _skip(self) -> None:
        found = _BLANK.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _problem(self) -> NotJson:
        return NotJson(self._text, self._at)
