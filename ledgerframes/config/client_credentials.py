"""What `token_oauth` says: OAuth2 client credentials, checked; the transport fetches tokens by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from ledgerframes.config.settings import check_url, is_loopback
from ledgerframes.errors import ConfigurationError

KEYS: Final = ("issuer", "token_url", "client_id", "secret_env", "secret_file", "audience", "scope")


@dataclass(frozen=True)
class ClientCredentials:
    """A client of an identity provider; the secret itself is read when a token is fetched.

    Attributes:
        place: where this stands, for messages.
        issuer: base URL of the provider, whose configuration names the token endpoint; None where that is given.
        token_url: the token endpoint, where it is given.
        client_id: which client.
        secret: reads the client's secret.
        audience: whom the token is for.
        scope: what it is to allow.
    """

    place: str
    issuer: str | None
    token_url: str | None
    client_id: str
    secret: Callable[[], str] = field(repr=False)
    audience: str | None = None
    scope: str | None = None

    @classmethod
    def of(cls, value: object, place: str, secret: Callable[[str, str], Callable[[], str]]) -> ClientCredentials:
        """Read a table of a profile, or a mapping given to `connect`.

        Args:
            value: the table.
            place: where it stands.
            secret: makes the function that reads the secret, from "env" or "file" and the name.

        Raises:
            ConfigurationError: a key or a value breaks a rule; no value is shown that may be the secret.
        """
        if not isinstance(value, Mapping) or not all(isinstance(text, str) and text for text in value.values()):
            raise ConfigurationError(f"{place} takes {', '.join(KEYS)}, each as text")
        own: dict[str, Any] = dict(value)
        for key in own.keys() - set(KEYS):
            raise ConfigurationError(f"{place}: {key!r} is not a known key; known are {', '.join(KEYS)}")
        for one, other in (("issuer", "token_url"), ("secret_env", "secret_file")):
            if (one in own) == (other in own):
                raise ConfigurationError(f"{place}: give {one} or {other}, and not both")
        if "client_id" not in own:
            raise ConfigurationError(f"{place}: client_id is missing")
        urls = {name: check_url(own[name], f"{place}: {name}") for name in ("issuer", "token_url") if name in own}
        way = "env" if "secret_env" in own else "file"
        return cls(
            place, urls.get("issuer"), urls.get("token_url"), own["client_id"], secret(way, own[f"secret_{way}"]),
            own.get("audience"), own.get("scope"),
        )  # fmt: skip

    @property
    def unencrypted(self) -> tuple[str, str] | None:
        """The setting and URL by which the secret and the tokens would travel in clear text."""
        name, url = ("issuer", self.issuer) if self.token_url is None else ("token_url", self.token_url)
        clear = url is not None and url.startswith("http://") and not is_loopback(url)
        return (f"{self.place}: {name}", url or "") if clear else None

    def __call__(self) -> NoReturn:
        """A token comes from a connection only.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(f"{self.place}: a token is fetched by a connection; call connect()")
