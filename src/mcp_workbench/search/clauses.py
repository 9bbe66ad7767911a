"""Where a request says one thing and then another; what is done with the parts is left to others."""

from __future__ import annotations

import re

_BREAK = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+"
    r"|,?\s+(?:and then|then|and also|also|additionally|afterwards|finally)\s+|,\s+and\s+",
    re.IGNORECASE,
)
_MOST = 12


def clauses(text: str) -> list[str]:
    """In order; the first dozen of them."""
    return [part for part in _BREAK.split(text) if part.strip()][:_MOST]
