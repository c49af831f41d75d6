"""Decodes pages item by item where one breaks the contract, and keeps the broken items whole."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding.history import decode_items, decode_page
from ledgerframes.errors import DecodeError
from ledgerframes.store.delta import DeltaStoreTable

_log = logging.getLogger("ledgerframes.store")
_ENDPOINT: Final = "POST /v2/updates"
_items: Final = msgspec.json.Decoder(dict[str, list[Raw]])


@dataclass
class RejectingDecoder:
    """Decodes pages; what cannot be decoded goes into the table `rejects`, whole, before anything else of its page.

    Attributes:
        table: where rejects are kept.
        count: how many were put there.
    """

    table: DeltaStoreTable
    count: int = 0
    _stored: set[str] = field(default_factory=set)
    _read: bool = False

    def decode(self, body: bytes, rows: Sequence[int] | None) -> dict[str, pa.RecordBatch]:
        """The rows of those items that can be decoded."""
        try:
            return decode_page(body, rows=rows).batches
        except DecodeError:
            pass
        raws = _items.decode(body)["transactions"]
        good, bad = [], []
        for position in range(len(raws)) if rows is None else rows:
            try:
                decode_items([raws[position]], endpoint=_ENDPOINT)
            except DecodeError as error:
                bad.append((error, bytes(raws[position])))
            else:
                good.append(raws[position])
        self.reject(bad)
        return decode_items(good, endpoint=_ENDPOINT).batches

    def reject(self, bad: Sequence[tuple[DecodeError, bytes]]) -> None:
        """Keep broken items; those that are kept already are not kept twice."""
        self._remember()
        rows = [_row(error, raw) for error, raw in bad]
        new = [row for row in rows if row["raw"] not in self._stored]
        if not new:
            return
        if self.table.handle is None:
            self.table.create({})
        self.table.append([pa.RecordBatch.from_pylist(new, self.table.table.schema)], {})
        self._stored.update(row["raw"] for row in new)
        self.count += len(new)
        for row in new:
            _log.warning("an item was put into rejects: %s", row["reason"])

    def _remember(self) -> None:
        if not self._read and self.table.refresh().handle is not None:
            stored = self.table.handle.to_pyarrow_dataset().to_table(columns=["raw"])  # type: ignore[union-attr]
            self._stored = set(stored["raw"].to_pylist())
        self._read = True


def _row(error: DecodeError, raw: bytes) -> dict[str, Any]:
    return {
        "table": error.table or "updates",
        "endpoint": error.endpoint or _ENDPOINT,
        "item": error.item,
        "reason": str(error),
        "raw": raw.decode("utf-8", "backslashreplace"),
        "extra": None,
    }
