"""The exercises of a history as trees: which exercise is above which event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.source import Source

_COLUMNS: Final = ("update_id", "event_id", "parent_event_id", "template_name", "choice")
Places = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Tree:
    """All exercises of the updates concerned.

    Attributes:
        rows: update_id, event_id, parent_event_id, template_name and choice, one row per exercise.
        parents: for each row the row of the exercise above it, -1 at a root.
    """

    rows: pa.Table
    parents: Places

    @classmethod
    def of(cls, source: Source, updates: Any = None) -> Tree:
        """The exercises of a source, of some updates only if they are given."""
        rows = source.exercises(_COLUMNS)
        if updates is not None:
            rows = rows.filter(pc.is_in(rows["update_id"], updates))
        # Ids of events begin with the id of their update, so they are unique in all the history.
        return cls(rows, _places(rows["parent_event_id"], rows["event_id"]))

    def places(self, event_ids: pa.ChunkedArray) -> Places:
        """The row of each exercise of a column of ids, -1 for what is none."""
        coded = event_ids.combine_chunks().dictionary_encode()
        # A table of the few ids that are asked for, and not of all exercises, is looked up in.
        found = pc.index_in(self.rows["event_id"], coded.dictionary)
        rows = np.flatnonzero(pc.is_valid(found).to_numpy())
        of_each = np.full(len(coded.dictionary) + 1, -1, np.int64)
        # The first of exercises with one id is the last to be written.
        of_each[found.drop_null().to_numpy()[::-1]] = rows[::-1]
        numbers = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy(zero_copy_only=False)
        chosen: Places = of_each[numbers]
        return chosen

    def mask(self, choices: Iterable[str]) -> Mask:
        """Which rows exercise one of some choices."""
        known = pa.array(list(choices), pa.string())
        found: Mask = pc.is_in(self.rows["choice"], known).to_numpy(zero_copy_only=False)
        return found

    def nearest(self, places: Places, mask: Mask) -> Places:
        """The nearest row at or above each place where a mask is true, -1 where there is none."""
        found = np.full(len(places), -1, np.int64)
        at = places.copy()
        while (open_ := (at >= 0) & (found < 0)).any():
            hit = np.zeros(len(at), bool)
            hit[open_] = mask[at[open_]]
            found[hit] = at[hit]
            at = np.where(open_ & ~hit, self.parents[at], -1)
        return found

    def above(self, places: Places) -> Places:
        """The row above each place, -1 for a root or for no place."""
        if not len(self.parents):
            return np.full(len(places), -1, np.int64)
        return np.where(places >= 0, self.parents[places], -1)

    def choices(self, places: Places) -> pa.Array:
        """The choice at each place; null where there is none."""
        return _taken(self.rows["choice"], places)


def _places(ids: pa.ChunkedArray, among: pa.ChunkedArray) -> Places:
    found: Places = pc.fill_null(pc.index_in(ids, among), -1).to_numpy().astype(np.int64)
    # A null id is no id, even where a null stands among the others.
    return np.where(pc.is_valid(ids).to_numpy(), found, -1)


def _taken(values: pa.ChunkedArray, places: Places) -> pa.Array:
    chosen = pa.array(places, mask=places < 0)
    found = values.take(chosen)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
