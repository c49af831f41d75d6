"""`Members`: the rows that facts ask of a dimension, each natural key once; `Dimensions` holds one per dimension."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ledgerframes.errors import StoreError, visible


@dataclass
class Member:
    """A row of a dimension.

    Attributes:
        natural: its natural key, as text.
        first_seen: the earliest record time in microseconds, if one was given.
    """

    natural: str
    first_seen: int | None = None


@dataclass
class Members:
    """The natural keys that were named so far, by key.

    Attributes:
        table: the dimension, for messages.
        by_key: the rows.
    """

    table: str
    by_key: dict[int, Member] = field(default_factory=dict)

    def add(self, keys: pa.Array, naturals: pa.Array, times: Any = None) -> None:
        """Remember what a column names.

        Args:
            keys: null is nothing.
            naturals: the text of each key.
            times: record times, where they count as seeing it.

        Raises:
            StoreError: two natural keys have one key.
        """
        seen = pa.nulls(len(keys), pa.int64()) if times is None else times.cast(pa.int64())
        named = pa.table({"key": keys, "natural": naturals, "time": seen})
        distinct = named.group_by(["key", "natural"]).aggregate([("time", "min")])
        columns = (distinct[name].to_pylist() for name in ("key", "natural", "time_min"))
        for key, natural, time in zip(*columns, strict=True):
            if key is None:
                continue
            known = self.by_key.setdefault(key, Member(natural))
            if known.natural != natural:
                raise collision(self.table, key, known.natural, natural)
            if time is not None and (known.first_seen is None or time < known.first_seen):
                known.first_seen = time


def collision(table: str, key: int, first: str, second: str) -> StoreError:
    """The error of two natural keys with one key."""
    return StoreError(
        f"{table}: {visible(first)!r} and {visible(second)!r} have the same key {key}, so relations would mix them, and"
        " nothing was exported. Export the tables without model=, and report this: it is not expected to happen"
    )
