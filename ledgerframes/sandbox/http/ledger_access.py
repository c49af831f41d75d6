"""The ledger interface's callers: the user behind a token, what it may see, and how it is refused.

A sandbox's tokens are JWTs signed with HS256 by a key that only this sandbox has.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct
from starlette.responses import Response

from ledgerframes.sandbox.commands.errors import LedgerError
from ledgerframes.sandbox.commands.event_filters import EventFormat, Selection, TransactionFormat, everything, selection
from ledgerframes.sandbox.http.responses import RefusalError, encode
from ledgerframes.sandbox.world.parties import User

AUDIENCE: Final = "https://sandbox.example/participant"
DAY: Final = 86_400.0

_HEADER: Final = {"alg": "HS256", "typ": "JWT"}


class TokenError(Exception):
    """A token that is not valid or has expired."""


@dataclass(frozen=True, slots=True)
class Issuer:
    """Issues tokens and checks them.

    Attributes:
        key: signs; never shown.
        clock: seconds since 1970.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    clock: Callable[[], float] = time.time

    def issue(self, user_id: str, *, lifetime: float = DAY) -> str:
        """A token of that user, valid from now for `lifetime` seconds."""
        now = int(self.clock())
        claims = {"sub": user_id, "aud": AUDIENCE, "iat": now, "exp": now + int(lifetime)}
        signed = f"{_encoded(_HEADER)}.{_encoded(claims)}"
        return f"{signed}.{_base64(self._sign(signed))}"

    def user_id(self, token: str) -> str:
        """The user that a token was issued to.

        Raises:
            TokenError: it is malformed, of another issuer or audience, or has expired.
        """
        signed, _, signature = token.rpartition(".")
        header, _, claims = signed.partition(".")
        # Compared in constant time and before anything of the token is decoded.
        if not hmac.compare_digest(_base64(self._sign(signed)).encode(), signature.encode(errors="replace")):
            raise TokenError("the signature is not this issuer's")
        members = _decoded(claims)
        if _decoded(header).get("alg") != "HS256" or members.get("aud") != AUDIENCE:
            raise TokenError("the token is for something else")
        if members["exp"] <= self.clock():
            raise TokenError("the token has expired")
        subject: str = members["sub"]
        return subject

    def _sign(self, text: str) -> bytes:
        return hmac.new(self.key, text.encode(errors="replace"), hashlib.sha256).digest()


def _encoded(members: dict[str, Any]) -> str:
    return _base64(json.dumps(members, separators=(",", ":")).encode())


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decoded(part: str) -> dict[str, Any]:
    """The members of a part whose signature is ours, so that its form is too."""
    members: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return members


class UpdateFormat(Struct, rename="camel"):
    """The requested kinds of updates, and their events."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None


def check_manager(user: User) -> None:
    """Refuse a caller who does not manage the participant.

    Raises:
        LedgerError: 403.
    """
    if not user.is_admin():
        raise forbidden(f"user {user.id!r} does not manage the participant")


def allowed(user: User, wanted: EventFormat | None, *, otherwise: Selection | None = None) -> Selection:
    """The requested parties, if the user may read as them; by default all that the user may read as.

    Raises:
        LedgerError: it is asked for more than the user may read (403).
    """
    if wanted is not None:
        chosen = selection(wanted)
    elif otherwise is not None:
        chosen = otherwise
    else:
        chosen = everything(user.readable(), anyone=user.reads_everything())
    if user.reads_everything():
        return chosen
    strange = chosen.by_party.keys() - user.readable()
    if strange or chosen.anyone is not None or not chosen.by_party:
        raise forbidden(f"user {user.id!r} may not read as {sorted(strange) or 'any party'}")
    return chosen


PARTICIPANT: Final = "participant1"

logger = logging.getLogger("ledgerframes.sandbox")


def denied(error: RefusalError) -> LedgerError:
    """A caller who is refused; only the server's log has the reason, under the correlation id."""
    return LedgerError(
        "NA",
        # Real participants redact these errors, so that the ids are all a caller gets.
        "A security-sensitive error: ask the participant's operator about the correlation id and the trace id",
        kind=(-1, 16 if error.status == 401 else 7, error.status),
        hidden=str(error),
    )


def forbidden(cause: str) -> LedgerError:
    """A caller who is known and may not do this."""
    return denied(RefusalError(403, cause))


def ledger_refused(error: LedgerError) -> Response:
    """Answer with the JSON error body."""
    category, grpc_code, status = error.kind
    trace, correlation = secrets.token_hex(16), secrets.token_hex(16)
    if error.hidden:
        logger.info("denied (%d) under correlation id %s: %s", status, correlation, error.hidden)
    context = {"participant": PARTICIPANT, "category": str(category), "definite_answer": "false", "tid": trace}
    context |= error.context
    body = {
        "code": error.code,
        "cause": str(error),
        "correlationId": correlation,
        "traceId": trace,
        # `participant` and `category` would reveal the redacted cause.
        "context": {} if error.hidden else context,
        "resources": [] if error.resource is None else [error.resource],
        "errorCategory": category,
        "grpcCodeValue": grpc_code,
        "retryInfo": error.retry or None,
        "definiteAnswer": None if error.hidden else False,
    }
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Response(encode(body), status, headers=headers, media_type="application/json")


WEBSOCKET_PREFIX: Final = "jwt.token."


@dataclass(frozen=True, slots=True)
class Access:
    """Lets users with a valid token in.

    Attributes:
        accounts: the known users, by id.
        issuer: whose tokens count.
        nobody: the user for requests without a valid token; if empty, such requests are refused.
    """

    accounts: Mapping[str, User]
    issuer: Issuer
    nobody: str = ""

    def user(self, headers: Mapping[str, str], *, websocket: bool = False) -> User:
        """The user a request comes from.

        Args:
            headers: its headers, by name in any case.
            websocket: a token in the header `Sec-WebSocket-Protocol` counts too.

        Raises:
            RefusalError: no valid token (401), or one of a user who is unknown or deactivated (403).
        """
        user_id = self._user_id(_bearer(headers) or (_protocol(headers) if websocket else ""))
        user = self.accounts.get(user_id)
        if user is None:
            # 403 and not 401: the token is valid, another one of the same user would not help.
            raise RefusalError(403, f"the token's user {user_id!r} does not exist")
        if user.deactivated:
            raise RefusalError(403, f"the token's user {user_id!r} is deactivated")
        return user

    def _user_id(self, token: str) -> str:
        """The user of the token, or `nobody`."""
        try:
            return self.issuer.user_id(token)
        except TokenError as error:
            if self.nobody:
                return self.nobody
            raise RefusalError(401, str(error) if token else "a bearer token is needed") from error


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _protocol(headers: Mapping[str, str]) -> str:
    offered = (protocol.strip() for protocol in headers.get("Sec-WebSocket-Protocol", "").split(","))
    return next(
        (protocol.removeprefix(WEBSOCKET_PREFIX) for protocol in offered if protocol.startswith(WEBSOCKET_PREFIX)), ""
    )
