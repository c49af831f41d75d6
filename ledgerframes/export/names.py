"""Names of tables and columns that are safe as files, sheets and columns anywhere; `exporting` checks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ledgerframes.errors import InputError

_LONGEST: Final = 63
_ENDING: Final = 11  # room for "_seconds" and a number
_DOT: Final = re.compile(r"(?<!\\)\.")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)
_SAFE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.ASCII | re.IGNORECASE)
SHEET_NAME: Final = 25  # Excel's limit is 31; a continued sheet ends in " (99)"
RESERVED_SHEETS: Final = ("history", "about")  # the first is Excel's own, the second ours


def check_tables(names: Iterable[str], *, sheets: bool) -> None:
    """Refuse table names that are not safe as file names or, if requested, as sheet names.

    Raises:
        InputError: a name is unsafe, or two differ in capitals only.
    """
    for name in _distinct(names, "tables"):
        if _SAFE.fullmatch(name) is None or _DEVICE.fullmatch(name):
            raise InputError(
                f"{name!r} cannot be a file's name everywhere; name the table with up to 63 letters, digits"
                " and underscores, not beginning with a digit and not a device such as con or nul"
            )
        if sheets and (len(name) > SHEET_NAME or name.lower() in RESERVED_SHEETS):
            raise InputError(
                f"{name!r} cannot be a sheet's name: give the table up to {SHEET_NAME} characters,"
                f" and none of the names {', '.join(RESERVED_SHEETS)}"
            )


def check_columns(table: str, names: Iterable[str]) -> None:
    """Refuse column names that some program reading the export could not handle.

    Raises:
        InputError: a name is unsafe, or two differ in capitals only, as many programs do not tell them apart.
    """
    for name in _distinct(names, f"columns of {table!r}"):
        if _SAFE.fullmatch(name) is None:
            raise InputError(
                f"column {name!r} of {table!r} is not safe for every reader; rename it to up to 63 letters, digits"
                " and underscores, not beginning with a digit"
            )


def safe_columns(names: Sequence[str]) -> dict[str, str]:
    """The names in an export of columns that are paths of members, such as `amount.initialAmount`: without dots.

    A path that is too long loses its first steps; equal names are numbered. Other names stay as they are.
    """
    safe: dict[str, str] = {name: name for name in names if "." not in name}
    taken = {name.lower() for name in safe.values()}
    for name in names:
        if name in safe:
            continue
        steps = [_UNSAFE.sub("_", step) for step in _DOT.split(name)]
        while len(steps) > 1 and len("_".join(steps)) > _LONGEST - _ENDING:
            del steps[0]
        plain = "_".join(steps)[: _LONGEST - _ENDING]
        plain = plain if plain[:1].isalpha() else f"_{plain}"
        candidates = (plain, *(f"{plain}_{number}" for number in range(2, 100)))
        safe[name] = next((one for one in candidates if one.lower() not in taken), name)
        taken.add(safe[name].lower())
    return safe


def _distinct(names: Iterable[str], what: str) -> list[str]:
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{name!r} is not a name; {what} are named by text")
        if (folded := name.lower()) in seen:
            raise InputError(f"{what}: {seen[folded]!r} and {name!r} are one name to many readers; rename one of them")
        seen[folded] = name
    return list(seen.values())
