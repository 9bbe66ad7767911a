"""Whether the arguments of a call are the recorded ones: as JSON values, and not as they are written."""

from __future__ import annotations

import re
from typing import Any, cast

from ..journal.masking import MASKED

# Inside a text that is JSON, a number was masked as a string.
_MASKED = re.compile(rf'(?:\\*+")?{re.escape(MASKED)}(?:\\*+")?')


def fits(recorded: object, given: object) -> bool:
    """Equal as JSON values are: keys in any order, 1 and 1.0 the same. What was masked may be anything."""
    if isinstance(recorded, dict):
        ours = cast("dict[str, Any]", recorded)
        if not isinstance(given, dict):
            return False
        theirs = cast("dict[str, Any]", given)
        return ours.keys() == theirs.keys() and all(fits(ours[key], theirs[key]) for key in ours)
    if isinstance(recorded, list):
        items = cast("list[Any]", recorded)
        if not isinstance(given, list):
            return False
        others = cast("list[Any]", given)
        return len(items) == len(others) and all(map(fits, items, others))
    if isinstance(recorded, str):
        return _text_fits(recorded, given)
    # True is 1 to Python, and something else to everybody else.
    return isinstance(recorded, bool) == isinstance(given, bool) and recorded == given


def _text_fits(recorded: str, given: object) -> bool:
    if recorded == MASKED:
        return isinstance(given, str | int | float)
    if MASKED not in recorded:
        return recorded == given
    first, *rest, last = map(re.escape, _MASKED.split(recorded))
    # The nearest place for each part is the right one, so none is looked for twice, however many there are.
    pattern = f"{first}{''.join(f'(?>.*?{part})' for part in rest)}.*{last}"
    return isinstance(given, str) and re.fullmatch(pattern, given, re.DOTALL) is not None
