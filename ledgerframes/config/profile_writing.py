"""Adds profiles to `config.toml` and takes them out, whole or not at all; the command line calls it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.config.profiles import FILE, profiles_of, read_text, settings_of
from ledgerframes.config.resolving import settled
from ledgerframes.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
PATIENCE: Final = 10.0


def add_profile(
    name: str, own: Mapping[str, Any], *, folder: Path, environ: Mapping[str, str], replace: bool = False
) -> Path:
    """Write a profile; the file's other profiles and comments stay as they are.

    Args:
        name: letters, digits, `-` and `_`.
        own: its keys and values, as they will stand in the file; checked as a connection would.
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
        raise InputError(f"profile {name!r}: give a name of letters, digits, '-' and '_', at most 64")
    if not own:
        raise InputError(f"profile {name!r} would be empty; give at least one address, such as --scan-url")
    settled(settings_of(own, f"profile {name!r}", folder, environ))

    def change(document: TOMLDocument, there: Mapping[str, Any]) -> None:
        import tomlkit

        if name in there and not replace:
            raise InputError(f"profile {name!r} already exists; pass --replace to replace it")
        if "profiles" not in document:
            document["profiles"] = tomlkit.table(is_super_table=True)
        table = tomlkit.table()
        table.update(own)
        document["profiles"][name] = table

    return _edit(folder, change)


def remove_profile(name: str, *, folder: Path) -> Path:
    """Take a profile out.

    Raises:
        InputError: there is none of that name.
        ConfigurationError: the file cannot be read or written.
    """

    def change(document: TOMLDocument, there: Mapping[str, Any]) -> None:
        if name not in there:
            raise InputError(f"there is no profile {name!r}; there are: {', '.join(sorted(there)) or 'none'}")
        del document["profiles"][name]

    return _edit(folder, change)


def _edit(folder: Path, change: Callable[[TOMLDocument, Mapping[str, Any]], None]) -> Path:
    """Read, change and write the file, while no other process does; a link stays one, what it points to is written."""
    import tomlkit

    path = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            text = read_text(path)
            there = profiles_of(text, path)
            document = tomlkit.parse(text)
            change(document, there)
            changed = tomlkit.dumps(document)
            profiles_of(changed, path)
            _write(path.resolve(), changed)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error}; nothing was changed") from error
    return path


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / ".config.lock", timeout=PATIENCE):
            yield
    except Timeout as error:
        raise ConfigurationError(f"another process has been changing {folder / FILE} for {PATIENCE:g} s") from error


def _write(path: Path, text: str) -> None:
    """Put a file in place in one step, readable by the user alone."""
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # made with rights 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
