"""Where a request says one thing and then another; what is done with the parts is left to others."""

from __future__ import annotations

import re

from .words import terms

_BREAK = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+"
    r"|,?\s+(?:and then|then|and also|also|additionally|afterwards|finally)\s+|,\s+and\s+",
    re.IGNORECASE,
)
_MOST = 12
_STEPS = 3
_TERMS = 3
"""So many clauses, of so many words each, make a request of several steps."""


def steps(text: str) -> list[str]:
    """What a request of several steps asks for, one by one; nothing where it asks for one thing."""
    found = [clause for clause in clauses(text) if len(terms(clause)) >= _TERMS]
    return found if len(found) >= _STEPS else []


def clauses(text: str) -> list[str]:
    """In order; the first dozen of them."""
    return [part for part in _BREAK.split(text) if part.strip()][:_MOST]
