"""The stage of the matrix: its processes are shared by all modules of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

# Node's packages are installed the same way for whatever needs them.
from .places import Stage


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("stage")) as stage:
        yield stage
