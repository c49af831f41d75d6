"""`resolve` gathers settings: an argument wins over a `LEDGERFRAMES_*` variable, that over a profile and a default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ledgerframes.config.profiles import KNOWN, config_folder, nearest, read_profile
from ledgerframes.config.settings import PREFIX, Settings
from ledgerframes.config.token_sources import ClientCredentials, function_token, token_from
from ledgerframes.errors import ConfigurationError

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
        merged |= dict.fromkeys(SHARED_TOKEN, shared) if shared is not None else {}
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
        return _switch(text, source)
    if not isinstance(default, int | float):
        return text.strip() if name.endswith("token") else text
    try:
        return type(default)(text)
    except ValueError as error:
        raise ConfigurationError(f"{source}={text!r} is not a number such as {default}") from error


def _switch(text: str, source: str) -> bool:
    word = text.strip().lower()
    if word not in _SWITCHES:
        raise ConfigurationError(f"{source}={text!r} is not valid: give true or false")
    return _SWITCHES[word]
