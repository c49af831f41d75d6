"""Where the servers are and how to talk to them: `Settings`, and `resolve`, which `connect` calls to gather them.

An argument wins over a `LEDGERFRAMES_*` variable, that over a profile, that over a default.
"""

from __future__ import annotations

import difflib
import ipaddress
import math
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, cast
from urllib.parse import SplitResult, urlsplit

from ledgerframes.errors import ConfigurationError

Interface = Literal["scan", "validator", "registry", "ledger"]
Token = str | Callable[[], str]

INTERFACES: Final[tuple[Interface, ...]] = ("scan", "validator", "registry", "ledger")
SHARED_TOKEN: Final = ("ledger_token", "validator_token")
TOKEN_WAYS: Final = ("env", "file", "command")
PREFIX: Final = "LEDGERFRAMES_"

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?", re.ASCII)
_DOT = re.compile("%2e", re.IGNORECASE)
_LONGEST_URL: Final = 2_000
_TOKEN = re.compile(r"[!-~]+", re.ASCII)


class Secret:
    """A token, or a function that returns one; it shows as `Secret(***)` and cannot be pickled."""

    __slots__ = ("_name", "_source")

    def __init__(self, source: Token, *, name: str) -> None:
        if not isinstance(source, str) and not callable(source):
            raise ConfigurationError(f"{name} is a {type(source).__name__}; give text or a function without arguments")
        self._source = source
        self._name = name
        if isinstance(source, str):
            self.reveal()

    def reveal(self) -> str:
        """The token as of now; a function is asked anew at each call.

        Raises:
            ConfigurationError: what there is cannot be a token; it is not shown.
        """
        value: object = self._source if isinstance(self._source, str) else self._source()
        if isinstance(value, str) and _TOKEN.fullmatch(value):
            return value
        what = "is empty" if value == "" else "holds a space, a line break or another character no token has"
        if not isinstance(value, str):
            what = f"is a function that returned a {type(value).__name__}, not text"
        raise ConfigurationError(f"{self._name} {what}; it is not shown here. Give the bare token, without 'Bearer '")

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled; give the other process its own LEDGERFRAMES_TOKEN variable")


