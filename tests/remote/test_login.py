"""OAuth: a person logs in once, and from then on the workbench sees to it that it is let in."""

from __future__ import annotations

import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, configuration, environment, toolbox, write_config

from .guarded import SECRET, Guarded
from .place import Exchange

PATIENCE = 20


def agree(address: str) -> None:
    with urllib.request.urlopen(address, timeout=PATIENCE) as page:
        assert b"You are logged in" in page.read()


class Home:
    """A folder with one configuration, in which commands and workbenches share their state."""

    def __init__(self, folder: Path, entry: dict[str, Any]) -> None:
        self.folder = folder
        folder.mkdir()
        self.config = write_config(folder, configuration(dev=toolbox(docs=entry)))
        self.env = {**environment(folder), "WORKBENCH_CONFIG": str(self.config)}

    def log_in(
        self,
        place: str = "dev/docs",
        *options: str,
        visit: Callable[[str], None] | None = None,
    ) -> tuple[int, str]:
        """Run the command and, as a person would, go where it says; its status and all that it said."""
        visit = visit or agree
        command = subprocess.Popen(
            [sys.executable, "-m", "mcp_workbench", "login", place, "--no-browser", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.env,
            cwd=self.folder,
            text=True,
        )
        assert command.stdout is not None
        said = ""
        try:
            for line in command.stdout:
                said += line
                if line.startswith("http://"):
                    visit(line.strip())
            return command.wait(PATIENCE), said
        finally:
            command.kill()

    def workbench(self, launcher: Launcher) -> Client:
        client = launcher(self.config, env=self.env)
        client.initialize()
        return client

    @property
    def kept(self) -> list[Path]:
        return sorted((self.folder / "state/mcp-workbench/oauth").glob("*.json"))


def home(tmp_path: Path, guarded: Guarded, **entry: Any) -> Home:
    return Home(tmp_path / "shared", {"url": guarded.url(), **entry})


@pytest.mark.parametrize("modern", [False, True])
def test_after_a_login_the_server_lets_the_workbench_in(workbench: Launcher, tmp_path: Path, modern: bool):
    with Guarded(modern=modern) as guarded:
        here = home(tmp_path, guarded)
        client = here.workbench(workbench)
        closed = client.call("open_toolbox", {"toolbox": "dev"})
        assert text(closed).endswith("it needs a login; run: mcp-workbench login dev/docs")
        status, said = here.log_in()
        assert (status, said.splitlines()[-1]) == (0, "Logged in to dev/docs.")
        client.open("dev")  # the same workbench, which notices
        assert text(client.use("dev/docs/act")) == "let in"
        (kept,) = here.kept
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_twenty_calls_that_are_refused_at_once_need_one_refresh(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        for _ in range(2):  # the second time with the refresh token that the first time brought
            guarded.revoke()
            params = {"name": "use_tool", "arguments": invocation("dev/docs/act")}
            ids = [client.start_request("tools/call", params) for _ in range(20)]
            assert [text(client.response(id)["result"]) for id in ids] == ["let in"] * 20
        assert guarded.grants == ["authorization_code", "refresh_token", "refresh_token"]


def test_two_workbenches_share_one_refresh(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        clients = [here.workbench(workbench) for _ in range(2)]
        for client in clients:
            client.open("dev")
        guarded.revoke()
        params = {"name": "use_tool", "arguments": invocation("dev/docs/act")}
        ids = [client.start_request("tools/call", params) for client in clients]
        for client, id in zip(clients, ids, strict=True):
            assert text(client.response(id)["result"]) == "let in"
        assert guarded.grants == ["authorization_code", "refresh_token"]


def test_a_token_is_refreshed_before_it_ends(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        guarded.lifetime = 0
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        guarded.lifetime = 3600
        client = here.workbench(workbench)
        client.open("dev")
        assert guarded.grants == ["authorization_code", "refresh_token"]
        assert all("authorization" in each.headers for each in guarded.posts("tools/list"))


def test_a_login_that_has_ended_says_so_and_can_be_renewed(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        guarded.revoke()
        guarded.refreshes.clear()
        ended = text(client.use("dev/docs/act"))
        assert ended.endswith("its login has ended; run: mcp-workbench login dev/docs")
        assert here.log_in()[0] == 0
        assert text(client.use("dev/docs/act")) == "let in"
        registered = [each for each in guarded.seen if each.path == "/register"]
        assert len(registered) == 1  # the second login was the same client


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, b"slow down"),
        (403, b"<html>Attention required</html>"),
        (400, b'{"error": "temporarily_unavailable"}'),
        (400, b'{"error": 1}'),
        (200, b"<html>We are back soon</html>"),
        (503, b""),
    ],
)
def test_a_refresh_that_fails_once_does_not_end_the_login(
    workbench: Launcher, tmp_path: Path, status: int, body: bytes
):
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        guarded.revoke()
        guarded.refuse_refresh = lambda exchange: exchange.answer(status, body)
        problem = client.use("dev/docs/act")
        assert problem["isError"]
        assert f"HTTP {status}" in text(problem)
        assert "its login has ended" not in text(problem)
        guarded.refuse_refresh = None
        assert text(client.use("dev/docs/act")) == "let in"
        assert guarded.grants == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize(
    ("status", "error"), [(400, "invalid_grant"), (401, "invalid_client"), (200, "bad_refresh_token")]
)
def test_a_refresh_that_is_refused_for_good_is_not_asked_for_again(
    workbench: Launcher, tmp_path: Path, status: int, error: str
):
    refused: list[Exchange] = []

    def refuse(exchange: Exchange) -> None:
        refused.append(exchange)
        exchange.json({"error": error}, status)

    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        guarded.revoke()
        guarded.refuse_refresh = refuse
        for _ in range(2):
            ended = text(client.use("dev/docs/act"))
            assert ended.endswith("its login has ended; run: mcp-workbench login dev/docs")
        assert len(refused) == 1


KEYRING = """
import json, pathlib

file = pathlib.Path(__file__).with_name("ring.json")

def get_password(service, name):
    return json.loads(file.read_text()).get(f"{service} {name}") if file.exists() else None

def set_password(service, name, secret):
    file.write_text(json.dumps({f"{service} {name}": secret}))
"""


def test_tokens_go_into_the_keyring_where_there_is_one(workbench: Launcher, tmp_path: Path):
    (tmp_path / "ring").mkdir()
    (tmp_path / "ring" / "keyring.py").write_text(KEYRING)
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        here.env["PYTHONPATH"] = str(tmp_path / "ring")
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        guarded.revoke()
        assert text(client.use("dev/docs/act")) == "let in"
        assert here.kept == []
        assert "refresh-" in (tmp_path / "ring" / "ring.json").read_text()


def test_the_scopes_of_the_entry_are_asked_for(tmp_path: Path):
    with Guarded() as guarded:
        here = home(tmp_path, guarded, auth={"type": "oauth", "scopes": ["read", "write"]})
        assert here.log_in()[0] == 0
        assert guarded.scopes == ["read write"]


def test_client_credentials_need_no_person(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        auth = {"type": "client_credentials", "clientId": "robot", "clientSecret": SECRET, "scopes": ["read"]}
        here = home(tmp_path, guarded, auth=auth)
        client = here.workbench(workbench)
        client.open("dev")
        assert text(client.use("dev/docs/act")) == "let in"
        guarded.revoke()
        params = {"name": "use_tool", "arguments": invocation("dev/docs/act")}
        ids = [client.start_request("tools/call", params) for _ in range(20)]
        assert [text(client.response(id)["result"]) for id in ids] == ["let in"] * 20
        assert guarded.grants == ["client_credentials"] * 2
        assert guarded.scopes == ["read", "read"]
        assert here.kept == []


def test_wrong_client_credentials_are_told_without_the_secret(workbench: Launcher, tmp_path: Path):
    with Guarded() as guarded:
        auth = {"type": "client_credentials", "clientId": "robot", "clientSecret": "wrong-secret"}
        client = home(tmp_path, guarded, auth=auth).workbench(workbench)
        problem = text(client.call("open_toolbox", {"toolbox": "dev"}))
        assert "authorization failed: Token exchange failed (400)" in problem
        assert "wrong-secret" not in problem
        assert client.stderr == ""


def test_a_login_does_not_go_where_clouds_keep_their_secrets(tmp_path: Path):
    with Guarded() as guarded:
        guarded.metadata_at = "http://169.254.169.254/metadata"
        status, said = home(tmp_path, guarded).log_in()
        assert status == 1
        assert "it leads to a private address (http://169.254.169.254)" in said


def test_more_rights_than_the_login_gave_take_another_login(workbench: Launcher, tmp_path: Path):
    def forbid(exchange: Exchange) -> None:
        exchange.answer(403, www_authenticate='Bearer error="insufficient_scope", scope="write"')

    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        client = here.workbench(workbench)
        client.open("dev")
        guarded.calls = forbid
        problem = text(client.use("dev/docs/act"))
        assert problem.endswith(
            "it asks for more rights than the login gave; run: mcp-workbench login dev/docs"
        )
        assert guarded.grants == ["authorization_code"]


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("prod/docs", "Toolbox 'prod' not found. Available: dev"),
        ("dev/other", "Server 'other' not found in toolbox 'dev'"),
    ],
)
def test_a_login_to_nowhere_is_refused(tmp_path: Path, place: str, problem: str):
    with Guarded() as guarded:
        status, said = home(tmp_path, guarded).log_in(place)
        assert (status, said.strip()) == (1, f"error: {problem}")


def test_a_server_that_lets_everybody_in_needs_no_login(tmp_path: Path):
    with Guarded() as guarded:
        guarded.valid.add("")
        status, said = home(tmp_path, guarded).log_in()
        assert (status, said.strip()) == (1, "error: the server lets us in without a login")


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path, taken: int):
    with Guarded() as guarded:
        status, said = home(tmp_path, guarded).log_in("dev/docs", "--port", str(taken))
        assert (status, said.strip()) == (
            1,
            f"error: the browser cannot come back to port {taken}: address already in use; free it, or say "
            "--port with another one that the server knows",
        )


