"""Where a profile's token comes from: a variable, a file or a command; `profiles` makes functions of them."""

from __future__ import annotations

import re
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from ledgerframes.config.settings import Token
from ledgerframes.errors import ConfigurationError

TOKEN_WAYS: Final = ("env", "file", "command")

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)


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


def token_way(way: str, value: object, place: str, folder: Path, environ: Mapping[str, str]) -> Token:
    """A function that fetches the token from where the profile points.

    Args:
        way: one of `TOKEN_WAYS`.
        value: the variable's name, the file, or the command as text or as a list.
        place: where that stands, for messages.
        folder: what a file's name is relative to.
        environ: the variables.

    Raises:
        ConfigurationError: the value cannot be one; it is not shown, for it may be the token itself.
    """
    if way == "command" and isinstance(value, str | list) and value:
        return CommandToken(_words(value, place), place)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{place} is a {type(value).__name__}, or empty; give text")
    if way == "file":
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
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{place}: {path} cannot be read ({type(error).__name__})") from None


def _missing(message: str) -> NoReturn:
    raise ConfigurationError(message)
