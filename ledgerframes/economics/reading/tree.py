"""The exercises of a history as trees: which exercise is above which event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.source import Source
from ledgerframes.errors import InputError

_COLUMNS: Final = ("event_id", "parent_event_id", "choice")
Places = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Tree:
    """All exercises of the updates concerned.

    Attributes:
        rows: event_id, parent_event_id and choice, one row per exercise.
        parents: for each row the row of the exercise above it, -1 at a root.
    """

    rows: pa.Table
    parents: Places

    @classmethod
    def of(cls, source: Source, updates: Any = None) -> Tree:
        """The exercises of a source, of some updates only if they are given.

        Raises:
            InputError: an exercise is above itself.
        """
        if updates is None:
            rows = source.exercises(_COLUMNS)
        else:
            rows = source.exercises(("update_id", *_COLUMNS))
            rows = rows.filter(pc.is_in(rows["update_id"], updates)).select(list(_COLUMNS))
        parents = _parents(rows)
        _check_ends(parents, rows["event_id"])
        return cls(rows, parents)

    def places(self, event_ids: pa.ChunkedArray) -> Places:
        """The row of each exercise of a column of ids, -1 for what is none."""
        return _places(event_ids.combine_chunks(), self.rows["event_id"])

    def mask(self, choices: Iterable[str]) -> Mask:
        """Which rows exercise one of some choices."""
        known = pa.array(list(choices), pa.string())
        mask: Mask = pc.is_in(self.rows["choice"], known).to_numpy(zero_copy_only=False)
        return mask

    def nearest(self, places: Places, mask: Mask) -> Places:
        """The nearest row at or above each place where a mask is true, -1 where there is none."""
        ancestors = np.full(len(places), -1, np.int64)
        at = places.copy()
        while (open_ := (at >= 0) & (ancestors < 0)).any():
            hit = np.zeros(len(at), bool)
            hit[open_] = mask[at[open_]]
            ancestors[hit] = at[hit]
            at = np.where(open_ & ~hit, self.parents[at], -1)
        return ancestors

    def above(self, places: Places) -> Places:
        """The row above each place, -1 for a root or for no place."""
        if not len(self.parents):
            return np.full(len(places), -1, np.int64)
        return np.where(places >= 0, self.parents[places], -1)

    def choices(self, places: Places) -> pa.Array:
        """The choice at each place; null where there is none."""
        return _taken(self.rows["choice"], places)


def _parents(rows: pa.Table) -> Places:
    """The row of the exercise above each row, -1 at a root."""
    ids, above = rows["event_id"].combine_chunks(), rows["parent_event_id"].combine_chunks()
    parents = np.full(len(ids), -1, np.int64)
    # Exercises stand in preorder: mostly the one above is the row before, or the one above that row.
    below, beside = (np.append(False, _equal(above[1:], one[:-1])) if len(ids) else parents > 0 for one in (ids, above))
    parents[below] = np.flatnonzero(below) - 1
    rest = pc.is_valid(above).to_numpy(zero_copy_only=False) & ~below & ~beside
    parents[rest] = _places(above.filter(pa.array(rest)), rows["event_id"])
    last: Places = np.maximum.accumulate(np.where(beside, 0, np.arange(len(ids))))
    known: Places = parents[last]
    return known


def _check_ends(parents: Places, event_ids: pa.ChunkedArray) -> None:
    """Refuse exercises whose parents lead back to them: whoever walks up would never arrive."""
    # A cycle has a row whose parent does not stand above it.
    if (parents < np.arange(len(parents))).all():
        return
    above = parents
    # Each step doubles how far above, so this many go beyond the deepest tree that so many rows can make.
    for _ in range(len(parents).bit_length()):
        if (above < 0).all():
            return
        above = np.where(above >= 0, above[above], -1)
    lost = np.flatnonzero(above >= 0)
    if len(lost):
        raise InputError(
            f"events: the parents of event {event_ids[int(lost[0])].as_py()!r} go round in a circle; a decoded"
            " history has no such events, so give it as it was loaded"
        )


def _equal(left: pa.Array, right: pa.Array) -> Mask:
    mask: Mask = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return mask


def _places(ids: pa.Array, among: pa.ChunkedArray) -> Places:
    """The row of each id among others, -1 for null and for what is not among them."""
    coded = ids.dictionary_encode()
    # A table of the few ids that are asked for, and not of all exercises, is looked up in. Ids of events begin with
    # the id of their update, so they are unique in all the history.
    positions = pc.index_in(among, coded.dictionary)
    rows = np.flatnonzero(pc.is_valid(positions).to_numpy())
    of_each = np.full(len(coded.dictionary) + 1, -1, np.int64)
    # Of exercises that a frame holds twice, the first is written last.
    of_each[positions.drop_null().to_numpy()[::-1]] = rows[::-1]
    numbers = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy(zero_copy_only=False)
    places: Places = of_each[numbers]
    return places


def _taken(values: pa.ChunkedArray, places: Places) -> pa.Array:
    chosen = pa.array(places, mask=places < 0)
    taken = values.take(chosen)
    return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
