"""Which arguments count as the recorded ones."""

from typing import Any

import pytest

from mcp_workbench.replay.fit import fits


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ({}, {}),
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}),
        ({"n": 1}, {"n": 1.0}),
        ({"n": 12345678901234567890}, {"n": 12345678901234567890}),
        ({"password": "[masked]"}, {"password": "hunter22"}),
        ({"password": "[masked]"}, {"password": 1234}),
        ({"url": "https://x/?key=[masked]&n=1"}, {"url": "https://x/?key=a\nb&n=1"}),
    ],
)
def test_equal_values_fit(recorded: Any, given: Any) -> None:
    assert fits(recorded, given)


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ({}, {"a": 1}),
        ({"a": 1}, {}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": None}, {"a": 0}),
        ({"a": "1"}, {"a": 1}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1, 2]}, {"a": [1]}),
        ({"a": []}, {"a": {}}),
        ({"a": "[masked]"}, {"a": {"b": 1}}),
        ({"a": "x[masked]"}, {"a": "yz"}),
        ({"a": "x[masked]"}, {"a": 7}),
    ],
)
def test_other_values_do_not_fit(recorded: Any, given: Any) -> None:
    assert not fits(recorded, given)
