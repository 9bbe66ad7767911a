"""A company's identity provider: its tokens are accepted for us and nobody else, and clients learn of it."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from mcp_workbench.config import OAuthConfig
from mcp_workbench.http import oauth
from tests.asking.asked import ACCEPTED, CAPABILITIES, FORM
from tests.support.launch import child, configuration, toolbox

from .conftest import ECHO, Serve
from .served import Served, modern_body, modern_headers, use

AUDIENCE = "https://tools.example.com/mcp"


class Issuer:
    """Serves its metadata and its keys, and signs."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"rsa": rsa.generate_private_key(65537, 2048)}
        self.asked: list[str] = []
        self.instead: bytes | None = None
        """What its keys are answered with in their place, from the first line on."""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                if issuer.instead is not None and self.path == "/jwks":
                    self.wfile.write(issuer.instead)
                    self.close_connection = True
                    return
                known = {
                    "/.well-known/openid-configuration": {
                        "issuer": issuer.url,
                        "jwks_uri": f"{issuer.url}/jwks",
                    },
                    "/jwks": issuer.jwks(),
                }
                body = json.dumps(known.get(self.path)).encode()
                self.send_response(200 if self.path in known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def jwks(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] = [{"kty": "new-kind", "kid": "unknown"}]
        for id, key in self.keys.items():
            algorithm: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
            entries.append({**json.loads(algorithm.to_jwk(key.public_key())), "kid": id, "use": "sig"})
        return {"keys": entries}

    def token(self, *, kid: str = "rsa", alg: str = "RS256", key: Any = None, **changed: Any) -> str:
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "exp": time.time() + 300, **changed}
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(
            claims, key if key is not None else self.keys[kid], algorithm=alg, headers={"kid": kid}
        )


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.server.shutdown()
    issuer.server.server_close()


@pytest.fixture
def guarded(serve: Serve, issuer: Issuer) -> Served:
    return serve({**ECHO, "http": {"oauth": {"issuer": issuer.url, "audience": AUDIENCE}}})


def status(served: Served, token: str) -> int:
    headers = {**modern_headers("tools/list"), "Authorization": f"Bearer {token}"}
    return served.request("POST", body=modern_body("tools/list"), headers=headers).status


def test_a_token_for_us_is_accepted_and_its_subject_is_in_the_log(guarded: Served, issuer: Issuer) -> None:
    guarded.headers = {"Authorization": f"Bearer {issuer.token()}"}
    guarded.open("dev")
    guarded.use("dev/echo/echo", {"a": 1})
    [line] = (guarded.home / "log" / "ToolBox.log").read_text().splitlines()
    assert json.loads(line)["principal"] == "ada"
    assert not (guarded.state / "http-token").exists()


def test_any_other_token_is_not(guarded: Served, issuer: Issuer) -> None:
    assert status(guarded, issuer.token(aud=["https://other.example", AUDIENCE])) == 200
    stranger = rsa.generate_private_key(65537, 2048)
    shared = "s" * 64
    refused = [
        issuer.token(aud="https://other.example"),
        issuer.token(aud=None),
        issuer.token(iss="https://evil.example"),
        issuer.token(exp=time.time() - 120),
        issuer.token(exp=None),
        issuer.token(exp=str(int(time.time()) + 300)),
        issuer.token(exp=10**400),
        issuer.token(sub=None),
        issuer.token(nbf=time.time() + 600),
        issuer.token(key=stranger),
        issuer.token(key=shared, alg="HS256"),
        issuer.token(kid="rsa", key="", alg="none"),
        issuer.token()[:-10] + "AAAAAAAAAA",
        "not-a-token",
        "a.b.c",
        base64.urlsafe_b64encode(b"[" * 40_000).decode().rstrip("=") + ".e30.AA",
    ]
    assert [status(guarded, token) for token in refused] == [401] * len(refused)
    assert "Traceback" not in guarded.stderr


def test_clients_are_told_where_to_sign_in(guarded: Served, issuer: Issuer) -> None:
    answer = guarded.modern("tools/list")
    assert answer.status == 401
    challenge = answer.headers["WWW-Authenticate"]
    well_known = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{well_known}"' in challenge
    assert "error" not in challenge
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        metadata = guarded.request("GET", path).json
        assert metadata["resource"] == AUDIENCE
        assert metadata["authorization_servers"] == [issuer.url]
    wrong = guarded.modern("tools/list", headers={"Authorization": "Bearer x.y.z"})
    assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]


def test_keys_are_asked_for_once_and_again_when_a_new_one_is_used_but_not_for_every_guess(
    guarded: Served, issuer: Issuer
) -> None:
    assert status(guarded, issuer.token()) == 200
    for number in range(20):
        assert status(guarded, issuer.token(kid=f"guess{number}", key=issuer.keys["rsa"])) == 401
    assert issuer.asked.count("/jwks") == 1


def test_a_key_that_was_rotated_in_is_found(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oauth, "KEYS_PAUSE", 0.0)

    async def run() -> None:
        accepted = oauth.OAuth(OAuthConfig(issuer.url, AUDIENCE, f"{issuer.url}/jwks"))
        assert await accepted.identify(issuer.token(), "/mcp") is not None
        issuer.keys["ec"] = ec.generate_private_key(ec.SECP256R1())
        caller = await accepted.identify(issuer.token(kid="ec", alg="ES256"), "/mcp")
        assert caller is not None
        assert (caller.name, caller.issuer, caller.scope) == ("ada", issuer.url, None)

    asyncio.run(run())


