"""Names for calls. What a call's id is used for is told elsewhere."""

import itertools
import os
from time import time_ns

_count = itertools.count()
_salt = ""


def _renew_salt() -> None:
    global _salt
    _salt = os.urandom(3).hex()


_renew_salt()
# A forked child goes on with a copy of the counter, so it needs a salt of its own.
os.register_at_fork(after_in_child=_renew_salt)


def new_id() -> str:
    """21 hexadecimal digits, unique across processes, sorted by the millisecond in which they were made."""
    return f"{time_ns() >> 20:x}{next(_count) & 0xFFFF:04x}{_salt}"
