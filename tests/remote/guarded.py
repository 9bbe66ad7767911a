"""A remote server behind OAuth, with its authorization server at the same place; refresh tokens rotate."""

from __future__ import annotations

import base64
import itertools
import threading
from urllib.parse import urlencode

from .place import Exchange
from .remote import Call, Remote, reply, text

SECRET = "the-client-secret"


class Guarded(Remote):
    """`valid` holds the access tokens that are good, `refreshes` those for one refresh each."""

    def __init__(self, *, modern: bool = True) -> None:
        super().__init__(lambda exchange: reply(exchange, text("let in")), modern=modern)
        self._inside, self.respond = self.respond, self._guard
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self.valid: set[str] = set()
        self.refreshes: set[str] = set()
        self.grants: list[str] = []
        """The kinds of the token requests that were granted, in order."""
        self.scopes: list[str | None] = []
        self.lifetime = 3600
        self.metadata_at = ""
        """Where the metadata are said to be, if not here."""
        self.refuse_refresh: Call | None = None
        """Answers a refresh in place of a grant."""

    def revoke(self) -> None:
        """The access tokens; what can be refreshed, still can."""
        self.valid.clear()

    def _guard(self, exchange: Exchange) -> None:
        base = self.url("")
        match exchange.path:
            case "/.well-known/oauth-protected-resource/mcp":
                exchange.json({"resource": self.url(), "authorization_servers": [base]})
            case "/.well-known/oauth-authorization-server":
                exchange.json(
                    {
                        "issuer": base,
                        "authorization_endpoint": f"{base}/authorize",
                        "token_endpoint": f"{base}/elsewhere/token",
                        "registration_endpoint": f"{base}/register",
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                    }
                )
            case "/register":
                exchange.json({**exchange.message, "client_id": f"client-{next(self._numbers)}"}, 201)
            case "/authorize":
                self.scopes.append(exchange.form.get("scope"))
                back = urlencode({"code": "the-code", "state": exchange.form["state"]})
                exchange.answer(302, location=f"{exchange.form['redirect_uri']}?{back}")
            case "/elsewhere/token":
                self._grant(exchange)
            case _ if exchange.headers.get("authorization", "").removeprefix("Bearer ") in self.valid:
                self._inside(exchange)
            case _:
                where = self.metadata_at or f"{base}/.well-known/oauth-protected-resource/mcp"
                exchange.answer(401, www_authenticate=f'Bearer resource_metadata="{where}"')

    def _grant(self, exchange: Exchange) -> None:
        form = exchange.form
        kind = form["grant_type"]
        if kind == "refresh_token" and self.refuse_refresh is not None:
            self.refuse_refresh(exchange)
            return
        with self._lock:
            good = {
                "authorization_code": form.get("code") == "the-code" and "code_verifier" in form,
                "refresh_token": form.get("refresh_token") in self.refreshes,
                "client_credentials": exchange.headers.get("authorization") == _basic("robot", SECRET),
            }[kind]
            if not good:
                exchange.json({"error": "invalid_grant"}, 400)
                return
            self.refreshes.discard(form.get("refresh_token", ""))
            if kind == "client_credentials":
                self.scopes.append(form.get("scope"))
            number = next(self._numbers)
            token = {"access_token": f"access-{number}", "token_type": "Bearer", "expires_in": self.lifetime}
            self.valid.add(f"access-{number}")
            if kind != "client_credentials":
                self.refreshes.add(f"refresh-{number}")
                token["refresh_token"] = f"refresh-{number}"
            self.grants.append(kind)
        exchange.json(token)


def _basic(name: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()
