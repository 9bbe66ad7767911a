"""What tests/node promises to whoever installs it."""

from __future__ import annotations

import json
import re

import pytest

from . import node


def test_every_package_is_named_in_an_exact_version() -> None:
    wanted = json.loads((node.FOLDER / "package.json").read_text())["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", version) for version in wanted.values())


def test_the_lock_has_the_digest_of_every_package_and_the_address_of_none() -> None:
    packages = json.loads((node.FOLDER / "package-lock.json").read_text())["packages"]
    locked = {path: each for path, each in packages.items() if path}
    assert all(each["integrity"].startswith("sha512-") for each in locked.values())
    assert not any("resolved" in each for each in locked.values())


@pytest.mark.node
def test_an_installation_that_is_current_is_left_as_it_is(node_program: str) -> None:
    before = node.MODULES.stat().st_mtime_ns
    node.install()
    assert node.MODULES.stat().st_mtime_ns == before
