"""Tokens: sends requests with them, and fetches them by OAuth2 client credentials; the transport calls it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from ledgerframes.config.settings import INTERFACES, Interface, Secret, Settings, Token, check_url, origin_of
from ledgerframes.config.token_sources import CachedToken, ClientCredentials
from ledgerframes.errors import ConfigurationError, NoAnswerError, visible
from ledgerframes.stopping import Stop
from ledgerframes.transport.request import AGENT, Credential, Failure, Prepared, Received

if TYPE_CHECKING:
    from ledgerframes.transport.transport import Mask

T = TypeVar("T")
#: Makes one attempt, as `http.send_once` does, with a token or without one.
Send = Callable[..., Received | Failure]

_SECONDS: Final = 30.0
_SHOWN: Final = 200
#: Statuses that another attempt may fix, and those of a refused client.
_PASSING: Final = (429, 502, 503, 504)
_REFUSED: Final = (400, 401, 403)
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": AGENT,
}
_FORM: Final = "application/x-www-form-urlencoded"


class _Configuration(msgspec.Struct):
    token_endpoint: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_post",)


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float | str | None = None


class _Refusal(msgspec.Struct):
    error: str = ""
    error_description: str = ""


_configuration: Final = msgspec.json.Decoder(_Configuration)
_token: Final = msgspec.json.Decoder(_Token)
_refusal: Final = msgspec.json.Decoder(_Refusal)


def token_sources(settings: Settings, mask: Mask, send: Send) -> dict[Interface, Secret]:
    """Each interface's token; those of one client are fetched once for all interfaces."""
    cached: dict[int, CachedToken] = {}

    def source(token: Token) -> Token:
        if not isinstance(token, ClientCredentials):
            return token
        return cached.setdefault(id(token), CachedToken(TokenServer(token, send, mask).fetch))

    secrets = {interface: settings.token(interface) for interface in INTERFACES}
    return {interface: secret.by(source) for interface, secret in secrets.items() if secret is not None}


def authorized(
    send: Callable[[Credential], Received | Failure],
    secret: Secret,
    carrier: tuple[str, str],
    mask: Mask,
    *,
    again: bool,
) -> Received | Failure:
    """Send with a token; after a 401 it is fetched once more, and the request is repeated where that is safe.

    Args:
        send: makes an attempt.
        secret: the token.
        carrier: the header for it, and its template.
        mask: learns the token before it is sent.
        again: whether the request may be repeated.
    """

    def carried(token: Secret) -> Credential:
        mask.learn(token.reveal())
        return Credential(*carrier, token)

    try:
        token = secret.current()
        outcome = send(carried(token))
        if isinstance(outcome, Received) and outcome.status == 401:
            fresh = secret.renewed(token)
            if fresh is not None and again:
                return send(carried(fresh))
    except NoAnswerError as error:  # of the token server; another attempt may succeed
        return Failure(str(error), advice="try again later, or ask whoever runs the token server", sent=False)
    return outcome


@dataclass
class TokenServer:
    """Fetches one client's tokens; sends the secret only to a token endpoint on the issuer's own host.

    Attributes:
        credentials: the client, the server and the requested scope.
        send: sends a request.
        mask: learns the secret before it is sent.
        answered: whether it has answered before; a server that never has is probably a wrong address.
    """

    credentials: ClientCredentials
    send: Send
    mask: Mask
    answered: bool = False

    def fetch(self) -> tuple[str, float | None]:
        """Fetch a new token, and the seconds that it is valid, if the server states them.

        Raises:
            ConfigurationError: the server refuses the client, or is not a token server.
            NoAnswerError: it did not answer; another attempt may succeed.
        """
        own = self.credentials
        self.mask.learn(own.secret())  # before anything is asked: a server may repeat it
        url, basic = (own.token_url, False) if own.token_url is not None else self._discovered()
        found = self._ask(*self._request(url, basic=basic), _token.decode)
        try:
            return found.access_token, None if found.expires_in is None else float(found.expires_in)
        except ValueError:
            return found.access_token, None

    def _request(self, url: str, *, basic: bool) -> tuple[Prepared, Credential | None]:
        """The request for a token; a separate function, so that no frame of a traceback contains the secret."""
        own = self.credentials
        secret = own.secret()
        form = {"grant_type": "client_credentials", "audience": own.audience, "scope": own.scope}
        credential = None
        if basic:
            pair = base64.b64encode(f"{quote(own.client_id, safe='')}:{quote(secret, safe='')}".encode()).decode()
            self.mask.learn(pair)
            credential = Credential("Authorization", "Basic {}", Secret(pair, name=own.place))
        else:
            form |= {"client_id": own.client_id, "client_secret": secret}
        body = urlencode({name: value for name, value in form.items() if value is not None}).encode()
        return Prepared("POST", url, _HEADERS | {"Content-Type": _FORM}, body), credential

    def _discovered(self) -> tuple[str, bool]:
        """The issuer's token endpoint, and whether the secret goes into a header."""
        issuer = self.credentials.issuer or ""
        prepared = Prepared("GET", f"{issuer}/.well-known/openid-configuration", _HEADERS)
        found = self._ask(prepared, None, _configuration.decode)
        url = check_url(found.token_endpoint, f"{self.credentials.place}: the issuer's token_endpoint")
        if origin_of(url) != origin_of(issuer):
            raise ConfigurationError(
                f"{self.credentials.place}: the issuer {issuer} names a token endpoint on another host, {url}: if you "
                "trust it with the secret, give it as token_url in place of issuer"
            )
        return url, "client_secret_post" not in found.token_endpoint_auth_methods_supported

    def _ask(self, prepared: Prepared, credential: Credential | None, read: Callable[[bytes], T]) -> T:
        place, url = self.credentials.place, prepared.url
        outcome = self.send(prepared, credential, seconds=_SECONDS, stop=Stop(), extensions={"private": True})
        if isinstance(outcome, Failure):
            why = visible(self.mask.text(outcome.reason))
            problem = f"{place}: the token server {url} gave no answer: {why}"
            if outcome.final or not self.answered:
                advice = outcome.advice or "check issuer or token_url, and the network"
                raise ConfigurationError(f"{problem}; {advice}")
            raise NoAnswerError(problem)
        self.answered = True
        if outcome.status in _PASSING:
            raise NoAnswerError(
                f"{place}: the token server {url} answered {outcome.status}{self._reason(outcome.body)}"
            )
        if outcome.status != 200:
            check = "client_id, the secret, audience and scope" if outcome.status in _REFUSED else "issuer or token_url"
            raise ConfigurationError(
                f"{place}: the token server {url} answered {outcome.status}{self._reason(outcome.body)}; check {check}"
            )
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # which may quote a token
            return read(outcome.body)
        raise ConfigurationError(f"{place}: {url} did not answer like a token server")

    def _reason(self, body: bytes) -> str:
        try:
            refusal = _refusal.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""
        text = ": ".join(filter(None, (refusal.error, refusal.error_description)))
        return f" ({visible(self.mask.text(text)[:_SHOWN])})" if text else ""
