"""Profiles of `config.toml`, and `resolve`: an argument wins over a `LEDGERFRAMES_*` variable, that over a profile."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from ledgerframes.arguments import did_you_mean
from ledgerframes.config.settings import PREFIX, Secret, Settings
from ledgerframes.config.token_sources import TOKEN_KINDS, ClientCredentials, function_token, token_from
from ledgerframes.errors import ConfigurationError

FILE: Final = "config.toml"
#: Characters of a profile's name.
LONGEST_NAME: Final = 64
_LONGEST_SHOWN: Final = 24
KNOWN: Final = (*(field.name for field in fields(Settings)), "token")
#: The keys of a profile: every setting, and for a token where to fetch it.
KEYS: Final = (
    *(name for name in KNOWN if not name.endswith("token")),
    *(f"{name}_{kind}" for name in KNOWN if name.endswith("token") for kind in TOKEN_KINDS),
)


def config_folder(environ: Mapping[str, str]) -> Path:
    """The user's own configuration folder for this package; never the working directory.

    Raises:
        ConfigurationError: the user has no home, as in some containers.
    """
    try:
        if sys.platform == "win32":
            base = Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        else:
            configured = Path(environ.get("XDG_CONFIG_HOME") or "")
            base = configured if configured.is_absolute() else Path.home() / ".config"
    except RuntimeError as error:
        raise ConfigurationError("this user has no home folder to keep profiles in; set HOME") from error
    return base / "ledgerframes"


def profiles_of(text: str, path: Path) -> dict[str, dict[str, Any]]:
    """Every profile's keys and values as written in the text of a `config.toml`.

    Raises:
        ConfigurationError: the text is not valid TOML, or holds something else than profiles.
    """
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}; fix that line by hand") from error
    for key in content.keys() - {"profiles"}:
        raise ConfigurationError(f"{path}: {key!r} is not a known key; profiles stand under [profiles.NAME]")
    profiles = content.get("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(own, dict) for own in profiles.values()):
        raise ConfigurationError(f"{path}: profiles stand under [profiles.NAME], each with its own keys")
    return profiles


def read_text(path: Path) -> str:
    """The text of a `config.toml`; empty if there is none.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a mark
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error


def read_profile(profile: str, folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """One profile as fields of `Settings`, and `token`; tokens are functions that fetch them.

    Raises:
        ConfigurationError: there is no such profile, or a key of it is wrong.
    """
    path = folder / FILE
    profiles = profiles_of(read_text(path), path)
    if profile not in profiles:
        names = ", ".join(sorted(profiles)) or "none"
        if may_be_token(profile):
            raise ConfigurationError(
                f"{path} has no profile of the given name, not shown here, since it may be a token: a token"
                f" goes into token=; the file has: {names}"
            )
        remedy = did_you_mean(profile, profiles) or f"; `ledgerframes profile add {profile}` makes it"
        raise ConfigurationError(f"{path} has no table [profiles.{profile}]; it has: {names}{remedy}")
    return settings_of(profiles[profile], f"profile {profile!r} in {path}", folder, environ)


def may_be_token(text: str) -> bool:
    """Whether what should be a name or an address may be a token, which no message shows."""
    return text.startswith("eyJ") or any(len(part) > _LONGEST_SHOWN for part in re.split(r"[/.@?#]", text))


def settings_of(own: Mapping[str, Any], place: str, folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """A profile's keys as fields of `Settings`, and `token`.

    Args:
        own: keys and values.
        place: their location, for messages.
        folder: the folder that relative names of token files and of `ca_file` refer to.
        environ: the variables.

    Raises:
        ConfigurationError: a key is unknown, names a token for the second time, or would keep a token.
    """
    values: dict[str, Any] = {}
    for key, value in own.items():
        of_token = key.endswith(TOKEN_KINDS) and key not in KNOWN
        name, _, kind = key.rpartition("_") if of_token else (key, "", "")
        if key in KNOWN and key.endswith("token"):
            others = ", ".join(f"{key}_{kind}" for kind in TOKEN_KINDS)
            raise ConfigurationError(f"{place}: {key!r} would keep a token in the file; use one of {others}")
        if name not in KNOWN or bool(kind) != name.endswith("token") or name in values:
            again = "names a token for the second time; keep one of them"
            unknown = f"is not a known key{nearest(key, KEYS)}"
            raise ConfigurationError(f"{place}: {key!r} {again if name in values else unknown}")
        if name == "ca_file" and isinstance(value, str) and value:
            value = str(folder / Path(value).expanduser())  # as the names of token files are  # noqa: PLW2901
        values[name] = token_from(kind, value, f"{place}: {key}", folder, environ) if kind else value
    return values


def nearest(name: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, to end a message."""
    return did_you_mean(name, known) or f"; known are {', '.join(sorted(known))}"


SHARED_TOKEN: Final = ("ledger_token", "validator_token")
_SWITCHES: Final = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)


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
        arguments: fields of `Settings`, with None for those not given, and `token` or `token_oauth`, which
            go to the ledger and the validator only.

    Raises:
        ConfigurationError: a name is unknown, or a value breaks a rule.
    """
    oauth = arguments.pop("token_oauth", None)
    if oauth is not None:
        if arguments.get("token") is not None:
            raise ConfigurationError("token= and token_oauth= both say where the token comes from; give one of them")
        arguments["token"] = token_from("oauth", oauth, "token_oauth", Path.cwd(), environ)
    for name in arguments:
        if name not in KNOWN:
            raise ConfigurationError(f"{name}= is not a setting{nearest(name, KNOWN)}")
    chosen = profile or environ.get(f"{PREFIX}PROFILE")
    variables = {name: environ.get(PREFIX + name.upper()) or None for name in KNOWN}
    layers = [
        read_profile(chosen, Path(config_dir or config_folder(environ)), environ) if chosen else {},
        {name: from_text(name, text, PREFIX + name.upper()) for name, text in variables.items() if text is not None},
        {name: _cached(name, value) for name, value in arguments.items() if value is not None},
    ]
    return settled(*layers)


def _cached(name: str, value: Any) -> Any:
    """Cache a token that a function returns; anything with its own cache, or without a function, is unchanged."""
    keeps = hasattr(value, "forget") or isinstance(value, ClientCredentials)
    return function_token(value) if name.endswith("token") and callable(value) and not keeps else value


def settled(*layers: dict[str, Any]) -> Settings:
    """Settings in which later layers win over earlier ones; `token` goes to ledger and validator.

    Raises:
        ConfigurationError: a value breaks a rule.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        shared = layer.pop("token", None)
        if shared is not None:
            secret = shared if isinstance(shared, Secret) else Secret(shared, name="token")
            merged |= dict.fromkeys(SHARED_TOKEN, secret)
        merged |= layer
    return Settings(**merged)


def from_text(name: str, text: str, source: str) -> object:
    """Read a text as the kind of its setting; `source` names it in messages.

    Raises:
        ConfigurationError: the setting is a number or a switch, and the text is not.
    """
    default = getattr(Settings, name, None)
    if name.endswith("_url"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(default, bool):
        word = text.strip().lower()
        if word not in _SWITCHES:
            raise ConfigurationError(f"{source}={text!r} is not valid: give true or false")
        return _SWITCHES[word]
    if not isinstance(default, int | float):
        return text.strip() if name.endswith("token") else text
    try:
        return type(default)(text)
    except ValueError as error:
        raise ConfigurationError(f"{source}={text!r} is not a number such as {default}") from error
