"""Moments and durations as people write them. What they are for is not known here."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhdw])")
_DAYS = {"today": 0, "yesterday": 1}


class NotATime(ValueError):
    def __init__(self, text: str) -> None:
        super().__init__(
            f"'{text}' is not a time: write '15m', '2h30m' or '3d' (that long ago), 'now', 'today',"
            " 'yesterday', '14:30', a date '2025-03-15' or a date and time '2025-03-15T14:30:00Z'"
        )


class NotADuration(ValueError):
    def __init__(self, text: str) -> None:
        super().__init__(f"'{text}' is not a duration: write milliseconds (250) or '250ms', '1.5s', '2m'")


def moment(text: str, *, is_end: bool = False, now: datetime | None = None) -> float:
    """Seconds since 1970. A whole day means its beginning, or its last moment where it ends a period.

    Times without a zone are local ones. Raises NotATime.
    """
    now = now or datetime.now().astimezone()
    word = text.strip()
    if word.lower() == "now":
        return now.timestamp()
    if (seconds := _seconds(word)) is not None:
        return now.timestamp() - seconds
    day = _day(word, now.date())
    try:
        if day is not None:
            return datetime.combine(day + timedelta(days=is_end), time()).timestamp()
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", word):
            return datetime.combine(now.date(), time.fromisoformat(word.zfill(5))).timestamp()
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError):
        raise NotATime(text) from None


def milliseconds(text: str) -> float:
    """A duration; a plain number counts milliseconds. Raises NotADuration."""
    word = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", word):
        return float(word)
    seconds = _seconds(word)
    if seconds is None:
        raise NotADuration(text)
    return seconds * 1000


def _seconds(text: str) -> float | None:
    """The sum of parts like `1h` and `30m`; None where it is something else."""
    if not text or _PART.sub("", text).strip():
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def _day(text: str, today: date) -> date | None:
    if text.lower() in _DAYS:
        return today - timedelta(days=_DAYS[text.lower()])
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
