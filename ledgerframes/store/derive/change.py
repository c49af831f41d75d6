"""`Change`: what a chunk of the history does to a computed table; made by `rules`, committed by `deriving`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

_NOTHING: Final = pa.array([], pa.string())


@dataclass(frozen=True)
class Change:
    """What a chunk does to a table.

    Attributes:
        rows: final rows to add.
        open: rows to add that can still change.
        keys: the keys of the open rows that these replace, or that are over.
        unknown: how often something was not understood.
    """

    rows: pa.Table
    open: pa.Table
    keys: pa.Array = field(default_factory=lambda: _NOTHING)
    unknown: int = 0
