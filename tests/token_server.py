"""A token endpoint with OAuth2 client credentials on a loopback port, which hands out a sandbox's own tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ledgerframes.sandbox.server import Sandbox
from ledgerframes.sandbox.serving import Served, serve


@dataclass
class TokenServer:
    """An identity provider for one client; a context manager.

    Attributes:
        sandbox: issues the tokens.
        user: whose tokens they are.
        lifetime: seconds until a token expires.
        secret: the client's secret; its id is `analyst`.
        asked: the form of every request so far, without the secret.
    """

    sandbox: Sandbox
    user: str = "validator_operator"
    lifetime: float = 300.0
    secret: str = "correct horse"
    asked: list[dict[str, str]] = field(default_factory=list)

    def __enter__(self) -> TokenServer:
        routes = [
            Route("/realm/.well-known/openid-configuration", self._configuration, methods=["GET"]),
            Route("/realm/token", self._token, methods=["POST"]),
        ]
        self._served: Served = serve(Starlette(routes=routes))
        return self

    def __exit__(self, *_: object) -> None:
        self._served.stop()

    @property
    def issuer(self) -> str:
        """The issuer's URL, below which its configuration lies."""
        return f"{self._served.url}/realm"

    async def _configuration(self, request: Request) -> Response:
        issuer = f"http://{request.headers['host']}/realm"  # by the name it is asked under, as Keycloak answers
        return JSONResponse({"issuer": issuer, "token_endpoint": f"{issuer}/token"})

    async def _token(self, request: Request) -> Response:
        import base64
        from urllib.parse import parse_qsl, unquote

        form = dict(parse_qsl((await request.body()).decode()))
        scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            client, _, secret = base64.b64decode(credentials).decode().partition(":")
            form |= {"client_id": unquote(client), "client_secret": unquote(secret)}
        secret = form.pop("client_secret", "")
        self.asked.append(form)
        if form.get("grant_type") != "client_credentials":
            return JSONResponse({"error": "unsupported_grant_type"}, 400)
        if (form.get("client_id"), secret) != ("analyst", self.secret):
            return JSONResponse({"error": "invalid_client"}, 401)
        token = self.sandbox.token(self.user, lifetime=self.lifetime)
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": int(self.lifetime)})
