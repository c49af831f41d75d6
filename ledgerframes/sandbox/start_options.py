"""Checks the numbers, switches and faults that a sandbox is started with; `server` and `bulk` call it."""

from __future__ import annotations

import math
import operator
from typing import Any, Final

from ledgerframes.sandbox.faults import Faults
from ledgerframes.sandbox.generator.calendar import UPDATES_PER_DAY

DEFAULT_UPDATES: Final = 2_000
LONGEST: Final = 3_650


def whole(value: Any, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number of any library's integer type.

    Raises:
        ValueError: it is not a whole number, or lies outside the bounds.
    """
    bounds = "" if least is None else f" of {least} or more" if most is None else f" from {least} to {most}"
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"{name}={value!r} is not valid: give a whole number{bounds}")
    return number


def real(value: Any, name: str, *, most: float = math.inf) -> float:
    """Read a number from 0 up to `most`.

    Raises:
        ValueError: it is not a number, or lies outside the bounds.
    """
    bounds = "of 0 or more" if most == math.inf else f"from 0 to {most:g}"
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (0 <= number <= most and math.isfinite(number)):
        raise ValueError(f"{name}={value!r} is not valid: give a number {bounds}")
    return number


def switch(value: Any, name: str) -> bool:
    """Read True or False, or numpy's.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(value, bool) and type(value).__name__ not in {"bool", "bool_"}:
        raise ValueError(f"{name}={value!r} is not valid: give True or False")
    return bool(value)


def check_days(days: Any, *, updates: int, hostile: Any) -> int:
    """Read the number of days of a history.

    Returns:
        How many updates it has.

    Raises:
        ValueError: it is not a whole number of 1 to 3,650, or goes together with an argument that it excludes.
    """
    number = whole(days, "days", least=1, most=LONGEST)
    if updates != DEFAULT_UPDATES:
        raise ValueError(f"days={number} and updates={updates} do not go together: leave one out")
    if hostile:
        raise ValueError(f"days={number} and hostile=True do not go together: leave one out")
    return number * UPDATES_PER_DAY


def check_faults(value: Any) -> None:
    """Refuse a value that is not `Faults`.

    Raises:
        ValueError: it is neither `Faults` nor None.
    """
    if value is not None and not isinstance(value, Faults):
        raise ValueError(f"faults={value!r} is not valid: give Faults(...), or text such as '429:0.1,reset:0.05'")
