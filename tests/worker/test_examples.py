"""The examples, run as they stand, in both forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Worker

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=["plain", "typed"])
def form(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def greeting(form: str) -> Iterator[Worker]:
    worker = Worker(EXAMPLES / "greeting" / form)
    yield worker
    worker.kill()


@pytest.fixture
def weather(form: str) -> Iterator[Worker]:
    worker = Worker(EXAMPLES / "weather" / form)
    yield worker
    worker.kill()


def test_the_greeting_greets_in_three_languages(greeting: Worker) -> None:
    assert greeting.errors() == []
    assert greeting.text("greeting", name="Ann") == "Hello, Ann!"
    assert greeting.text("greeting", name="Ann", language="en") == "Hello, Ann!"
    assert greeting.text("greeting", name="Ann", language="zh") == "你好，Ann！"
    assert greeting.text("greeting", name="Ann", language="fr") == "Bonjour, Ann!"


def test_the_weather_report_calls_two_tools_that_know_who_calls(weather: Worker) -> None:
    assert weather.errors() == []
    assert weather.text("weather_report", city="Paris") == "Weather report for Paris: Cloudy, 18°C"
    assert [(line["tool"], line["caller"]) for line in weather.log] == [
        ("weather_api", "weather_report_fetch"),
        ("text_formatter", "weather_report_format"),
    ]
    assert len({line["parent"] for line in weather.log}) == 1


def test_the_weather_comes_as_structured_content(weather: Worker) -> None:
    told = weather.call("weather_api", {"city": "London"})
    assert told["structuredContent"] == {"city": "London", "conditions": "Rainy", "temperature": 12}


def test_a_failure_within_the_report_is_its_reason(weather: Worker) -> None:
    said = weather.error("weather_report", city="Atlantis")
    assert said.startswith("Failed to generate weather report: no weather for 'Atlantis'")
