"""What we read of tasks, and of who understands them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from mcp_workbench.protocol.tasks import EXTENSION, read_task, understands, without_extension


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({}, False),
        ({"extensions": {}}, False),
        ({"extensions": {EXTENSION: {}}}, True),
        ({"extensions": {EXTENSION: {"later": 1}, "other": {}}}, True),
        ({"experimental": {EXTENSION: {}}}, False),
        ({"extensions": EXTENSION}, False),
        ([EXTENSION], False),
    ],
)
def test_the_extension_is_understood_where_it_is_declared_and_nowhere_else(
    capabilities: Any, expected: bool
) -> None:
    assert understands(raw(capabilities)) is expected


def test_what_else_a_client_declares_stays() -> None:
    declared = {"elicitation": {"url": {}}, "extensions": {"other": {"x": 1}, EXTENSION: {}}}
    left = json.loads(bytes(without_extension(raw(declared))))
    assert left == {"elicitation": {"url": {}}, "extensions": {"other": {"x": 1}}}
    plain = raw({"roots": {}})
    assert without_extension(plain) is plain


def test_a_task_is_read_whatever_its_result_holds() -> None:
    text = '{"taskId": "1", "status": "completed", "ttlMs": null, "result": {"x": 1e400, "y": "\\ud800"}}'
    task = read_task(text.encode())
    assert task is not None
    assert (task.id, task.over, task.ttl) == ("1", True, None)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"taskId": 1}', '"taskId"'])
def test_anything_else_is_no_task(text: str) -> None:
    assert read_task(text.encode()) is None
