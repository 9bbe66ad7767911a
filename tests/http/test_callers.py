"""Who may come in: the token that is made, tokens of the configuration, and what each of them may see."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from mcp_workbench.http.callers import own_token
from tests.support.launch import child, configuration, toolbox

from .conftest import ECHO, Serve
from .served import Live, Served, Session, modern_body, modern_headers, use

SECRET = ("ops", "Operations", "vault")
"""Nothing of this may reach a caller that may see `dev` alone."""

SCOPED = {
    **configuration(
        dev=toolbox(echo=child("echo")),
        ops=toolbox(description="Operations", vault=child("echo", "open_vault")),
    ),
    "http": {
        "tokens": {
            "alice": {"token": "alice-token", "toolboxes": ["dev"]},
            "root": {"token": "${ROOT_TOKEN}"},
            "nobody": {"token": "nobody-token", "toolboxes": []},
        }
    },
}


def test_without_a_token_or_with_a_wrong_one_nobody_comes_in(served: Served) -> None:
    for given in (None, "Bearer ", "Bearer wrong", "Basic abc", served.headers["Authorization"] + "x"):
        for path in ("/mcp", "/metrics"):
            answer = served.request("POST", path, modern_body("tools/list"), {"Authorization": given})
            assert answer.status == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert "resource_metadata" not in answer.headers["WWW-Authenticate"]
    assert served.request("GET", "/.well-known/oauth-protected-resource").status == 404


def test_the_scheme_of_a_token_is_not_case_sensitive(served: Served) -> None:
    token = served.headers["Authorization"].removeprefix("Bearer ")
    headers = {**modern_headers("tools/list"), "Authorization": f"bearer {token}"}
    assert served.request("POST", body=modern_body("tools/list"), headers=headers).status == 200


def test_the_token_is_made_once_and_kept_for_this_user_alone(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    token = own_token(environ)
    assert len(token) >= 32
    assert own_token(environ) == token
    file = tmp_path / "mcp-workbench" / "http-token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(file.parent) == ["http-token"]


def test_an_empty_token_file_is_filled_again(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    own_token(environ)
    (tmp_path / "mcp-workbench" / "http-token").write_text("\n")
    assert len(own_token(environ)) >= 32


def test_a_token_file_that_is_no_text_stops_the_start_with_what_to_do(serve: Serve, tmp_path: Path) -> None:
    state = tmp_path / "home1" / "state" / "mcp-workbench"
    state.mkdir(parents=True)
    (state / "http-token").write_bytes(b"\xff\xfe bad\n")
    with pytest.raises(RuntimeError) as failed:
        serve()
    assert "http-token holds no token; delete it" in str(failed.value)
    assert "Traceback" not in str(failed.value)


def test_processes_that_start_at_the_same_time_agree_on_the_token(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    tokens: list[str] = []
    threads = [threading.Thread(target=lambda: tokens.append(own_token(environ))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(tokens) == 8
    assert len(set(tokens)) == 1


def test_the_token_is_told_by_its_place_and_never_by_itself(served: Served) -> None:
    assert str(served.state / "http-token") in served.stderr
    assert served.headers["Authorization"].removeprefix("Bearer ") not in served.stderr


@pytest.fixture
def scoped(serve: Serve) -> Served:
    return serve(SCOPED, env={"ROOT_TOKEN": "root-token"})


def test_a_caller_hears_nothing_of_toolboxes_that_it_may_not_see(scoped: Served) -> None:
    scoped.headers = {"Authorization": "Bearer root-token"}
    assert scoped.open("ops")["structuredContent"]["servers_connected"] == 1
    assert scoped.use("ops/vault/open_vault", {"a": 1})["content"]
    scoped.headers = {"Authorization": "Bearer alice-token"}
    scoped.open("dev")
    heard = [
        scoped.modern("server/discover").body,
        scoped.modern("tools/list").body,
        json.dumps(scoped.session().result).encode(),
        json.dumps(scoped.open("missing")).encode(),
        json.dumps(scoped.call("open_toolbox", {})).encode(),
        json.dumps(scoped.use("nowhere/vau/x")).encode(),
        json.dumps(scoped.call("open_vault", {})).encode(),
        scoped.request("GET", "/metrics").body,
    ]
    for text in heard:
        assert b"dev" in text or b"open_vault" in text
        for word in SECRET:
            assert word.encode() not in text.replace(b"open_vault", b"")
    # What it names itself is quoted, as if it were not there.
    assert scoped.open("ops")["content"][0]["text"] == (
        "Error: Toolbox 'ops' not found. Available toolboxes: dev"
    )
    assert scoped.use("ops/vault/open_vault")["content"][0]["text"] == (
        "Error executing tool: Toolbox 'ops' not found. Available toolboxes: dev"
    )


def test_a_caller_without_toolboxes_sees_none(scoped: Served) -> None:
    scoped.headers = {"Authorization": "Bearer nobody-token"}
    text = scoped.modern("server/discover").json["result"]["instructions"]
    assert "**" not in text
    assert "ops" not in text


def test_configured_tokens_take_the_place_of_the_one_that_is_made(scoped: Served) -> None:
    assert not (scoped.state / "http-token").exists()
    assert scoped.modern("tools/list").status == 401
    assert "alice-token" not in scoped.stderr


def test_a_session_belongs_to_the_caller_that_began_it(scoped: Served) -> None:
    alice = scoped.session(headers={"Authorization": "Bearer alice-token"})
    stranger = {**alice.headers, "Authorization": "Bearer root-token"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert scoped.request("POST", body=body, headers=stranger).status == 404
    assert scoped.request("DELETE", headers=stranger).status == 404
    assert scoped.request("POST", body=body, headers=alice.headers).status == 200


def test_the_callers_name_is_in_the_call_log_and_its_token_goes_nowhere(scoped: Served) -> None:
    scoped.headers = {"Authorization": "Bearer alice-token"}
    scoped.open("dev")
    seen = scoped.use("dev/echo/seen", {"x": 1})["content"][0]["text"]
    about = scoped.use("dev/echo/about")["content"][0]["text"]
    assert "alice-token" not in seen + about
    log = (scoped.home / "log" / "ToolBox.log").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert [(line["principal"], line["caller"], line["tool"]) for line in lines] == [
        ("alice", "raw", "seen"),
        ("alice", "raw", "about"),
    ]
    assert "alice-token" not in log


def test_a_configuration_that_loses_its_tokens_lets_nobody_in_without_one(serve: Serve) -> None:
    served = serve({**ECHO, "http": {"tokens": {"a": {"token": "first"}}}})
    served.config.write_text(json.dumps(ECHO))
    served.wait_for("configuration reloaded")
    assert served.modern("tools/list").status == 401
    token = (served.state / "http-token").read_text().strip()
    served.headers = {"Authorization": f"Bearer {token}"}
    assert served.modern("tools/list").status == 200


def test_tokens_change_with_the_configuration(serve: Serve) -> None:
    served = serve({**ECHO, "http": {"tokens": {"a": {"token": "first"}}}})
    served.headers = {"Authorization": "Bearer first"}
    assert served.modern("tools/list").status == 200
    served.config.write_text(json.dumps({**ECHO, "http": {"tokens": {"a": {"token": "second"}}}}))
    served.wait_for("configuration reloaded")
    assert served.modern("tools/list").status == 401
    served.headers = {"Authorization": "Bearer second"}
    assert served.modern("tools/list").status == 200


WATCHED = configuration(dev=toolbox(echo=child("echo")), ops=toolbox(notes=child("watched")))
ROOT = {"Authorization": "Bearer root-token"}
CI = {"Authorization": "Bearer ci-token"}


def letting_in(**tokens: object) -> dict[str, object]:
    return {**WATCHED, "http": {"tokens": {"root": {"token": "root-token"}, **tokens}}}


def listening(served: Served) -> tuple[Session, list[Live]]:
    """A client that hears of everything that there is to hear, in both eras."""
    session = Session(served, "2025-11-25", CI)
    uri = "note://watched"
    assert session.ask("resources/subscribe", {"uri": uri}).message["result"] == {}
    wishes = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [uri]}}
    method = "subscriptions/listen"
    modern = served.stream("POST", modern_body(method, wishes), {**modern_headers(method), **CI})
    assert modern.message()["method"].endswith("acknowledged")
    legacy = session.listen()
    assert legacy.event()["data"] == ""
    return session, [legacy, modern]


@pytest.mark.parametrize(
    "tokens",
    [
        {},
        {"ci": {"token": "another-token"}},
        {"ci": {"token": "ci-token", "toolboxes": ["dev"]}},
        {"cd": {"token": "ci-token"}},
    ],
    ids=["gone", "changed", "limited", "renamed"],
)
def test_whoever_is_let_in_no_longer_hears_nothing_more(serve: Serve, tokens: dict[str, object]) -> None:
    served = serve(letting_in(ci={"token": "ci-token"}))
    served.headers = ROOT
    served.open("ops")
    session, heard = listening(served)
    served.use("ops/notes/touch")
    for live in heard:
        assert live.message()["method"] == "notifications/resources/updated"
    served.config.write_text(json.dumps(letting_in(**tokens)))
    served.wait_for("configuration reloaded")
    served.use("ops/notes/touch")
    for live in heard:
        assert "resources/updated" not in json.dumps(live.rest())
    assert session.ask("ping").status in (401, 404)


def test_whoever_is_let_in_as_before_keeps_its_session_and_its_calls(serve: Serve) -> None:
    served = serve(letting_in(ci={"token": "ci-token"}, cd={"token": "cd-token"}))
    served.headers = ROOT
    served.open("ops")
    served.open("dev")
    session, heard = listening(served)
    leaving = Session(served, "2025-11-25", {"Authorization": "Bearer cd-token"})
    call = leaving.stream("tools/call", use("dev/echo/slow", {"seconds": 3}))
    assert call.event()["data"] == ""
    served.config.write_text(json.dumps(letting_in(ci={"token": "ci-token"})))
    served.wait_for("configuration reloaded")
    served.use("ops/notes/touch")
    for live in heard:
        while live.message()["method"] != "notifications/resources/updated":
            pass
    assert session.ask("ping").status == 200
    assert json.loads(call.rest()[-1]["data"])["result"]["content"][0]["text"] == "slept 3"


def test_a_caller_hears_of_no_change_in_a_toolbox_that_it_may_not_see(serve: Serve) -> None:
    limited = {"token": "ci-token", "toolboxes": ["dev"]}
    served = serve(letting_in(ci=limited))
    served.headers = ROOT
    session = Session(served, "2025-11-25", CI)
    live = session.listen()
    assert live.event()["data"] == ""
    served.open("ops")
    changed = json.loads(json.dumps(letting_in(ci=limited)))
    changed["toolboxes"]["ops"]["description"] = "Other words"
    served.config.write_text(json.dumps(changed))
    served.wait_for("configuration reloaded")
    changed["toolboxes"]["dev"]["description"] = "Other words"
    served.config.write_text(json.dumps(changed))
    assert live.message()["method"] == "notifications/tools/list_changed"
    assert session.end().status == 204
    assert live.rest() == []