def test_a_client_that_was_registered_by_hand_comes_back_to_its_port_or_not_at_all(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Guarded() as guarded:
        here = home(tmp_path, guarded, auth={"type": "oauth", "clientId": "by-hand"})
        assert here.log_in("dev/docs", "--port", str(port))[0] == 0
        assert here.log_in()[0] == 0
        sent = [each.form["redirect_uri"] for each in guarded.seen if each.path == "/authorize"]
        assert sent == [f"http://127.0.0.1:{port}/callback"] * 2
        with socket.create_server(("127.0.0.1", port)):
            status, said = here.log_in()
        assert status == 1
        assert f"cannot come back to port {port}: address already in use" in said


def test_a_client_that_registers_itself_does_so_anew_where_its_port_is_taken(tmp_path: Path):
    with Guarded() as guarded:
        here = home(tmp_path, guarded)
        assert here.log_in()[0] == 0
        port = urlsplit(guarded.seen[-1].form["redirect_uri"]).port
        assert port is not None
        with socket.create_server(("127.0.0.1", port)):
            assert here.log_in()[0] == 0
        assert len([each for each in guarded.seen if each.path == "/register"]) == 2


@pytest.mark.parametrize(
    "answer", ["error=access_denied", "error=x&state=guessed", "code=mine&state=guessed"]
)
def test_nobody_else_can_answer_a_login_that_is_under_way(tmp_path: Path, answer: str):
    def interfere(address: str) -> None:
        back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{back}?{answer}", timeout=PATIENCE)
        assert refused.value.code == 400
        assert b"This is not the answer to the login" in refused.value.read()
        agree(address)

    with Guarded() as guarded:
        status, said = home(tmp_path, guarded).log_in(visit=interfere)
        assert (status, said.splitlines()[-1]) == (0, "Logged in to dev/docs.")


def test_a_login_that_the_server_refuses_says_why(tmp_path: Path):
    def refuse(address: str) -> None:
        query = parse_qs(urlsplit(address).query)
        back = f"{query['redirect_uri'][0]}?state={query['state'][0]}"
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{back}&error_description=%1b%5b31mnot+today", timeout=PATIENCE)

    with Guarded() as guarded:
        status, said = home(tmp_path, guarded).log_in(visit=refuse)
        assert status == 1
        assert said.splitlines()[-1] == r"error: the login was refused: \x1b[31mnot today"
