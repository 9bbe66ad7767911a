"""Python is shown as tool files, in one guide; `tests/worker/test_guide.py` runs its blocks."""

from __future__ import annotations

from .pages import Block, each


@each("python")
def test_python_is_a_file_of_the_guide(block: Block) -> None:
    assert block.page == "docs/tool-files.md"
    assert block.text.startswith("# file: ")
