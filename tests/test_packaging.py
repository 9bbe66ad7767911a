"""The packages that people install: built from this tree, put into a bare environment, and used."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import mcp_workbench

ROOT = Path(__file__).parent.parent
PATIENCE = 300


def run(*command: str, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder), cwd=ROOT)
    return folder


def test_the_version_is_in_one_place_and_on_both_packages(packages: Path) -> None:
    version = mcp_workbench.__version__
    assert sorted(each.name for each in packages.iterdir()) == [
        f"mcp_workbench-{version}-py3-none-any.whl",
        f"mcp_workbench-{version}.tar.gz",
    ]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


def test_the_wheel_has_the_package_with_all_its_data_and_nothing_else(packages: Path) -> None:
    [wheel] = packages.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"mcp_workbench"}
    source = ROOT / "src"
    files = [path for path in (source / "mcp_workbench").rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(source)) for path in files if "__pycache__" not in path.parts}
    assert wanted <= set(names)


def test_the_source_package_has_what_a_build_needs(packages: Path) -> None:
    [archive] = packages.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/mcp_workbench/__main__.py"} <= names
    assert not any(name.startswith((".venv", "tests/node/node_modules", "bench/.cache")) for name in names)


@pytest.mark.timeout(2 * PATIENCE)
def test_the_wheel_works_in_a_bare_environment(packages: Path, tmp_path: Path) -> None:
    [wheel] = packages.glob("*.whl")
    bare = tmp_path / "bare"
    run(sys.executable, "-m", "venv", str(bare), cwd=tmp_path)
    run(str(bare / "bin" / "pip"), "install", "--quiet", str(wheel), cwd=tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    ours = str(bare / "bin" / "mcp-workbench")
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "WORKBENCH_CONFIG": ""}
    assert "use_tool" in run(ours, "demo", cwd=project, **home)
    run(ours, "init", "--yes", cwd=project, **home)
    assert run(ours, "call", "mine/tools/hello", "who=Ann", cwd=project, **home) == "Hello, Ann!\n"
    assert f" {mcp_workbench.__version__}" in run(ours, "doctor", cwd=project, **home)
