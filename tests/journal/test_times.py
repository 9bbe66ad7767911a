from datetime import datetime, timedelta

import pytest

from mcp_workbench.journal.times import NotADuration, NotATime, milliseconds, moment

NOW = datetime(2025, 3, 15, 14, 30).astimezone()


def at(*parts: int) -> float:
    return datetime(*parts).timestamp()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("now", NOW.timestamp()),
        ("15m", NOW.timestamp() - 900),
        ("1h30m", NOW.timestamp() - 5400),
        ("2d", NOW.timestamp() - 172_800),
        ("90 s", NOW.timestamp() - 90),
        ("1w", NOW.timestamp() - 604_800),
        ("today", at(2025, 3, 15)),
        ("Yesterday", at(2025, 3, 14)),
        ("9:05", at(2025, 3, 15, 9, 5)),
        ("14:00:30", at(2025, 3, 15, 14, 0, 30)),
        ("2025-03-10", at(2025, 3, 10)),
        ("2025-03-10 08:00", at(2025, 3, 10, 8)),
        ("2025-03-15T02:29:40.123Z", 1742005780.123),
        ("2025-03-15T03:29:40.123+01:00", 1742005780.123),
    ],
)
def test_a_moment_in_any_of_its_forms(text: str, seconds: float):
    assert moment(text, now=NOW) == pytest.approx(seconds)


def test_a_day_that_ends_a_period_is_part_of_it():
    assert moment("yesterday", is_end=True, now=NOW) == at(2025, 3, 15)
    assert moment("2025-03-10", is_end=True, now=NOW) == at(2025, 3, 11)


def test_now_is_the_moment_of_asking():
    assert abs(moment("0s") - datetime.now().timestamp()) < timedelta(seconds=10).total_seconds()


@pytest.mark.parametrize("text", ["", "soon", "15", "15x", "2025-13-01", "25:00", "m", "-5m", "9999-12-31"])
def test_what_is_no_time_is_refused_with_the_forms_that_are(text: str):
    with pytest.raises(NotATime, match="is not a time: write '15m'"):
        moment(text, is_end=True, now=NOW)


@pytest.mark.parametrize(("text", "length"), [("250", 250), ("250ms", 250), ("1.5s", 1500), ("2m", 120_000)])
def test_a_duration_in_any_of_its_forms(text: str, length: float):
    assert milliseconds(text) == pytest.approx(length)


@pytest.mark.parametrize("text", ["", "fast", "-1", "1 parsec"])
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(NotADuration):
        milliseconds(text)
