import json
from pathlib import Path

from .test_check import command, configured


def test_a_file_is_trusted_listed_and_removed(tmp_path: Path) -> None:
    file = configured(tmp_path, {"command": "npx"}, "workbench-config.json")
    assert command("trust", "--list", cwd=tmp_path).stdout == "No file is trusted.\n"
    done = command("trust", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{file} is trusted until it changes.\n")
    assert "not trusted" not in command("check", cwd=tmp_path).stdout
    assert json.loads(command("trust", "--list", "--json", cwd=tmp_path).stdout) == {"trusted": [str(file)]}
    assert command("trust", "--remove", cwd=tmp_path).returncode == 0
    assert command("trust", "--remove", cwd=tmp_path).returncode == 1
    assert "not trusted" in command("check", cwd=tmp_path).stdout


def test_a_file_that_cannot_be_used_is_not_trusted(tmp_path: Path) -> None:
    file = configured(tmp_path, {"comand": "npx"}, "workbench-config.json")
    done = command("trust", str(file), cwd=tmp_path)
    assert done.returncode == 1
    assert "Did you mean" in done.stderr
    done = command("trust", "--json", "nowhere.json", cwd=tmp_path)
    assert done.returncode == 1
    assert not json.loads(done.stdout)["trusted"]
    assert command("trust", "--list", cwd=tmp_path).stdout == "No file is trusted.\n"
