"""JWTs, and a token endpoint with OAuth2 client credentials on loopback, which hands out a sandbox's own tokens."""

from __future__ import annotations

import base64
import json
from urllib.parse import parse_qsl, unquote

from ledgerframes.sandbox.server import Sandbox
from tests.transport.hostile_server import Heard, HostileServer, Reply, answer, text


def jwt(**claims: object) -> str:
    """A token with these claims; nobody checks its signature."""
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{body}.c2lnbmF0dXJl"


class TokenServer(HostileServer):
    """An identity provider for one client, `analyst`, which gets the tokens of the validator's operator.

    Attributes:
        secret: the client's secret.
        asked: the form of every request so far, without the secret.
    """

    secret = "correct horse"

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(self._answer)
        self._sandbox = sandbox
        self.asked: list[dict[str, str]] = []

    @property
    def issuer(self) -> str:
        """The issuer's URL, below which its configuration lies."""
        return f"{self.url}/realm"

    def _answer(self, heard: Heard) -> Reply:
        if heard.path == "/realm/.well-known/openid-configuration":
            issuer = f"http://{heard.headers['host']}/realm"  # by the name it is asked under, as Keycloak answers
            return answer({"issuer": issuer, "token_endpoint": f"{issuer}/token"})
        if (heard.method, heard.path) != ("POST", "/realm/token"):
            return text("", 404)
        form = dict(parse_qsl(heard.body.decode()))
        scheme, _, credentials = heard.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            client, _, secret = base64.b64decode(credentials).decode().partition(":")
            form |= {"client_id": unquote(client), "client_secret": unquote(secret)}
        secret = form.pop("client_secret", "")
        self.asked.append(form)
        if form.get("grant_type") != "client_credentials":
            return answer({"error": "unsupported_grant_type"}, 400)
        if (form.get("client_id"), secret) != ("analyst", self.secret):
            return answer({"error": "invalid_client"}, 401)
        token = self._sandbox.token("validator_operator", lifetime=300.0)
        return answer({"access_token": token, "token_type": "Bearer", "expires_in": 300})
