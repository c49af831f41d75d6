"""The input of a chart, checked: its frame, taken from a history or a lake if one is given, and `events=` as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of, proof_of
from ledgerframes.loaders.history import History
from ledgerframes.loaders.opening import begin_of, cursor_of, stop_of
from ledgerframes.number_format import plural
from ledgerframes.paging.cursor import Cursor
from ledgerframes.plot.bins import Held
from ledgerframes.plot.contents import Content, EventLine, Floats, Micros, Nothing, Panels, Stack, Steps

_GIVER: Final = "lf.votes(events) or lf.config_changes(events)"
#: When a vote takes effect, else when it was closed, else when it was opened.
_OF_VOTES: Final[tuple[str, ...]] = ("effective_at", "completed_at", "opened_at")
_EVER: Final = -(2**62)  # before any time
#: Before an action's name, such as SRARC_: by which rules it is done.
TAG: Final = r"^[A-Z]+_"
_LONGEST: Final = 28  # characters of a label
_APART: Final = 1 / 36  # of the axis: lines that are nearer than this share a label


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
        opening: what was active before the caller's History, if it was given.
    """

    x: Any
    chart: str
    giver: str
    compute: Callable[..., Any] | None = None
    ax: Any = None
    opening: Any = None

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
            x = self.compute(x) if self.opening is None else self.compute(x, opening=self.opening)
        elif self.opening is not None:
            raise InputError("opening= is for a History; a frame is computed with it")
        if not isinstance(x, pd.DataFrame) and hasattr(x, "to_pandas"):
            attrs, x = attrs_of(x), x.to_pandas()
            x.attrs = attrs
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


def micros(frame: pd.DataFrame, *names: str) -> tuple[Micros, npt.NDArray[np.bool_]]:
    """Times as microseconds since 1970 in UTC, each from the first of the columns that has it, and which are there.

    Raises:
        InputError: a value is not a time.
    """
    found = pd.Series(pd.NaT, frame.index, dtype="datetime64[us, UTC]")
    for name in names:
        try:
            times = pd.to_datetime(frame[name], utc=True, format="ISO8601").dt.as_unit("us")
        except (ValueError, TypeError) as error:
            raise InputError(f"column {name} holds a value that is not a time: {error}; give times in UTC") from error
        found = found.fillna(times)
    return found.dt.tz_localize(None).to_numpy("M8[us]").astype(np.int64), found.notna().to_numpy()


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
    """Whether the frame is known to begin with the ledger, as a selection of its rows is not."""
    attrs = proof_of(frame)
    return attrs.get("from_beginning") is True and "only" not in attrs


def has_hole(x: Any) -> bool:
    """Whether the caller's frames lack a part of their range; a store refuses to give such."""
    parts = x if isinstance(x, History) else (x,)
    return any(attrs_of(part).get("complete") is False for part in parts)


def held(frame: pd.DataFrame) -> Held:
    """From when to when a frame's provenance says that its data reaches."""
    attrs = proof_of(frame)
    if "selected_of" in attrs:
        return None, None
    first, stop, settled = begin_of(attrs), stop_of(attrs), attrs.get("settled")
    if stop is None and settled is not None:
        stop = cursor_of(settled)
    low = _EVER if begins(frame) else None if first is None else first[1]
    return low, stop.micros if isinstance(stop, Cursor) else stop


def with_events(content: Content, events: Any) -> Content:
    """The content of a chart with a line for each event in its range; the subtitle counts those outside.

    Args:
        content: of a chart over time.
        events: a frame of votes, of changes of configuration, or of `time` and `text`.

    Raises:
        InputError: it is none of these, or the chart is not over time.
    """
    words = _read(events)
    panels: Sequence[Any] = content.panels if isinstance(content, Panels) else (content,)
    if isinstance(content, Nothing):
        return content
    if any(panel.x.scale != "time" for panel in panels):
        raise InputError("events= are lines at times, and this chart is not over time; leave them out")
    assert isinstance(content, Stack | Steps | Panels)
    low, high = (int(of(panel.ends[end] for panel in panels)) for end, of in ((0, min), (1, max)))
    inside = words[(words.index >= low) & (words.index <= high)]
    drawn = _lines(inside, high - low)
    note = f"; {plural(len(drawn), 'line')} for {len(inside):,} of {plural(len(words), 'event')}"
    if isinstance(content, Panels):
        made = tuple(replace(panel, events=drawn) for panel in content.panels)
        return replace(content, panels=made, subtitle=content.subtitle + note)
    return replace(content, events=drawn, subtitle=content.subtitle + note)


def _read(events: Any) -> pd.Series:
    """The words of each event by its time in microseconds, in order.

    Raises:
        InputError: it is not a frame of votes, of changes of configuration, or of `time` and `text`.
    """
    frame = ChartInput(events, "events=", _GIVER).frame()
    columns = set(frame.columns)
    if {"action", "outcome", *_OF_VOTES} <= columns:
        action = texts(frame, "action").str.replace(TAG, "", regex=True)
        outcome = texts(frame, "outcome", absent="open").str.replace("_", " ")
        names, words = _OF_VOTES, action.where(outcome == "accepted", action + ", " + outcome)
    elif {"record_time", "member", "after"} <= columns:
        member = texts(frame, "member").str.replace(r"(\.value|\[\d+\])+$", "", regex=True)
        names, words = ("record_time",), member.str.rpartition(".")[2] + " " + texts(frame, "after", absent="removed")
    elif {"time", "text"} <= columns:
        names, words = ("time",), texts(frame, "text", absent="")
    elif len(frame):
        raise InputError(f"events= needs a column time and a column text, or {_GIVER}; this frame has neither")
    else:
        return pd.Series(dtype=object, index=pd.Index([], dtype=np.int64))
    times, known = micros(frame, *names)
    return words[known].set_axis(times[known]).sort_index(kind="stable")


def _lines(words: pd.Series, span: int) -> tuple[EventLine, ...]:
    """A line for each time; those close together share the label of the first, which counts the others."""
    firsts: list[int] = []
    for at in words.index.tolist():
        if not firsts or at - firsts[-1] >= span * _APART:
            firsts.append(at)
    near = words.groupby(np.searchsorted(firsts, words.index, side="right")).agg(tuple)
    labels = dict(zip(firsts, map(_label, near), strict=True))
    return tuple(EventLine(at, labels.get(at, ""), whole) for at, whole in words.groupby(level=0).agg(tuple).items())


def _label(words: tuple[str, ...]) -> str:
    first, more = words[0], f" +{len(words) - 1}" if len(words) > 1 else ""
    room = _LONGEST - len(more)
    return (first if len(first) <= room else first[: room - 1] + "…") + more
