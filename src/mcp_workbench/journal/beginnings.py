"""The beginning of a call: a name for it, and its time as the log writes it."""

import os
from functools import lru_cache
from time import gmtime, perf_counter_ns, strftime, time_ns

_COUNTS = tuple(f"{count:02x}" for count in range(256))
THOUSANDTHS = tuple(f"{number:03}" for number in range(1000))
"""Found in a third of the time in which a number is written."""

# Of the millisecond in which the last call began: what is the same in all of it is made once.
_start = _end = 0
_written = ""
_last = 0
_prefix = ""
_counts = iter(_COUNTS)
_salt = ""


def _renew_salt() -> None:
    global _salt
    _salt = os.urandom(4).hex()


_renew_salt()
# A forked child goes on in the same millisecond, so it needs a salt of its own.
os.register_at_fork(after_in_child=_renew_salt)


def beginning(now: int = 0) -> tuple[str, str, int]:
    """A new id, how the log writes this moment, and the same by the clock that a duration is measured with.

    For the event loop's thread alone. An id is 21 hexadecimal digits, unique across processes, sorted as they
    were made, and by time among processes. `now` is in nanoseconds since 1970, for somebody who knows.
    """
    now = now or time_ns()
    count = next(_counts, "") if _start <= now < _end else ""
    if not count:
        _turn_over(now)
        count = next(_counts)
    return f"{_prefix}{count}{_salt}", _written, perf_counter_ns()


def written(milliseconds: int) -> str:
    """A moment in milliseconds since 1970: ISO 8601, in UTC."""
    return f"{_second(milliseconds // 1000)}.{THOUSANDTHS[milliseconds % 1000]}Z"


def _turn_over(now: int) -> None:
    global _start, _end, _written, _last, _prefix, _counts
    millisecond = now // 1_000_000
    _start = millisecond * 1_000_000
    _end = _start + 1_000_000
    _written = written(millisecond)
    # A clock may be set back, or stand still for too many calls.
    _last = millisecond if millisecond > _last else _last + 1
    _prefix = hex(_last)[2:]
    _counts = iter(_COUNTS)


@lru_cache(1)
def _second(seconds: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
