import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_workbench.config import Config, load


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., Config]:
    def load_data(data: object, **environ: str) -> Config:
        file = tmp_path / "workbench-config.json"
        file.write_text(data if isinstance(data, str) else json.dumps(data))
        return load(str(file), environ)

    return load_data