class CommandToken:
    """A token that a command prints, run without a shell and kept for a minute; called at each request."""

    KEPT = 60.0
    LIMIT = 30.0

    def __init__(self, command: list[str], place: str) -> None:
        self._command = command
        self._place = place
        self._lock = threading.Lock()
        self._kept: tuple[float, str] | None = None

    def __call__(self) -> str:
        """The token, from the command or from less than a minute ago."""
        with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > self.KEPT:
                self._kept = (time.monotonic(), self._run())
            return self._kept[1]

    def _run(self) -> str:
        try:
            done = subprocess.run(  # noqa: S603 -- the command is the user's own, from their own folder
                self._command, capture_output=True, text=True, timeout=self.LIMIT, check=False
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            # the exception may hold what the command printed, so it is not chained
            reason = type(error).__name__
        else:
            if done.returncode == 0:
                return done.stdout.strip()
            reason = f"exit code {done.returncode}"
        raise ConfigurationError(f"{self._place}: {self._command[0]} gave no token ({reason}); run it by hand")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything a `Transport` needs to know; checked when made, and shown without its tokens.

    Args:
        scan_url: base URLs of the scan interface, in the order of preference; likewise the other three.
        scan_token: a token for the scan interface, text or a function; likewise the other three.
        rate: requests per second and host; loopback is never held back. `burst` may be sent at once.
        parallel: requests to one host under way at the same time.
        attempts: how often a safe request is tried in all.
        budget: seconds for one request with all its attempts and waits.
        connect_timeout: seconds for a connection to come about.
        read_timeout: seconds of silence in the middle of an answer.
        deadline: seconds for one attempt as a whole.
        max_answer_bytes: the largest answer taken, in bytes after decompression.
        ledger_carrier: the header that carries the ledger's token (contract: Authentication).

    Raises:
        ConfigurationError: a value breaks a rule; the message names it.
    """

    scan_url: tuple[str, ...] = ()
    validator_url: tuple[str, ...] = ()
    registry_url: tuple[str, ...] = ()
    ledger_url: tuple[str, ...] = ()
    scan_token: Secret | Token | None = None
    validator_token: Secret | Token | None = None
    registry_token: Secret | Token | None = None
    ledger_token: Secret | Token | None = None
    rate: float = 8.0
    burst: int = 8
    parallel: int = 4
    attempts: int = 8
    budget: float = 300.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    deadline: float = 120.0
    max_answer_bytes: int = 256 * 2**20
    ledger_carrier: Literal["bearer", "websocket"] = "bearer"

    def __post_init__(self) -> None:
        for interface in INTERFACES:
            name = f"{interface}_url"
            urls = tuple(dict.fromkeys(check_url(url, name) for url in _listed(getattr(self, name), name)))
            object.__setattr__(self, name, urls)
            secret = _secret(getattr(self, f"{interface}_token"), f"{interface}_token")
            object.__setattr__(self, f"{interface}_token", secret)
            _refuse_clear_text(interface, urls, secret)
        for field in fields(self):
            if isinstance(field.default, int | float):
                object.__setattr__(self, field.name, _number(getattr(self, field.name), field.name, field.default))
        if self.ledger_carrier not in ("bearer", "websocket"):
            raise ConfigurationError(f"ledger_carrier={self.ledger_carrier!r}; give 'bearer' or 'websocket'")

    def urls(self, interface: Interface) -> tuple[str, ...]:
        """The base URLs of an interface, in the order they were given.

        Raises:
            ConfigurationError: there is none.
        """
        found = cast("tuple[str, ...]", getattr(self, f"{interface}_url"))
        if not found:
            raise ConfigurationError(
                f"no {interface} server is known; give connect({interface}_url=...), "
                f"set {PREFIX}{interface.upper()}_URL, or name it in a profile"
            )
        return found

    def token(self, interface: Interface) -> Secret | None:
        """The token of an interface, if it has one."""
        return cast("Secret | None", getattr(self, f"{interface}_token"))


def resolve(
    *,
    profile: str | None = None,
    environ: Mapping[str, str] = os.environ,
    config_dir: str | os.PathLike[str] | None = None,
    **arguments: Any,
) -> Settings:
    """Gather settings: argument, then `LEDGERFRAMES_*` variable, then profile, then default.

    Args:
        profile: a table `[profiles.NAME]` of `config.toml`; without it, `LEDGERFRAMES_PROFILE` names one.
        environ: the variables, by name.
        config_dir: the folder of `config.toml`; without it, the user's own configuration folder.
        arguments: fields of `Settings`, with None for those not given, and `token`, which goes to the ledger
            and the validator only.

    Raises:
        ConfigurationError: a name is unknown, or a value breaks a rule.
    """
    known = (*(field.name for field in fields(Settings)), "token")
    for name in arguments:
        if name not in known:
            raise ConfigurationError(f"{name}= is no setting{_nearest(name, known)}")
    chosen = profile or environ.get(f"{PREFIX}PROFILE")
    folder = Path(config_dir) if config_dir is not None else config_folder(environ)
    variables = {name: environ.get(PREFIX + name.upper()) or None for name in known}
    layers = [
        _read_profile(chosen, folder, environ, known) if chosen else {},
        {name: _from_text(name, text) for name, text in variables.items() if text is not None},
        {name: value for name, value in arguments.items() if value is not None},
    ]
    merged: dict[str, Any] = {}
    for layer in layers:
        shared = layer.pop("token", None)
        merged |= dict.fromkeys(SHARED_TOKEN, shared) if shared is not None else {}
        merged |= layer
    return Settings(**merged)


def source_of(url: str) -> str:
    """What may be recorded of a URL: scheme, host (with its port, if one is named) and path, nothing else."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_loopback(url: str) -> bool:
    """Whether a URL points to this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_url(url: object, name: str) -> str:
    """A base URL in its one spelling: host in lower case, no trailing slash, a path prefix kept.

    Args:
        url: what the user gave.
        name: the setting, for the message.

    Raises:
        ConfigurationError: the URL breaks a rule; user info is not shown.
    """
    if not isinstance(url, str):
        raise ConfigurationError(f"{name} is a {type(url).__name__}; give a URL as text, or a list of them")
    text = url.strip()
    if "@" in re.split(r"[?#]", text)[0]:
        raise ConfigurationError(f"{name} holds user info before the host; take it out and give a token instead")
    if "?" in text or "#" in text:
        shown = re.split(r"[?#]", text)[0]
        raise ConfigurationError(f"{name}={shown!r} goes on with a query or a fragment; give the base URL alone")
    parts = _split(text, name)
    segments = set(_DOT.sub(".", parts.path).split("/"))
    if re.search(r"[\s\\]", text) or not text.isprintable() or {".", ".."} & segments:
        raise ConfigurationError(f"{name}={text!r} holds a space, a backslash or a dot segment; write it plainly")
    if len(text) > _LONGEST_URL:
        raise ConfigurationError(f"{name} has {len(text)} characters; a base URL has at most {_LONGEST_URL}")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def config_folder(environ: Mapping[str, str]) -> Path:
    """The user's own configuration folder for this package; never the working directory."""
    if sys.platform == "win32":
        base = Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        given = Path(environ.get("XDG_CONFIG_HOME") or "")
        base = given if given.is_absolute() else Path.home() / ".config"
    return base / "ledgerframes"


def _split(text: str, name: str) -> SplitResult:
    """Take a URL apart and check scheme, host and port."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        plain = bool(_HOST.fullmatch(host)) if "[" not in parts.netloc else bool(ipaddress.ip_address(host))
    except ValueError as error:
        raise ConfigurationError(f"{name}={text!r} is not a URL: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise ConfigurationError(f"{name}={text!r} does not start with http:// or https://")
    if not plain or port == 0:
        raise ConfigurationError(f"{name}={text!r} names no usable host; write for example https://HOST/api/scan")
    return parts


def _listed(value: object, name: str) -> tuple[object, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable):
        return tuple(value)
    raise ConfigurationError(f"{name} is a {type(value).__name__}; give a URL as text, or a list of them")


def _secret(value: Secret | Token | None, name: str) -> Secret | None:
    return value if value is None or isinstance(value, Secret) else Secret(value, name=name)


def _refuse_clear_text(interface: str, urls: tuple[str, ...], secret: Secret | None) -> None:
    for url in urls:
        if secret is not None and url.startswith("http://") and not is_loopback(url):
            raise ConfigurationError(
                f"{interface}_url={url!r} would carry a token unencrypted; use https, or no token for {interface}"
            )


def _number(value: object, name: str, default: float) -> float:
    """A positive number of the default's kind."""
    whole = isinstance(default, int)
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not fits or not math.isfinite(cast("float", value)) or cast("float", value) <= 0:
        raise ConfigurationError(f"{name}={value!r}; give a {'whole ' if whole else ''}number above 0, as {default}")
    return cast("float", value)


def _from_text(name: str, text: str) -> object:
    """Read a variable's text as the kind of its setting."""
    default = getattr(Settings, name, None)
    if name.endswith("_url"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if not isinstance(default, int | float):
        return text.strip() if name.endswith("token") else text
    try:
        return type(default)(text)
    except ValueError as error:
        raise ConfigurationError(f"{PREFIX}{name.upper()}={text!r} is not a number such as {default}") from error


def _read_profile(profile: str, folder: Path, environ: Mapping[str, str], known: tuple[str, ...]) -> dict[str, Any]:
    """Read one profile's table as the fields of `Settings`."""
    path = folder / "config.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"profile {profile!r}: {path} cannot be read: {error}") from error
    for key in content.keys() - {"profiles"}:
        raise ConfigurationError(f"{path}: {key!r} is no known key; profiles stand under [profiles.NAME]")
    profiles = content.get("profiles", {})
    if not isinstance(profiles, dict) or not isinstance(profiles.get(profile), dict):
        names = ", ".join(sorted(profiles) if isinstance(profiles, dict) else ()) or "none"
        raise ConfigurationError(f"{path} has no table [profiles.{profile}]; it has: {names}")
    values: dict[str, Any] = {}
    for key, value in profiles[profile].items():
        name, _, way = key.rpartition("_") if key.endswith(TOKEN_WAYS) else (key, "", "")
        place = f"profile {profile!r} in {path}"
        if key in known and key.endswith("token"):
            raise ConfigurationError(
                f"{place}: {key!r} would keep a token in the file; use {key}_env, {key}_file or {key}_command"
            )
        if name not in known or bool(way) != name.endswith("token") or name in values:
            keys = [n for n in known if not n.endswith("token")]
            keys += [f"{n}_{w}" for n in known if n.endswith("token") for w in TOKEN_WAYS]
            again = "names a token for the second time" if name in values else "is no known key"
            raise ConfigurationError(f"{place}: {key!r} {again}{_nearest(key, keys)}")
        values[name] = _token_way(way, value, f"{place}: {key}", folder, environ) if way else value
    return values


def _token_way(way: str, value: object, place: str, folder: Path, environ: Mapping[str, str]) -> Token:
    """How a profile says where its token is, as a function that fetches it."""
    if way == "command" and isinstance(value, str | list) and value:
        return CommandToken(shlex.split(value) if isinstance(value, str) else [str(part) for part in value], place)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{place} is {value!r}; give text")
    if way == "file":
        return lambda: _read_token(folder / Path(value).expanduser(), place)
    return lambda: environ.get(value) or _missing(f"{place} names the variable {value}, which is not set")


def _read_token(path: Path, place: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{place}: {path} cannot be read ({type(error).__name__})") from None


def _missing(message: str) -> NoReturn:
    raise ConfigurationError(message)


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(sorted(known))}"
