"""A toolbox served directly: its tools under their own names, answered as their server answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.http.conftest import Serve, serve
from tests.http.served import modern_body, modern_headers
from tests.support.client import Client, text
from tests.support.launch import Launcher, child, configuration, toolbox, write_config

__all__ = ["serve"]

DIRECT = ("serve", "--toolbox", "dev")
ONE = configuration(dev=toolbox(echo=child("echo")))
TWO = configuration(dev=toolbox(a=child("echo"), b=child("modern")))


def names(client: Client) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]


def test_one_server_introduces_itself_in_its_own_words(workbench: Launcher) -> None:
    client = workbench(ONE, args=DIRECT)
    greeting = client.initialize()
    assert greeting["serverInfo"] == {"name": "test", "version": "1"}
    assert greeting["capabilities"] == {"tools": {}}
    assert "instructions" not in greeting


def test_nothing_is_connected_before_the_first_request(workbench: Launcher) -> None:
    client = workbench(ONE, args=DIRECT)
    assert client.request("ping")["result"] == {}
    assert client.servers() == []
    client.initialize()
    assert len(client.servers()) == 1


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_a_tool_is_called_by_its_own_name(workbench: Launcher, modern: bool) -> None:
    client = workbench(ONE, args=DIRECT)
    result = client.call("echo", {"text": "hi"}, modern=modern)
    assert json.loads(result["content"][0]["text"]) == {"text": "hi"}


def test_an_error_of_the_server_stays_a_json_rpc_error(workbench: Launcher) -> None:
    client = workbench(ONE, args=DIRECT)
    answer = client.request("tools/call", {"name": "nobody", "arguments": {}})
    assert answer["error"] == {"code": -32602, "message": "no tool nobody"}


def test_a_crash_is_told_in_a_result_that_a_model_can_read(workbench: Launcher) -> None:
    client = workbench(ONE, args=DIRECT)
    result = client.call("die", {})
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(
        "Error executing tool 'die' in server 'echo' (toolbox 'dev'): "
    )


def test_a_filtered_tool_is_unknown_also_to_those_who_know_its_name(workbench: Launcher) -> None:
    config = configuration(dev=toolbox(echo=child("echo", toolFilters=["!fail", "*"])))
    client = workbench(config, args=DIRECT)
    assert "fail" not in names(client)
    answer = client.request("tools/call", {"name": "fail", "arguments": {}})
    assert answer["error"] == {"code": -32602, "message": "Unknown tool: fail"}


def test_names_of_several_servers_are_kept_where_they_are_unique(workbench: Launcher) -> None:
    client = workbench(TWO, args=DIRECT)
    listed = names(client)
    assert "echo" in listed
    assert "change" in listed
    assert {"a__raw", "b__raw"} <= set(listed)
    assert "raw" not in listed
    assert len(set(listed)) == len(listed)
    for name in ("a__seen", "b__seen"):
        assert not client.call(name, {}).get("isError")
    assert client.request("tools/call", {"name": "seen"})["error"]["message"] == "Unknown tool: seen"


def test_calls_have_their_line_in_the_log(workbench: Launcher) -> None:
    client = workbench(ONE, args=DIRECT)
    client.initialize()
    client.call("echo", {"text": "hi"})
    (line,) = (workbench.folder / "home0/log/ToolBox.log").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["tool"], entry["server"], entry["toolbox"]) == ("echo", "echo", "dev")
    assert (entry["caller"], entry["stat"]) == ("raw", "success")


def test_a_change_of_the_tools_is_told(workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(m=child("modern"))), args=DIRECT)
    client.initialize()
    before = names(client)
    client.call("change", {})
    client.wait_for(lambda message: message.get("method") == "notifications/tools/list_changed")
    assert names(client) != before


def test_what_a_tool_has_added_can_be_called_at_once(workbench: Launcher) -> None:
    pages = [[{"name": "change"}], [{"name": "change"}, {"name": "more"}]]
    servers = {"a": child("listed", json.dumps(pages), "turning"), "b": child("echo")}
    client = workbench(configuration(dev=toolbox(**servers)), args=DIRECT)
    client.initialize()
    assert "more" not in names(client)
    client.call("change", {})
    assert text(client.call("more", {})) == "more"


def test_an_unknown_toolbox_is_told_at_the_start(workbench: Launcher) -> None:
    client = workbench(ONE, args=("serve", "--toolbox", "prod"))
    workbench.expected_status[client] = 1
    assert client.wait() == 1
    assert "Error: Toolbox 'prod' not found. Available toolboxes: dev" in client.stderr


def test_over_http_each_toolbox_has_an_address(serve: Serve) -> None:
    config = {
        **configuration(dev=toolbox(echo=child("echo")), ops=toolbox(echo=child("echo"))),
        "http": {"tokens": {"all": {"token": "t-all"}, "ops": {"token": "t-ops", "toolboxes": ["ops"]}}},
    }
    served = serve(config)
    called = {"name": "echo", "arguments": {"text": "hi"}}

    def status(token: str, name: str) -> int:
        headers = modern_headers("tools/call", called, {"Authorization": f"Bearer {token}"})
        body = modern_body("tools/call", called)
        return served.request("POST", f"/toolboxes/{name}/mcp", body, headers).status

    assert status("t-all", "dev") == 200
    assert status("t-ops", "ops") == 200
    assert status("t-ops", "dev") == 404
    assert status("t-all", "none") == 404


def test_the_configuration_can_be_named_as_well(workbench: Launcher, tmp_path: Path) -> None:
    path = write_config(tmp_path, ONE, "other.json")
    for args in (("--toolbox", "dev", "--config", str(path)), ("--config", str(path), "--toolbox", "dev")):
        client = workbench(configuration(), args=("serve", *args))
        assert "echo" in names(client)


def test_over_http_the_toolbox_is_no_option(workbench: Launcher) -> None:
    client = workbench(ONE, args=("serve", "--http", "--toolbox", "dev"))
    workbench.expected_status[client] = 2
    assert client.wait() == 2
    assert "/toolboxes/dev/mcp" in client.stderr
