"""`Keys`: whole numbers for natural keys, the same in every export; all tables of the star use it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.timestamps import DAY

#: What JSON does not write as it is.
_ESCAPED: Final = r'["\\\x00-\x1f]'


@dataclass(frozen=True)
class Keys:
    """The first bits of the SHA-256 of a natural key, as a whole number.

    Attributes:
        bits: how many; fewer than 63 make collisions likely, for tests.
    """

    bits: int = 63

    def of(self, texts: Any) -> pa.Array:
        """The keys of a column of texts; null stays null."""
        coded = _plain(texts).dictionary_encode()
        hashed = pa.array([self._key(text) for text in coded.dictionary.to_pylist()], pa.int64())
        return hashed.take(coded.indices)

    def of_several(self, columns: Sequence[Any]) -> pa.Array:
        """The keys of natural keys of several columns; the text of each is a JSON array."""
        return self.of(composite(columns))

    def of_numbers(self, numbers: Any) -> pa.Array:
        """The keys of whole numbers, written in decimal; null stays null."""
        return self.of(_plain(numbers).cast(pa.string()))

    def of_days(self, days: Any) -> pa.Array:
        """The keys of days since 1970, written as YYYY-MM-DD; null stays null."""
        return self.of(day_texts(days))

    def _key(self, text: str) -> int:
        return int.from_bytes(sha256(text.encode()).digest()[:8]) >> (64 - self.bits)


def day_texts(days: Any) -> pa.Array:
    """Days since 1970 as YYYY-MM-DD."""
    return _plain(days).cast(pa.int32()).cast(pa.date32()).cast(pa.string())


def days_of(times: Any) -> pa.Array:
    """The days since 1970, in UTC, of times; null stays null."""
    plain = _plain(times)
    micros = pc.fill_null(plain.cast(pa.int64()), 0).to_numpy()
    return pa.array(np.floor_divide(micros, DAY), pa.int64(), mask=plain.is_null().to_numpy(zero_copy_only=False))


def composite(columns: Sequence[Any]) -> pa.Array:
    """One JSON array per row, without spaces: texts, whole numbers and nulls."""
    plain = [_plain(column) for column in columns]
    texts = [column for column in plain if pa.types.is_string(column.type)]
    if any(pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py() for column in texts):
        rows = zip(*(column.to_pylist() for column in plain), strict=True)
        return pa.array([json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows], pa.string())
    cells = [pc.fill_null(_as_json(column), "null") for column in plain]
    inner = pc.binary_join_element_wise(*cells, ",")
    return pc.binary_join_element_wise("[", inner, "]", "")


def _as_json(column: pa.Array) -> pa.Array:
    if pa.types.is_string(column.type):
        return pc.binary_join_element_wise('"', column, '"', "")
    return column.cast(pa.string())


def _plain(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
