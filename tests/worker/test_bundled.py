"""The tools that come along: plain files in a folder, like everybody's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import mcp_workbench

from .conftest import Worker

BUNDLED = Path(mcp_workbench.__file__).parent / "bundled"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker(BUNDLED)
    yield worker
    worker.kill()


def test_the_bundled_tools_load_without_a_word(worker: Worker) -> None:
    assert set(worker.tools()) >= {"hello_world", "time_tool"}
    assert worker.errors() == []
    assert worker.stderr() == ""


@pytest.mark.parametrize(
    ("arguments", "greeting"),
    [
        ({"name": "Ann"}, "Hello, Ann!"),
        ({"name": "Ann", "language": "zh"}, "你好，Ann！"),
        ({"name": "Ann", "language": "fr"}, "Bonjour, Ann!"),
    ],
)
def test_hello_world_greets(worker: Worker, arguments: dict[str, str], greeting: str) -> None:
    assert worker.text("hello_world", **arguments) == greeting


def test_time_tool_tells_the_time(worker: Worker) -> None:
    told = worker.call("time_tool", {"action": "now", "zone": "Asia/Tokyo"})["structuredContent"]
    time = datetime.fromisoformat(told["time"])
    assert time.utcoffset() == timedelta(hours=9)
    assert abs(time - datetime.now(UTC)) < timedelta(seconds=30)
    assert told["zone"] == "Asia/Tokyo"


def test_time_tool_tells_utc_unless_asked_otherwise(worker: Worker) -> None:
    assert worker.call("time_tool", {"action": "now"})["structuredContent"]["zone"] == "UTC"


@pytest.mark.parametrize(
    ("time", "zone", "to_zone", "converted"),
    [
        ("2026-01-15T12:00", "Europe/Paris", "America/New_York", "2026-01-15T06:00:00-05:00"),
        ("2026-07-15T23:30", "Europe/Paris", "Asia/Tokyo", "2026-07-16T06:30:00+09:00"),
        ("2026-07-15T12:00:00+02:00", "UTC", "UTC", "2026-07-15T10:00:00+00:00"),
    ],
)
def test_time_tool_converts(worker: Worker, time: str, zone: str, to_zone: str, converted: str) -> None:
    told = worker.call("time_tool", {"action": "convert", "time": time, "zone": zone, "to_zone": to_zone})
    assert told["structuredContent"]["time"] == converted


def test_time_tool_tells_a_difference_across_a_change_of_the_clocks(worker: Worker) -> None:
    arguments = {"action": "difference", "time": "2026-03-29T00:00", "until": "2026-03-30T00:00"}
    apart = worker.call("time_tool", {**arguments, "zone": "Europe/Paris"})["structuredContent"]
    assert apart == {"seconds": 23 * 3600, "text": "23:00:00"}
    assert worker.call("time_tool", arguments)["structuredContent"]["seconds"] == 24 * 3600


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"action": "now", "zone": "Mars/Base"}, "'Mars/Base' is no time zone"),
        ({"action": "now", "zone": "../../etc/passwd"}, "is no time zone"),
        ({"action": "convert", "time": "noon", "to_zone": "UTC"}, "time: 'noon' is no time"),
        ({"action": "convert", "time": "2026-01-01"}, "convert needs 'to_zone'"),
        ({"action": "difference", "time": "2026-01-01"}, "difference needs 'until'"),
        (
            {"action": "convert", "time": "2026-03-29T02:30", "zone": "Europe/Paris", "to_zone": "UTC"},
            "does not exist in Europe/Paris",
        ),
    ],
)
def test_time_tool_says_what_is_wrong(worker: Worker, arguments: dict[str, Any], reason: str) -> None:
    assert reason in worker.error("time_tool", **arguments)
