"""Counts parties: who acts in the events of an interval or is their stakeholder, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.source import Source

LISTS: Final = ("acting_parties", "signatories", "observers")
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Seen:
    """Every naming of a party by an event.

    Attributes:
        rows: the row of the event.
        parties: the party's number.
        acting: whether the event names it as acting.
        names: how many parties there are.
    """

    rows: Numbers
    parties: Numbers
    acting: np.ndarray[Any, np.dtype[np.bool_]]
    names: int

    @classmethod
    def of(cls, events: pa.Table) -> Seen:
        """Read the lists of parties of some events."""
        rows, texts, acting = [], [], []
        for name in LISTS:
            lists = events[name].combine_chunks()
            named = pc.list_flatten(lists)
            rows.append(pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64))
            texts.append(named)
            acting.append(np.full(len(named), name == LISTS[0]))
        coded = pa.chunked_array(texts, pa.string()).combine_chunks().dictionary_encode()
        numbers = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(np.concatenate(rows), numbers, np.concatenate(acting), len(coded.dictionary))

    def distinct(self, groups: Numbers, count: int, chosen: Any = None) -> Numbers:
        """How many parties the events of each group name.

        Args:
            groups: the group of each event, from 0.
            count: how many groups there are.
            chosen: which namings count; all by default.
        """
        kept = self.parties >= 0 if chosen is None else chosen & (self.parties >= 0)
        pairs = np.unique(groups[self.rows[kept]] * max(self.names, 1) + self.parties[kept])
        return np.bincount(pairs // max(self.names, 1), minlength=count).astype(np.int64)

    def firsts(self, groups: Numbers, count: int) -> Numbers:
        """How many parties each group names that no group before it does."""
        kept = self.parties >= 0
        first = np.full(self.names, count, np.int64)
        np.minimum.at(first, self.parties[kept], groups[self.rows[kept]])
        return np.bincount(first[first < count], minlength=count).astype(np.int64)


@dataclass(frozen=True)
class Intervals:
    """The intervals that have events.

    Attributes:
        starts: begin of each, in microseconds, in order.
        of_rows: the interval of each event.
    """

    starts: Numbers
    of_rows: Numbers

    @classmethod
    def of(cls, events: pa.Table, step: int) -> Intervals:
        """Round the record times down."""
        micros = events["record_time"].cast(pa.int64()).to_numpy()
        starts, places = np.unique(micros // step * step, return_inverse=True)
        return cls(starts.astype(np.int64), places.astype(np.int64).reshape(-1))


def coded(column: pa.ChunkedArray) -> tuple[Numbers, list[str | None]]:
    """The number of each value of a column of texts, and the values in order; null is the last."""
    found = column.combine_chunks().dictionary_encode()
    values = found.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    # The last place is that of null.
    places = np.full(len(values) + 1, len(values), np.int64)
    places[order] = np.arange(len(values))
    numbers: Numbers = places[pc.fill_null(found.indices, len(values)).to_numpy(zero_copy_only=False)]
    values.sort()
    return numbers, [*values, None]


def party_events(source: Source, *columns: str) -> pa.Table:
    """The columns of all events that name parties, and more."""
    return source.all_rows(("record_time", "template_name", *columns, *LISTS))