def test_a_provider_that_cannot_be_reached_is_our_trouble_and_not_the_callers(serve: Serve) -> None:
    nowhere = {"issuer": "http://127.0.0.1:9", "audience": AUDIENCE}
    served = serve({**ECHO, "http": {"oauth": nowhere}})
    key = rsa.generate_private_key(65537, 2048)
    token = jwt.encode({"sub": "x"}, key, algorithm="RS256")
    assert status(served, token) == 503


@pytest.mark.parametrize(
    "instead",
    [
        b"what is it?\r\n\r\n",
        b"",
        b'HTTP/1.0 200 OK\r\n\r\n{"keys": null}',
        b'HTTP/1.0 200 OK\r\n\r\n{"keys": {}}',
        b"HTTP/1.0 200 OK\r\n\r\n[]",
        b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{",
    ],
)
def test_a_provider_that_says_nonsense_is_our_trouble_and_not_the_callers(
    guarded: Served, issuer: Issuer, instead: bytes
) -> None:
    issuer.instead = instead
    assert [status(guarded, issuer.token()) for _ in range(2)] == [503, 503]
    assert "Traceback" not in guarded.stderr


def test_a_single_toolbox_is_a_resource_of_its_own(serve: Serve, issuer: Issuer) -> None:
    path = "/toolboxes/dev/mcp"
    well_known = "/.well-known/oauth-protected-resource"
    asked = modern_body("tools/list"), modern_headers("tools/list")

    def statuses(served: Served, **claims: Any) -> list[int]:
        headers = {**asked[1], "Authorization": f"Bearer {issuer.token(**claims)}"}
        return [served.request("POST", each, asked[0], headers).status for each in (path, "/mcp")]

    for public, behind in (("https://tools.example.com", ""), ("https://example.com/tools", "/tools")):
        served = serve({**ECHO, "http": {"oauth": {"issuer": issuer.url, "audience": f"{public}/mcp"}}})
        challenge = served.request("POST", path, *asked).headers["WWW-Authenticate"]
        host = public.removesuffix(behind)
        assert f'resource_metadata="{host}{well_known}{behind}{path}"' in challenge
        assert served.request("GET", well_known + behind + path).json["resource"] == public + path
        assert served.request("GET", f"{well_known}{behind}/mcp").json["resource"] == f"{public}/mcp"
        assert served.request("GET", f"{well_known}/toolboxes/dev").status == 404
        # A token for all of it does for one toolbox, and one for a toolbox for that alone.
        assert statuses(served, aud=f"{public}/mcp") == [200, 200]
        assert statuses(served, aud=public + path) == [200, 401]
        assert statuses(served, aud=f"{public}/toolboxes/other/mcp") == [401, 401]
    served = serve({**ECHO, "http": {"oauth": {"issuer": issuer.url, "audience": "workbench"}}})
    own = served.url.removesuffix("/mcp")
    assert served.request("GET", well_known + path).json["resource"] == own + path
    assert statuses(served, aud=own + path) == [401, 401]


def test_tokens_of_the_configuration_are_accepted_beside(serve: Serve, issuer: Issuer) -> None:
    http = {
        "oauth": {"issuer": issuer.url, "audience": "workbench", "jwks": f"{issuer.url}/jwks"},
        "tokens": {"ci": {"token": "ci-token"}},
    }
    served = serve({**ECHO, "http": http})
    assert status(served, "ci-token") == 200
    assert status(served, issuer.token(aud="workbench")) == 200
    metadata = served.request("GET", "/.well-known/oauth-protected-resource").json
    assert metadata["resource"] == served.url


def test_a_subject_is_not_the_caller_whose_token_has_its_name(serve: Serve, issuer: Issuer) -> None:
    http = {
        "oauth": {"issuer": issuer.url, "audience": AUDIENCE, "jwks": f"{issuer.url}/jwks"},
        "tokens": {"ada": {"token": "ada-token"}},
    }
    asking = configuration(dev=toolbox(asking=child("asking")))
    served = serve({**asking, "openOnUse": True, "http": http})

    def ask(token: str, **more: Any) -> Any:
        served.headers = {"Authorization": f"Bearer {token}"}
        arguments = {"method": "elicitation/create", "params": FORM}
        params = use("dev/asking/ask", arguments, **{CAPABILITIES: {"elicitation": {}}})
        return served.modern("tools/call", {**params, **more}).message

    asked = ask("ada-token")["result"]
    again = {
        "requestState": asked["requestState"],
        "inputResponses": dict.fromkeys(asked["inputRequests"], ACCEPTED),
    }
    assert "error" in ask(issuer.token(), **again)
    assert "result" in ask("ada-token", **again)
    assert "inputRequests" in ask(issuer.token())["result"]
    log = (served.home / "log" / "ToolBox.log").read_text()
    assert {json.loads(line)["principal"] for line in log.splitlines()} == {"ada"}
