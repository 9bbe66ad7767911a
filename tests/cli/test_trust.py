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


def test_a_link_to_a_trusted_file_does_not_run_what_lies_beside_the_link(tmp_path: Path) -> None:
    trusted, other, ran = tmp_path / "trusted", tmp_path / "other", tmp_path / "ran"
    for folder in (trusted, other):
        (folder / "tools").mkdir(parents=True, mode=0o755)
    entry = {"path": "./tools"}
    file = configured(trusted, entry, "workbench-config.json")
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert command("trust", cwd=trusted, **env).returncode == 0
    (other / "workbench-config.json").symlink_to(file)
    (other / "tools" / "evil.py").write_text(f"open({str(ran)!r}, 'w')\n")
    done = command("tools", cwd=other, **env)
    assert f"{other}/workbench-config.json is not trusted" in done.stderr
    assert not ran.exists()
