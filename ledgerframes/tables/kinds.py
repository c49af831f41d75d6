"""The kinds of columns and the Arrow type of each; table declarations use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    Attributes:
        name: the word used in documents.
        arrow: the Arrow and Parquet type.
        meaning: one sentence for the data dictionary.
    """

    name: str
    arrow: pa.DataType
    meaning: str


TEXT: Final = Kind("text", pa.string(), "Unicode text, exactly as sent.")
INT64: Final = Kind("int64", pa.int64(), "A whole number.")
BOOL: Final = Kind("bool", pa.bool_(), "True or false.")
TIME: Final = Kind("timestamp", pa.timestamp("us", "UTC"), "An instant in UTC, in microseconds, years 1 to 9999.")
AMOUNT: Final = Kind("amount", pa.decimal128(38, 10), "An exact decimal: 28 digits before the point, 10 after.")
JSON: Final = Kind("json", pa.string(), "JSON as text, exactly as sent.")
TEXTS: Final = Kind("list of text", pa.list_(pa.string()), "A list of texts, in the order sent.")
DURATION: Final = Kind("duration", pa.duration("us"), "A span of time, in microseconds.")
