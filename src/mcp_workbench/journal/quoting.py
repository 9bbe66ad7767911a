"""Strings as JSON on one line that is safe to show on a terminal. What may be shown is decided elsewhere."""

import re

# Control characters, line separators that are not "\n", marks that turn the direction of writing (they can
# make a terminal show something else than what is there), and halves of surrogate pairs.
_ESCAPED = re.compile('[\x00-\x1f"\\\\\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if "\ud800" <= character <= "\udfff":
        return "\\ufffd"  # half of a pair is no character, and strict readers refuse a line that has one
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def escape(text: str) -> str:
    """The inside of a JSON string."""
    return _ESCAPED.sub(_escape, text)


def quote(text: str) -> str:
    """A JSON string."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape, text)}"'
