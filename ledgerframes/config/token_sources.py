"""The sources of tokens: a variable, a file, a command, a function or an identity provider; `profiles` calls it."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from ledgerframes.config.settings import check_url, is_loopback
from ledgerframes.errors import ConfigurationError

KEYS: Final = ("issuer", "token_url", "client_id", "secret_env", "secret_file", "audience", "scope")


@dataclass(frozen=True)
class ClientCredentials:
    """A client of an identity provider; the secret itself is read when a token is fetched.

    Attributes:
        place: its location, for messages.
        issuer: base URL of the provider, whose configuration names the token endpoint; None if that is given.
        token_url: the token endpoint, if given.
        client_id: which client.
        secret: reads the client's secret.
        audience: the recipient of the token.
        scope: the requested permissions.
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
            place: its location.
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
        kind = "env" if "secret_env" in own else "file"
        return cls(
            place, urls.get("issuer"), urls.get("token_url"), own["client_id"], secret(kind, own[f"secret_{kind}"]),
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


TOKEN_KINDS: Final = ("env", "file", "command", "oauth")

_LIMIT: Final = 30.0  # seconds for a command
_MARGIN: Final = 30.0  # seconds before its expiry that a token is renewed, and never more than a tenth of its life

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)


class CachedToken:
    """A token that is fetched when it is needed, and kept until shortly before it expires; called at each request.

    Args:
        fetch: returns a token, and the seconds that it is valid, if known without reading the token.
        now: seconds since 1970.
    """

    #: Seconds that a token without an expiry is kept.
    OPAQUE = 60.0

    def __init__(self, fetch: Callable[[], tuple[str, float | None]], *, now: Callable[[], float] = time.time) -> None:
        self._fetch = fetch
        self._now = now
        self._lock = threading.Lock()
        self._cached: tuple[float, str] | None = None

    def __call__(self) -> str:
        """Return the token: a new one unless the current one lasts."""
        with self._lock:
            if self._cached is None or self._now() >= self._cached[0]:
                token, seconds = self._fetch()
                now = self._now()
                expires = expiry(token) if seconds is None else now + seconds
                # An expiry that has passed is most likely a wrong clock; a token that has ended is refused by a 401.
                life = self.OPAQUE if expires is None or expires <= now else expires - now
                if not token:  # whoever asks says that it is empty
                    return token
                self._cached = (now + life - min(_MARGIN, life / 10), token)
            return self._cached[1]

    def forget(self, refused: str) -> None:
        """Fetch a new one next time, unless another thread has done so already."""
        with self._lock:
            if self._cached is not None and self._cached[1] == refused:
                self._cached = None


def claims(token: str) -> dict[str, Any]:
    """The claims in a JSON web token, unchecked; empty if it is not one."""
    try:
        payload = token.split(".")[1]
        found = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, LookupError, AttributeError, RecursionError):  # a function may return what is no text at all
        return {}
    return found if isinstance(found, dict) else {}


def expiry(token: str) -> float | None:
    """When a token expires, in seconds since 1970; None if it does not state it."""
    try:
        stated = float(claims(token)["exp"])
    except (LookupError, TypeError, ValueError, OverflowError):
        return None
    return stated if math.isfinite(stated) else None


def function_token(function: Callable[[], str]) -> CachedToken:
    """The token that a caller's function returns, kept as that of a command is."""
    return CachedToken(lambda: (function(), None))


def _printed(command: list[str], place: str) -> tuple[str, None]:
    """The token that a command prints, run without a shell; `place` is the command's location, for messages."""
    try:
        done = subprocess.run(  # noqa: S603 -- the command is the user's own, from their own folder
            command, capture_output=True, text=True, timeout=_LIMIT, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        # the exception may hold what the command printed, so it is not chained
        reason = type(error).__name__
    else:
        if done.returncode == 0:
            return done.stdout.strip(), None
        reason = f"exit code {done.returncode}"
        del done  # a traceback may show what it printed
    raise ConfigurationError(f"{place}: {command[0]} gave no token ({reason}); run it by hand")


def token_from(kind: str, value: object, place: str, folder: Path, environ: Mapping[str, str]) -> Callable[[], str]:
    """A function that fetches the token from the profile's source.

    Args:
        kind: one of `TOKEN_KINDS`.
        value: the variable's name, the file, the command as text or as a list, or a table of client credentials.
        place: its location, for messages.
        folder: the folder that relative file names refer to.
        environ: the variables.

    Raises:
        ConfigurationError: the value cannot be one; it is not shown, for it may be the token itself.
    """
    if kind == "command" and isinstance(value, str | list) and value:
        return CachedToken(partial(_printed, _words(value, place), place))
    if kind == "oauth":
        return ClientCredentials.of(
            value,
            place,
            lambda kind, name: token_from(kind, name, f"{place}: secret_{kind}", folder, environ),
        )
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{place} is a {type(value).__name__}, or empty; give text")
    if kind == "file":
        return lambda: _read_token(folder / Path(value).expanduser(), place)
    if not _VARIABLE.fullmatch(value):
        raise ConfigurationError(f"{place} is not the name of a variable; give the name, never the token itself")
    return lambda: environ.get(value) or _missing(f"{place} names the variable {value}, which is not set")


def _words(value: str | list[object], place: str) -> list[str]:
    try:
        return shlex.split(value) if isinstance(value, str) else [str(part) for part in value]
    except ValueError as error:
        raise ConfigurationError(f"{place} cannot be divided into words: {error}") from None


def _read_token(path: Path, place: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = type(error).__name__  # the error itself may hold the token
    raise ConfigurationError(f"{place}: {path} cannot be read ({reason})")


def _missing(message: str) -> NoReturn:
    raise ConfigurationError(message)
