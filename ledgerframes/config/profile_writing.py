"""Adds profiles to `config.toml` and takes them out, whole or not at all; the command line calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ledgerframes.config.profiles import FILE, LONGEST_NAME, profiles_of, read_text, settings_of, settled
from ledgerframes.errors import ConfigurationError, InputError
from ledgerframes.write_aside import written_aside

NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}", re.ASCII)
PATIENCE: Final = 10.0
_HEADER: Final = re.compile(r"""\s*\[+\s*profiles\s*\.\s*(["']?)(?P<name>[\w-]+)\1\s*[.\]]""", re.ASCII)


def add_profile(
    name: str, own: Mapping[str, Any], *, folder: Path, environ: Mapping[str, str], replace: bool = False
) -> Path:
    """Write a profile; the file's other profiles and comments stay as they are.

    Args:
        name: letters, digits, `-` and `_`.
        own: its keys and values, as written in the file; checked as a connection would.
        folder: the configuration folder; made if need be, for the user alone.
        environ: the variables.
        replace: take the place of a profile of that name.

    Returns:
        The file.

    Raises:
        InputError: the name cannot be one or is taken, or there is nothing to keep.
        ConfigurationError: a value breaks a rule, or the file cannot be read or written.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"profile {name!r}: give a name of letters, digits, '-' and '_', at most {LONGEST_NAME}")
    if not own:
        raise InputError(f"profile {name!r} would be empty; give at least one address, such as --scan-url")
    settled(settings_of(own, f"profile {name!r}", folder, environ))
    written = "".join(f"{key} = {_toml(value)}\n" for key, value in own.items())

    def change(text: str, there: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        if name in there and not replace:
            raise InputError(f"profile {name!r} already exists; pass --replace to replace it")
        before, after = _without(text, name)
        changed = f"{_ended(before)}[profiles.{name}]\n{written}" + (f"\n{after}" if after else "")
        return changed, {**there, name: json.loads(json.dumps(own))}

    return _edit(folder, change)


def remove_profile(name: str, *, folder: Path) -> Path:
    """Take a profile out.

    Raises:
        InputError: there is none of that name.
        ConfigurationError: the file cannot be read or written.
    """

    def change(text: str, there: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        if name not in there:
            raise InputError(f"there is no profile {name!r}; there are: {', '.join(sorted(there)) or 'none'}")
        return "".join(_without(text, name)), {other: own for other, own in there.items() if other != name}

    return _edit(folder, change)


def _edit(folder: Path, change: Callable[[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]) -> Path:
    """Read, change and write the file, while no other process does; a link stays one, and its target is written."""
    path = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            text = read_text(path)
            there = profiles_of(text, path)
            changed, wanted = change(text, there)
            if profiles_of(changed, path) != wanted:  # such as all profiles in one line
                raise ConfigurationError(f"{path} is written in another way than this can change: do it by hand")
            with written_aside(path.resolve()) as file:
                file.write(changed.encode())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}; nothing was changed") from error
    return path


def _without(text: str, name: str) -> tuple[str, str]:
    """The text before a profile and after it; everything is before a missing one.

    Comments right before the next table are that table's.
    """
    lines = text.splitlines(keepends=True)
    owner, own = None, []
    for number, line in enumerate(lines):
        if line.lstrip().startswith("["):
            header = _HEADER.match(line)
            owner = header and header["name"]
        if owner == name:
            own.append(number)
    if not own:
        return text, ""
    begin, end = own[0], own[-1] + 1
    while end < len(lines) and re.match(r"\s*(#|$)", lines[end - 1]):
        end -= 1
    return "".join(lines[:begin]), "".join(lines[end:])


def _ended(text: str) -> str:
    """A text that a table may follow."""
    return f"{text.rstrip()}\n\n" if text.strip() else ""


def _toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # As in JSON, except for a character that only TOML forbids.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / ".config.lock", timeout=PATIENCE):
            yield
    except Timeout as error:
        raise ConfigurationError(f"another process has been changing {folder / FILE} for {PATIENCE:g} s") from error
