"""Columns out of a frame of any form, checked; called by every picture before it draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.arguments import whole_number
from ledgerframes.errors import InputError

Floats = npt.NDArray[np.float64]
Micros = npt.NDArray[np.int64]


def checked(frame: Any, needed: Sequence[str], *, picture: str, giver: str) -> pd.DataFrame:
    """The frame as pandas, with these columns at least; a frame without any column is an empty one.

    Args:
        frame: a pandas DataFrame, or Arrow or polars data.
        needed: the columns that the picture reads.
        picture: the public function's name, for the message.
        giver: what gives such a frame, for the message.

    Raises:
        InputError: it is not a frame, or columns are missing.
    """
    if not isinstance(frame, pd.DataFrame) and hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{picture} needs a DataFrame, not {type(frame).__name__}; {giver} gives one")
    if not len(frame.columns):
        return frame.reindex(columns=list(needed))
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns[:12])) + (", …" if len(frame.columns) > 12 else "")
        raise InputError(f"{picture} needs the column(s) {', '.join(missing)}; this frame has {there}; use {giver}")
    return frame


def floats(frame: pd.DataFrame, name: str) -> Floats:
    """An amount column as floats, which a picture can show, from `Decimal`, Arrow decimals, text or floats.

    Raises:
        InputError: a value is not a number.
    """
    cells = frame[name]
    try:
        return np.asarray(cells.astype(object).where(cells.notna(), np.nan), dtype=np.float64)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise InputError(f"column {name} holds a value that is not a number: {error}; give amounts") from error


def micros(frame: pd.DataFrame, name: str) -> tuple[Micros, npt.NDArray[np.bool_]]:
    """A time column as microseconds since 1970 in UTC, and which of them are there.

    Raises:
        InputError: a value is not a time.
    """
    try:
        times = pd.to_datetime(frame[name], utc=True, format="ISO8601").dt.as_unit("us")
    except (ValueError, TypeError) as error:
        raise InputError(f"column {name} holds a value that is not a time: {error}; give times in UTC") from error
    return times.dt.tz_localize(None).to_numpy("M8[us]").astype(np.int64), times.notna().to_numpy()


def seconds(frame: pd.DataFrame, name: str) -> Floats:
    """A column of durations as seconds; NaN where there is none.

    Raises:
        InputError: a value is not a duration.
    """
    try:
        return np.asarray(pd.to_timedelta(frame[name]).dt.total_seconds(), dtype=np.float64)
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"column {name} holds a value that is not a duration: {error}; give timedeltas") from error


def texts(frame: pd.DataFrame, name: str, *, absent: str = "unknown") -> pd.Series:
    """A text column without gaps."""
    return frame[name].astype(object).where(frame[name].notna(), absent).astype(str)


def at_least_one(value: int | None, name: str) -> None:
    """Refuse a count of categories below one.

    Raises:
        InputError: the value is not such a count.
    """
    if value is not None:
        whole_number(value, name, least=1)


def one_of(value: object, name: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not one of the choices.

    Raises:
        InputError: the value is not one of them.
    """
    if value not in choices:
        raise InputError(f"{name}={value!r} is not valid: give one of {', '.join(map(repr, choices))}")
