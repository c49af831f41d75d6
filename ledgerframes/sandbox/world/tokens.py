"""The tokens a sandbox issues and checks: JWTs signed with HS256 by a key that only this sandbox has."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

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
