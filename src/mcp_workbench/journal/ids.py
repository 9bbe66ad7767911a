"""Names for calls. What a call's id is used for is told elsewhere."""

import itertools
import os
from time import time_ns

_count = itertools.count()
_salt = 0


def _renew_salt() -> None:
    global _salt
    _salt = int.from_bytes(os.urandom(3), "big")


_renew_salt()
# A forked child goes on with a copy of the counter, so it needs a salt of its own.
os.register_at_fork(after_in_child=_renew_salt)


def new_id(now: int = 0) -> str:
    """21 hexadecimal digits, unique across processes, sorted by the millisecond in which they were made.

    `now` is in nanoseconds since 1970, for somebody who knows.
    """
    return "%x" % ((now or time_ns()) >> 20 << 40 | (next(_count) & 0xFFFF) << 24 | _salt)
