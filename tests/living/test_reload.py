from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import mcp_workbench
from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, environment, toolbox, write_config

from .shifting import eventually, names, running, shifting, work

Config = Callable[[Mapping[str, Any]], Path]

CHANGED = "notifications/tools/list_changed"


def reloads(client: Client) -> int:
    return client.stderr.count("configuration reloaded")


def rewrite(client: Client, file: Path, config: Mapping[str, Any]) -> None:
    """Put another configuration into the file, and wait until it is used."""
    before = reloads(client)
    file.write_text(json.dumps(config))
    eventually(lambda: reloads(client) > before)


def hang_up(client: Client) -> None:
    os.kill(client.process.pid, signal.SIGHUP)


def state(client: Client) -> dict[str, Any]:
    """What the workbench tells the commands about itself."""
    return json.loads(Path(client.mark, "mcp-workbench", "run", f"{client.process.pid}.json").read_text())


# What changes


def test_an_added_toolbox_is_announced_to_clients_of_both_eras(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    dev = toolbox(s=shifting(tmp_path / "t.json"))
    file = config_file(configuration(dev=dev))
    old, new = workbench(file), workbench(file)
    old.initialize()
    wanted = {"notifications": {"toolsListChanged": True}}
    subscription = new.start_request("subscriptions/listen", wanted, modern=True)
    new.wait_for(lambda message: message.get("method") == "notifications/subscriptions/acknowledged")
    file.write_text(json.dumps(configuration(dev=dev, prod=toolbox(description="Production tools"))))
    old.wait_for(lambda message: message.get("method") == CHANGED)
    notice = new.wait_for(lambda message: message.get("method") == CHANGED)
    assert notice["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": subscription}
    for client, modern in ((old, False), (new, True)):
        tools = client.request("tools/list", modern=modern)["result"]["tools"]
        assert tools[0]["description"].endswith("- dev: For tests\n- prod: Production tools")
        assert client.open("prod", modern=modern)["tools"] == []
        assert len(client.notifications(CHANGED)) == 1
    discovered = new.request("server/discover", modern=True)["result"]["instructions"]
    assert "- **prod** (0 servers): Production tools" in discovered
    assert old.initialize()["instructions"] == discovered


def test_unchanged_servers_keep_their_process_and_changed_ones_start_anew(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    same = shifting(tmp_path / "a.json")
    file = config_file(configuration(dev=toolbox(same=same, other=shifting(tmp_path / "b.json", mark="1"))))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    before = {name: work(client, f"dev/{name}/work") for name in ("same", "other")}
    other, third = shifting(tmp_path / "b.json", mark="2"), shifting(tmp_path / "c.json")
    rewrite(client, file, configuration(dev=toolbox(third=third, other=other, same=same)))
    eventually(lambda: not running(before["other"]["pid"]))
    assert work(client, "dev/same/work") == before["same"]
    after = work(client, "dev/other/work")
    assert after["mark"] == "2"
    assert after["pid"] != before["other"]["pid"]
    listing = client.open("dev")
    assert [each["server"] for each in listing["tools"]] == ["third", "other", "same"]
    assert work(client, "dev/same/work") == before["same"]


def test_a_changed_description_disturbs_no_server(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    dev = toolbox(s=shifting(tmp_path / "t.json"))
    file = config_file(configuration(dev=dev))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    before = work(client, "dev/s/work")
    rewrite(client, file, configuration(dev={**dev, "description": "Other words"}))
    assert client.open("dev")["description"] == "Other words"
    assert work(client, "dev/s/work") == before


def test_a_removed_server_finishes_its_calls_and_is_gone(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    keep = shifting(tmp_path / "a.json")
    file = config_file(configuration(dev=toolbox(keep=keep, drop=shifting(tmp_path / "b.json"))))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    pid = work(client, "dev/drop/work")["pid"]
    call = client.start_request(
        "tools/call", {"name": "use_tool", "arguments": invocation("dev/drop/work", {"seconds": 2})}
    )
    rewrite(client, file, configuration(dev=toolbox(keep=keep)))
    refused = client.use("dev/drop/work")
    assert text(refused) == "Error executing tool: Server 'drop' not found in toolbox 'dev'"
    assert running(pid)
    assert json.loads(text(client.response(call)["result"]))["pid"] == pid
    eventually(lambda: not running(pid))
    assert [each["server"] for each in client.open("dev")["tools"]] == ["keep"]


def test_a_removed_toolbox_is_closed_and_comes_back_closed(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    both = configuration(dev=toolbox(s=shifting(tmp_path / "t.json")), prod=toolbox())
    file = config_file(both)
    client = workbench(file)
    client.initialize()
    client.open("dev")
    pid = work(client, "dev/s/work")["pid"]
    rewrite(client, file, configuration(prod=toolbox()))
    gone = "Error executing tool: Toolbox 'dev' not found. Available toolboxes: prod"
    assert text(client.use("dev/s/work")) == gone
    eventually(lambda: not running(pid))
    rewrite(client, file, both)
    assert "is not open" in text(client.use("dev/s/work"))
    assert names(client.open("dev")) == ["work"]


def test_calls_after_a_change_of_the_log_are_in_the_new_one(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    config = configuration(dev=toolbox(s=shifting(tmp_path / "t.json")))
    file = config_file(config)
    client = workbench(file)
    client.initialize()
    client.open("dev")
    before = work(client, "dev/s/work")
    rewrite(client, file, {**config, "log": {"path": "other.log"}})
    assert work(client, "dev/s/work") == before
    for log in (tmp_path / "log" / "ToolBox.log", tmp_path / "other.log"):
        (line,) = log.read_text().splitlines()
        assert json.loads(line)["stat"] == "success"


def test_the_bundled_tools_look_into_the_new_log(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    bundled = Path(mcp_workbench.__file__).parent / "bundled"
    config = configuration(dev=toolbox(s={"path": str(bundled)}))
    file = config_file(config)
    client = workbench(file)
    client.initialize()
    client.open("dev")
    client.use("dev/s/hello_world", {"name": "before"})
    rewrite(client, file, {**config, "log": {"path": "other.log"}})
    client.use("dev/s/hello_world", {"name": "after"})
    found = text(client.use("dev/s/log_tool", {"toolName": "hello_world"}))
    assert "after" in found
    assert "before" not in found


# Calls meanwhile


def test_no_call_of_fifty_is_lost_when_everything_changes_under_them(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    def version(mark: str) -> dict[str, Any]:
        same = shifting(tmp_path / "a.json")
        # Fewer places than calls, so that some of them are still waiting for theirs.
        other = shifting(tmp_path / "b.json", mark=mark, limits={"concurrency": 4})
        return configuration(dev=toolbox(same=same, other=other))

    file = config_file(version("1"))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    pids = {name: work(client, f"dev/{name}/work")["pid"] for name in ("same", "other")}
    calls = {
        client.start_request(
            "tools/call",
            {"name": "use_tool", "arguments": invocation(f"dev/{server}/work", {"seconds": 0.15})},
        ): server
        for _ in range(25)
        for server in pids
    }
    file.write_text(json.dumps(version("2")))
    hang_up(client)
    for id, server in calls.items():
        result = client.response(id)["result"]
        assert not result.get("isError"), result
        assert json.loads(text(result))["pid"] == pids[server]
    eventually(lambda: reloads(client) == 1)
    eventually(lambda: not running(pids["other"]))
    assert work(client, "dev/other/work")["mark"] == "2"
    assert work(client, "dev/same/work")["pid"] == pids["same"]


@pytest.mark.parametrize("kept", [True, False])
def test_whoever_waits_for_a_server_to_start_is_answered_though_it_is_replaced(
    tmp_path: Path, config_file: Config, workbench: Launcher, kept: bool
) -> None:
    gate = tmp_path / "gate"
    slow, quick = shifting(tmp_path / "a.json", gate), shifting(tmp_path / "b.json")
    file = config_file({**configuration(dev=toolbox(slow=slow, quick=quick)), "openOnUse": True})
    client = workbench(file)
    client.initialize()
    call = client.start_request(
        "tools/call", {"name": "use_tool", "arguments": invocation("dev/slow/work", {})}
    )
    opening = client.start_request("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}})
    work(client, "dev/quick/work")
    replaced = {"slow": {**slow, "env": {"MARK": "2"}}} if kept else {}
    rewrite(client, file, configuration(dev=toolbox(**replaced, quick=quick)))
    gate.touch()
    result = client.response(call)["result"]
    assert json.loads(text(result))["tool"] == "work"
    listing = client.response(opening)["result"]["structuredContent"]
    assert [each["server"] for each in listing["tools"]] == [*replaced, "quick"]


def test_ten_reloads_a_second_lose_nothing_and_end_with_the_last(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    same = shifting(tmp_path / "a.json")

    def version(number: int) -> dict[str, Any]:
        other = shifting(tmp_path / "b.json", mark=str(number))
        return configuration(dev=toolbox(description=f"Version {number}", same=same, other=other))

    file = config_file(version(0))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    pid = work(client, "dev/same/work")["pid"]
    calls: list[int] = []
    for number in range(1, 31):
        file.write_text(json.dumps(version(number)))
        hang_up(client)
        for server in ("same", "other"):
            params = {"name": "use_tool", "arguments": invocation(f"dev/{server}/work", {"seconds": 0.3})}
            calls.append(client.start_request("tools/call", params))
        time.sleep(0.1)
    for id in calls:
        result = client.response(id)["result"]
        assert not result.get("isError"), result
    eventually(lambda: client.open("dev")["description"] == "Version 30")
    assert reloads(client) > 10
    assert work(client, "dev/other/work")["mark"] == "30"
    assert work(client, "dev/same/work")["pid"] == pid
    servers = [each for each in client.remember_processes() if running(each.pid)]
    eventually(lambda: sum(running(each.pid) for each in servers) <= 3)  # two servers, one watchdog


# How it is written


def test_an_editor_that_writes_by_renaming_is_followed_again_and_again(
    config_file: Config, workbench: Launcher
) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    for number in range(3):
        fresh = file.with_suffix(".swp")
        fresh.write_text(json.dumps(configuration(dev=toolbox(description=f"Version {number}"))))
        file.rename(file.with_suffix(".json~"))
        fresh.rename(file)
        eventually(lambda number=number: reloads(client) == number + 1)
        assert client.open("dev")["description"] == f"Version {number}"
    assert "not used" not in client.stderr


def test_a_file_that_is_empty_for_a_moment_changes_nothing(config_file: Config, workbench: Launcher) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    for number in range(20):
        file.write_text("")
        time.sleep(0.01)
        file.write_text(json.dumps(configuration(dev=toolbox(description=f"Version {number}"))))
        time.sleep(0.06)
    eventually(lambda: client.open("dev")["description"] == "Version 19")
    assert "not used" not in client.stderr


def test_a_file_that_is_empty_for_long_keeps_the_old_configuration(
    config_file: Config, workbench: Launcher
) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    file.write_text("")
    eventually(lambda: "the changed configuration is not used" in client.stderr)
    assert client.open("dev")["tools"] == []
    rewrite(client, file, configuration(prod=toolbox()))
    assert client.open("prod")["tools"] == []


def test_a_file_that_goes_away_and_comes_back(config_file: Config, workbench: Launcher) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    file.unlink()
    eventually(lambda: "cannot be read: no such file" in client.stderr)
    assert client.open("dev")["tools"] == []
    rewrite(client, file, configuration(prod=toolbox()))
    assert client.open("prod")["tools"] == []


def test_a_file_that_was_only_touched_is_no_news(config_file: Config, workbench: Launcher) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    os.utime(file, (1, 1))
    hang_up(client)
    time.sleep(1)
    assert (reloads(client), client.notifications(CHANGED)) == (0, [])


# What is wrong with it


def test_an_invalid_file_keeps_the_old_one_and_says_why_until_it_is_mended(
    tmp_path: Path, config_file: Config, workbench: Launcher
) -> None:
    file = config_file(configuration(dev=toolbox(s=shifting(tmp_path / "t.json"))))
    client = workbench(file)
    client.initialize()
    client.open("dev")
    before = work(client, "dev/s/work")
    eventually(lambda: state(client)["reload_error"] is None)
    file.write_text(json.dumps(configuration(dev=toolbox(s={"comand": "x"}))))
    eventually(lambda: "the changed configuration is not used" in client.stderr)
    assert 'config.toolboxes.dev.mcpServers.s.comand: Unknown key. Did you mean "command"?' in client.stderr
    eventually(lambda: "Did you mean" in (state(client)["reload_error"] or ""))
    assert work(client, "dev/s/work") == before
    assert client.notifications(CHANGED) == []
    hang_up(client)
    time.sleep(0.7)
    assert client.stderr.count("is not used") == 1  # once is enough
    file.write_text(json.dumps(configuration(dev=toolbox(s=shifting(tmp_path / "t.json")))))
    eventually(lambda: state(client)["reload_error"] is None)
    assert work(client, "dev/s/work") == before


def test_a_hang_up_signal_reloads_what_watching_cannot_see(config_file: Config, workbench: Launcher) -> None:
    file = config_file(configuration(dev=toolbox(description="Version 1")))
    client = workbench(file)
    client.initialize()
    status = file.stat()
    with file.open("r+") as same_inode:
        same_inode.write(json.dumps(configuration(dev=toolbox(description="Version 2"))))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    hang_up(client)
    client.wait_for(lambda message: message.get("method") == CHANGED)
    assert client.open("dev")["description"] == "Version 2"


def test_a_hang_up_signal_without_a_file_is_survived(workbench: Launcher) -> None:
    client = workbench(Path(), env={"WORKBENCH_CONFIG": ""})
    client.initialize()
    hang_up(client)
    assert client.open("workbench")["servers_connected"] == 1


def test_a_trusted_file_that_has_changed_waits_to_be_trusted_again(here: Here) -> None:
    file = write_config(here.folder, configuration(dev=toolbox()))
    here.trust()
    client = here.start()
    assert client.open("dev")["tools"] == []
    file.write_text(json.dumps(configuration(prod=toolbox(s=child("starting", "exits")))))
    eventually(lambda: f"has changed and waits for: mcp-workbench trust {file}" in client.stderr)
    eventually(lambda: "waits for" in (state(client)["reload_error"] or ""))
    hang_up(client)
    assert client.open("dev")["tools"] == []
    assert client.notifications(CHANGED) == []
    here.trust()
    client.wait_for(lambda message: message.get("method") == CHANGED)
    tools = client.request("tools/list")["result"]["tools"]
    assert tools[0]["description"].endswith("Toolboxes:\n- prod: For tests")
    eventually(lambda: state(client)["reload_error"] is None)


def test_a_file_that_was_passed_over_is_named_after_a_reload_too(here: Here) -> None:
    passed_over = write_config(here.folder, configuration(dev=toolbox()))
    (here.folder / "config" / "mcp-workbench").mkdir(parents=True)
    own = write_config(here.folder / "config" / "mcp-workbench", configuration(own=toolbox()))
    client = here.start()
    rewrite(client, own, configuration(other=toolbox()))
    instructions = client.request("server/discover", modern=True)["result"]["instructions"]
    assert "**other**" in instructions
    assert f"nobody has trusted it: {passed_over}" in instructions


class Here:
    """A folder to start in without naming a configuration."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients: list[Client] = []

    def trust(self) -> None:
        command = [sys.executable, "-m", "mcp_workbench", "trust"]
        env = environment(self.folder)
        subprocess.run(command, cwd=self.folder, env=env, timeout=30, check=True, capture_output=True)

    def start(self) -> Client:
        command = [sys.executable, "-m", "mcp_workbench"]
        mark = f"{self.folder}/state"
        client = Client(command, env=environment(self.folder), cwd=self.folder, mark=mark)
        self.clients.append(client)
        client.initialize()
        return client


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    folder = Here(tmp_path)
    yield folder
    for client in folder.clients:
        assert client.end() == 0
        assert client.left_behind() == []
