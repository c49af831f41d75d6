"""Reads `config.toml`: its folder, its profiles, and one profile as fields of `Settings`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from ledgerframes.arguments import did_you_mean
from ledgerframes.config.settings import Settings
from ledgerframes.config.token_sources import TOKEN_KINDS, token_from
from ledgerframes.errors import ConfigurationError

FILE: Final = "config.toml"
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
        return _base(environ) / "ledgerframes"
    except RuntimeError as error:
        raise ConfigurationError("this user has no home folder to keep profiles in; set HOME") from error


def _base(environ: Mapping[str, str]) -> Path:
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    configured = Path(environ.get("XDG_CONFIG_HOME") or "")
    return configured if configured.is_absolute() else Path.home() / ".config"


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
        return path.read_text(encoding="utf-8")
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
        remedy = did_you_mean(profile, profiles).removeprefix("; ") or f"`ledgerframes profile add {profile}` makes it"
        raise ConfigurationError(f"{path} has no table [profiles.{profile}]; it has: {names}. {remedy}")
    return settings_of(profiles[profile], f"profile {profile!r} in {path}", folder, environ)


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
            again = "names a token for the second time" if name in values else "is not a known key"
            raise ConfigurationError(f"{place}: {key!r} {again}{nearest(key, KEYS)}")
        if name == "ca_file" and isinstance(value, str) and value:
            value = str(folder / Path(value).expanduser())  # as the names of token files are  # noqa: PLW2901
        values[name] = token_from(kind, value, f"{place}: {key}", folder, environ) if kind else value
    return values


def nearest(name: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, to end a message."""
    return did_you_mean(name, known) or f"; known are {', '.join(sorted(known))}"
