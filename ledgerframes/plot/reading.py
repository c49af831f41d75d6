"""The input of a chart: its frame, taken from a history or a lake if one is given, and checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.loaders.history import History
from ledgerframes.plot.contents import Floats, Micros


def part(name: str) -> Callable[[Any], pd.DataFrame]:
    """Takes a table out of a History or a Store, such as its updates."""

    def taken(source: Any) -> pd.DataFrame:
        rows: pd.DataFrame = getattr(source, name) if isinstance(source, History) else source.load(name)
        return rows

    return taken


@dataclass(frozen=True)
class ChartInput:
    """The input from the caller of a chart, and how its frame is computed from it.

    Attributes:
        x: the frame, of pandas, Arrow or polars, or a History or Store.
        chart: the public function's name, for messages.
        giver: the function that returns such a frame, for messages.
        compute: computes it from a History or Store; None if those lack its input.
        ax: the caller's Axes, if there are any.
    """

    x: Any
    chart: str
    giver: str
    compute: Callable[[Any], Any] | None = None
    ax: Any = None

    def frame(self, *needed: str) -> pd.DataFrame:
        """The frame, as pandas, with these columns at least; one without any column is empty.

        Raises:
            InputError: it is no frame, or columns are missing.
        """
        x, chart, giver = self.x, self.chart, self.giver
        if isinstance(x, History) or (hasattr(x, "load") and hasattr(x, "coverage")):
            if self.compute is None:
                raise InputError(
                    f"{chart} cannot be drawn from a {type(x).__name__}; give the frame that {giver} returns"
                )
            x = self.compute(x)
        if not isinstance(x, pd.DataFrame) and hasattr(x, "to_pandas"):
            x = x.to_pandas()
        if not isinstance(x, pd.DataFrame):
            raise InputError(f"{chart} needs a DataFrame, not {type(x).__name__}; {giver} returns one")
        if not len(x.columns):
            return x.reindex(columns=list(needed))
        missing = [name for name in needed if name not in x.columns]
        if missing:
            there = ", ".join(map(str, x.columns[:12])) + (", …" if len(x.columns) > 12 else "")
            raise InputError(f"{chart} needs the column(s) {', '.join(missing)}; this frame has {there}; use {giver}")
        return x

    def rows(self, most: int) -> int:
        """The number of names that fit below each other: limited by the caller's Axes, or `most`."""
        if self.ax is None:
            return most
        paper = self.ax.get_figure(root=True)
        return int(min(most, max(2, (self.ax.get_window_extent().height * 72 / paper.dpi - 50) / 9)))


def floats(frame: pd.DataFrame, name: str) -> Floats:
    """An amount column as floats, which a chart can show, from `Decimal`, Arrow decimals, text or floats.

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
    """A column of durations as seconds; NaN if there is none.

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


def begins(frame: pd.DataFrame) -> bool:
    """Whether the frame is known to begin with the ledger."""
    return frame.attrs.get("from_beginning") is True


def one_of(value: object, name: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not one of the choices.

    Raises:
        InputError: the value is not one of them.
    """
    if value not in choices:
        raise InputError(f"{name}={value!r} is not valid: give one of {', '.join(map(repr, choices))}")
