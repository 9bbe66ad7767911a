"""Files for other programs on a page, checked by those programs where they are here.

That two processes work behind the documented nginx is for `tests/http/test_replicas.py` to show.
"""

from __future__ import annotations

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.http.test_replicas import nginx_config

from .pages import Block, each
from .reader import BIN, PATIENCE


def checked(program: str, *arguments: str) -> str:
    found = shutil.which(program) or shutil.which(f"/usr/sbin/{program}")
    if found is None:
        pytest.skip(f"no {program}")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@each("nginx")
def test_nginx_takes_its_configuration(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "nginx.conf"
    file.write_text(nginx_config(tmp_path, 8080, 8481, 8482))
    assert block.text in file.read_text()
    checked("nginx", "-t", "-q", "-c", str(file), "-p", str(tmp_path), "-e", "stderr")


@each("ini")
def test_systemd_takes_the_unit(block: Block, tmp_path: Path) -> None:
    """Its warnings are failures, too: they are about keys that do not exist."""
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.optionxform = str  # pyright: ignore
    parsed.read_string(block.text)
    program, *arguments = parsed["Service"]["ExecStart"].split()
    assert (Path(program).name, arguments[:2]) == ("mcp-workbench", ["serve", "--http"])
    if shutil.which("systemd-analyze") is None:
        return
    unit = tmp_path / "mcp-workbench.service"
    unit.write_text(block.text.replace("/usr/local/bin/", f"{BIN}/"))
    said = checked("systemd-analyze", "verify", "--man=no", str(unit))
    assert [line for line in said.splitlines() if unit.name in line] == []


@each("yaml")
def test_prometheus_is_told_where_and_how_to_ask(block: Block) -> None:
    [job] = yaml.safe_load(block.text)["scrape_configs"]
    # Without a path it asks for /metrics, which is where ours are.
    assert set(job) == {"job_name", "authorization", "static_configs"}
    assert list(job["authorization"]) == ["credentials_file"]
    [static] = job["static_configs"]
    assert all(target.startswith("127.0.0.1:") for target in static["targets"])
