"""The bench that every row is tested on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.launch import Launcher

from .bench import Rows


@pytest.fixture
def rows(workbench: Launcher) -> Iterator[Rows]:
    rows = Rows(workbench)
    yield rows
    rows.end()
