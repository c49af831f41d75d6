"""The caller of a request: the user behind its token, or why there is none; ledger's and validator's routes use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledgerframes.sandbox.world.accounts import User
from ledgerframes.sandbox.world.tokens import Issuer, TokenError

WEBSOCKET_PREFIX: Final = "jwt.token."


class AccessError(Exception):
    """A caller who is refused.

    Attributes:
        status: 401 if the caller is unknown, 403 otherwise.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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
            AccessError: no valid token (401), or one of a user who is unknown or deactivated (403).
        """
        user_id = self._user_id(_bearer(headers) or (_protocol(headers) if websocket else ""))
        user = self.accounts.get(user_id)
        if user is None:
            # 403 and not 401: the token is valid, another one of the same user would not help.
            raise AccessError(403, f"the token's user {user_id!r} does not exist")
        if user.deactivated:
            raise AccessError(403, f"the token's user {user_id!r} is deactivated")
        return user

    def _user_id(self, token: str) -> str:
        """The user of the token, or `nobody`."""
        try:
            return self.issuer.user_id(token)
        except TokenError as error:
            if self.nobody:
                return self.nobody
            raise AccessError(401, str(error) if token else "a bearer token is needed") from error


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _protocol(headers: Mapping[str, str]) -> str:
    offered = (protocol.strip() for protocol in headers.get("Sec-WebSocket-Protocol", "").split(","))
    return next(
        (protocol.removeprefix(WEBSOCKET_PREFIX) for protocol in offered if protocol.startswith(WEBSOCKET_PREFIX)), ""
    )
