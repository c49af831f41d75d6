"""The kinds of columns and the Arrow type of each; table declarations use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    Attributes:
        name: the word used in documents.
        of: makes the Arrow type from pyarrow, which a shell's completion has no time to import.
        meaning: one sentence for the data dictionary.
    """

    name: str
    of: Callable[[Any], Any]
    meaning: str

    @cached_property
    def arrow(self) -> pa.DataType:
        """The Arrow and Parquet type."""
        import pyarrow as pa

        return self.of(pa)


TEXT: Final = Kind("text", lambda arrow: arrow.string(), "Unicode text, exactly as sent.")
INT64: Final = Kind("int64", lambda arrow: arrow.int64(), "A whole number.")
BOOL: Final = Kind("bool", lambda arrow: arrow.bool_(), "True or false.")
TIME: Final = Kind(
    "timestamp", lambda arrow: arrow.timestamp("us", "UTC"), "An instant in UTC, in microseconds, years 1 to 9999."
)
AMOUNT: Final = Kind(
    "amount", lambda arrow: arrow.decimal128(38, 10), "An exact decimal: 28 digits before the point, 10 after."
)
JSON: Final = Kind("json", lambda arrow: arrow.string(), "JSON as text, exactly as sent.")
TEXTS: Final = Kind("list of text", lambda arrow: arrow.list_(arrow.string()), "A list of texts, in the order sent.")
DURATION: Final = Kind("duration", lambda arrow: arrow.duration("us"), "A span of time, in microseconds.")
