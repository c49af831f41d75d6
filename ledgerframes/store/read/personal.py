"""A lake without personal data: how its tables are marked, and how rows are stripped before they are stored."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.personal import json_columns, strip_batch, strip_text
from ledgerframes.errors import DecodeError
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Table

#: The property of a table that was created without personal data; every writer respects it.
PROPERTY: Final = "ledgerframes.personal"
LEFT_OUT_OF_IT: Final = "left out"


def without_personal_data(table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Remove personal data from rows as the lake stores them; each row's `extra` lists what was removed.

    Raises:
        DecodeError: a text that may contain personal data cannot be parsed.
    """
    if table.name == REJECTS.name:
        rows = [_reject(row) for row in batch.to_pylist()]
        return pa.RecordBatch.from_pylist(rows, batch.schema)
    return strip_batch(batch, json_columns(table))[0]


def _reject(row: dict[str, Any]) -> dict[str, Any]:
    """A reject without personal data in its item; without the item, if it cannot be parsed."""
    try:
        return {**row, "raw": strip_text(row["raw"].encode()).decode()}
    except (DecodeError, UnicodeDecodeError):
        reason = "the item cannot be parsed, so nothing of it is kept: it may contain personal data"
        return {**row, "raw": "", "reason": reason}
