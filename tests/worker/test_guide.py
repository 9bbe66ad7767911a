"""Every block of Python in docs/tool-files.md, run by the real worker.

A block is a file, named in its first line; `# call: NAME JSON -> TEXT` below it is a call and its answer,
`# fail:` one whose error contains the text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from .conftest import Folder

GUIDE = Path(__file__).parents[2] / "docs" / "tool-files.md"


class Block(NamedTuple):
    file: str
    text: str


def blocks() -> list[Block]:
    found = re.findall(r"```python\n(# file: (\S+)\n.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [Block(file, text) for text, file in found]


def test_every_python_block_of_the_guide_names_its_file() -> None:
    assert len(blocks()) == GUIDE.read_text(encoding="utf-8").count("```python") > 5


def test_every_block_of_the_guide_loads_and_answers_as_it_says(folder: Folder) -> None:
    asked = 0
    for block in blocks():
        if block.file in ("shout.py", "_units.py"):
            for old in folder.path.glob("*.py"):
                old.unlink()
        folder.write(block.file, block.text)
        worker = folder.start()
        assert worker.errors() == [], block.file
        for kind, name, arguments, text in re.findall(r"# (call|fail): (\S+) (\{.*?\}) -> (.*)", block.text):
            result = worker.call(name, json.loads(arguments))
            said = result["content"][0]["text"]
            assert bool(result.get("isError")) == (kind == "fail"), said
            assert said == text if kind == "call" else text in said
            asked += 1
        assert worker.close() == 0
    assert asked >= 12
