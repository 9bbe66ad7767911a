"""Names for calls. What a call's id is used for is told elsewhere."""

import os
from time import time_ns

_last = 0
_salt = ""


def _renew_salt() -> None:
    global _salt
    _salt = os.urandom(3).hex()


_renew_salt()
# A forked child goes on from the same moment, so it needs a salt of its own.
os.register_at_fork(after_in_child=_renew_salt)


def new_id(now: int = 0) -> str:
    """22 hexadecimal digits, unique across processes, sorted as they were made, and by time among processes.

    `now` is in nanoseconds since 1970, for somebody who knows. For the event loop's thread alone.
    """
    global _last
    now = now or time_ns()
    _last = now if now > _last else _last + 1  # a clock may stand still, or be set back
    return f"{_last:x}{_salt}"
