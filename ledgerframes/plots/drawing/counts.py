"""Reassignments counted by source, target and status; called by the pictures of flows and of the matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from ledgerframes.errors import InputError
from ledgerframes.plots.drawing.columns import checked, micros, texts
from ledgerframes.plots.drawing.palette import Tones
from ledgerframes.plots.drawing.session_hues import SESSION, Kind
from ledgerframes.plots.drawing.short_ids import NORMAL, short_names
from ledgerframes.plots.drawing.time_axis import between

ROUTE: Final = ("source_synchronizer", "target_synchronizer")
COMPLETED: Final = "completed"
STATUSES: Final = (COMPLETED, "repaired", "assigned without unassignment", "in flight")
GIVER: Final = "lf.reassignment_flows(reassignments)"


def flow_rows(flows: Any, picture: str, needed: Sequence[str] = ()) -> pd.DataFrame:
    """A frame of flows, one row per reassignment.

    Raises:
        InputError: it is not such a frame, or holds one row per leg of a reassignment.
    """
    return checked(flows, (*ROUTE, "status", *needed), picture=picture, giver=GIVER)


def route_rows(flows: Any, picture: str) -> pd.DataFrame:
    """A frame of flows, or a matrix of flows in long form.

    Raises:
        InputError: it is neither.
    """
    return checked(flows, ROUTE, picture=picture, giver=f"{GIVER} or lf.flow_matrix(flows)")


def counted_routes(frame: pd.DataFrame, picture: str) -> pd.DataFrame:
    """Counts by source, target and status.

    Raises:
        InputError: the rows are legs of reassignments.
    """
    if len(frame) and not {"status", "count"} & set(frame.columns):
        raise InputError(
            f"{picture} needs one row per reassignment with its status, or counts; this frame has neither (rows of "
            f"lf.load_reassignments are legs and would count twice); use {GIVER}"
        )
    counted = pd.DataFrame(
        {
            "source": texts(frame, ROUTE[0]),
            "target": texts(frame, ROUTE[1]),
            "status": texts(frame, "status") if "status" in frame else COMPLETED,
            "count": _counts(frame),
        }
    )
    grouped = counted.groupby(["source", "target", "status"], as_index=False, sort=False)["count"].sum()
    return grouped[grouped["count"] > 0]


def statuses(counted: pd.DataFrame) -> dict[str, int]:
    """How many reassignments have each status; the known ones first, in their order."""
    sums = counted.groupby("status", sort=True)["count"].sum()
    known = [name for name in STATUSES if name in sums.index]
    return {name: int(sums[name]) for name in [*known, *(name for name in sums.index if name not in known)]}


@dataclass(frozen=True)
class Ranking:
    """Which categories are shown by themselves.

    Attributes:
        names: those shown, the largest first; `rest` is the last of them, where there is one.
        rest: what the others are called together, or None.
    """

    names: tuple[str, ...]
    rest: str | None

    def labels(self, *, level: int = NORMAL) -> dict[str, str]:
        """The short label of each name."""
        own = short_names((name for name in self.names if name != self.rest), level=level)
        return own if self.rest is None else {**own, self.rest: self.rest.strip()}

    def hues(self, kind: Kind, tones: Tones) -> dict[Hashable, str]:
        """The colour of each name, the same in all pictures of the session; the rest is grey."""
        own = SESSION.of(kind, [name for name in self.names if name != self.rest], tones)
        return {**own, self.rest: tones.rest}

    def folded(self, column: pd.Series) -> pd.Series:
        """The column with the others under one name."""
        return column.where(column.isin(self.names), self.rest) if self.rest else column


def ranked(sizes: pd.Series, top: int, *, others: str = "others") -> Ranking:
    """Rank categories by size, and put together what comes after `top` of them, unless that is a single one.

    Args:
        sizes: by category.
        top: how many to show by themselves.
        others: what the rest are called, after their number.
    """
    order = [str(name) for name in sizes.sort_index().sort_values(ascending=False, kind="stable").index]
    if len(order) <= top + 1:
        return Ranking(tuple(order), None)
    rest = f"{len(order) - top} {others}"
    while rest in order:
        rest += " "
    return Ranking((*order[:top], rest), rest)


def traffic(counted: pd.DataFrame) -> pd.Series:
    """Reassignments in and out of each synchronizer."""
    out = counted.groupby("source")["count"].sum()
    return out.add(counted.groupby("target")["count"].sum(), fill_value=0)


def moments(flows: pd.DataFrame) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """When each reassignment happened: its unassignment, or its assignment where that is all there is."""
    left, known = micros(flows, "unassigned_at")
    came, also = micros(flows, "assigned_at")
    return np.where(known, left, came), known | also


def span(flows: pd.DataFrame) -> str:
    """The days the reassignments happened on, for a second line; empty where the frame has no times."""
    if not {"unassigned_at", "assigned_at"} <= set(flows.columns):
        return ""
    micros_of, known = moments(flows)
    return between(micros_of[known])


def _counts(frame: pd.DataFrame) -> Any:
    if "count" not in frame:
        return np.ones(len(frame), dtype=np.int64)
    try:
        return frame["count"].fillna(0).astype("int64")
    except (ValueError, TypeError) as error:
        raise InputError(f"column count holds a value that is not a whole number: {error}; give counts") from error
