"""Workbenches that serve over HTTP: one for a module's tests, or one of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# Node's packages are installed the same way for whatever needs them.
from tests.support.launch import child, configuration, toolbox

from .served import Served

ECHO = configuration(dev=toolbox(echo=child("echo")))

Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts workbenches: `served = serve(config)`; what they do at their end is looked at."""
    with ExitStack() as stack:
        count = 0

        def start(config: Mapping[str, Any] = ECHO, *args: str, **options: Any) -> Served:
            nonlocal count
            count += 1
            home = tmp_path / f"home{count}"
            home.mkdir(exist_ok=True)
            return stack.enter_context(Served(home, config, *args, **options))

        yield start


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The echo server in the toolbox `dev`, opened, behind the token that was made for it."""
    with Served(tmp_path_factory.mktemp("served"), ECHO) as served:
        served.open("dev")
        yield served
