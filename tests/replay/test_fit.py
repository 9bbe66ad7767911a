"""Which arguments count as the recorded ones."""

import json
import time
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
        ({"a": "[masked]-[masked]-[masked]"}, {"a": "b-c-d-e"}),
        ({"json": '{"password": "[masked]", "n": 1}'}, {"json": '{"password": "x", "n": 1}'}),
        ({"json": '{"password": "[masked]", "n": 1}'}, {"json": '{"password": 1234, "n": 1}'}),
        ({"json": r'{"in": "{\"pwd\":\"[masked]\"}"}'}, {"json": r'{"in": "{\"pwd\":12}"}'}),
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
        ({"a": "x[masked]yx"}, {"a": "xy"}),
        ({"json": '{"password": "[masked]", "n": 1}'}, {"json": '{"password": "x", "n": 2}'}),
    ],
)
def test_other_values_do_not_fit(recorded: Any, given: Any) -> None:
    assert not fits(recorded, given)


def test_a_text_with_many_secrets_is_compared_in_no_time() -> None:
    secrets = [{"id": 1, "token": "[masked]"} for _ in range(500)]
    began = time.monotonic()
    assert fits(json.dumps(secrets), json.dumps(secrets).replace("[masked]", "x"))
    assert not fits(json.dumps(secrets), json.dumps(secrets).replace("[masked]", "x") + "!")
    assert time.monotonic() - began < 2
