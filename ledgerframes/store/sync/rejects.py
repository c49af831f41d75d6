"""Keeps items that break the contract in the table `rejects`, and decodes the rest; syncs and `Store` call it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, HistoryPage, PagedHistory
from ledgerframes.store.delta.table import DeltaStoreTable

_log = logging.getLogger("ledgerframes.store")
# A rejected item need not be JSON, so its id is searched for in the text.
_ID: Final = re.compile(r'"update_id"\s*:\s*"([^"\\]+)"')


@dataclass
class RejectingDecoder:
    """Decodes pages; items that cannot be decoded go into `rejects`, unchanged, before their page is committed.

    Attributes:
        table: the table `rejects`.
        history: the history of the pages.
        count: how many items were added to `rejects`.
        ids: the updates in `rejects`, including new ones: a server that shows one does not lack it.
    """

    table: DeltaStoreTable
    history: PagedHistory = UPDATE_HISTORY
    count: int = 0
    ids: set[str] = field(default_factory=set)
    _stored: set[str] | None = field(default=None, repr=False)  # the keys of the rejects

    def decode(self, page: HistoryPage, rows: Sequence[int]) -> dict[str, pa.RecordBatch]:
        """Decode the items that can be decoded.

        Args:
            page: a page.
            rows: the positions of the items that count.
        """
        self.reject(page.unplaced)
        try:
            return self.history.decode_pages([(page, rows)])
        except DecodeError:
            return self._by_item(page, rows)

    def _by_item(self, page: HistoryPage, rows: Sequence[int]) -> dict[str, pa.RecordBatch]:
        """Decode a page item by item; items that cannot be decoded become rejects."""
        raws = self.history.raws_of(page.raw)
        good, bad = [], []
        for position in rows:
            try:
                self.history.decode_items([raws[position]], endpoint=self.history.endpoint)
            except DecodeError as error:
                bad.append((raws[position], error))
            else:
                good.append(raws[position])
        # Before the rest of the page is committed: its coverage means that nothing of the page is missing.
        self.reject(bad)
        return self.history.decode_items(good, endpoint=self.history.endpoint)

    def reject(self, bad: Sequence[tuple[bytes, DecodeError]]) -> None:
        """Store broken items, each once."""
        if not bad:
            return
        if self._stored is None:
            self._stored = {_key(row) for row in rows_of(self.table)}
        stripped = pa.RecordBatch.from_pylist(
            [_row(raw, error, self.history) for raw, error in bad], self.table.table.schema
        )
        # Compared as stored: a lake without personal data keeps the item without it.
        rows = self.table.as_stored(stripped).to_pylist()
        self.ids.update(_ids_of(rows))
        new = list({key: row for row in rows if (key := _key(row)) not in self._stored}.values())
        if not new:
            return
        if not self.table.exists:
            self.table.create()
        self.table.append([pa.RecordBatch.from_pylist(new, self.table.table.schema)])
        self._stored.update(map(_key, new))
        self.count += len(new)
        for row in new:
            _log.warning("an item was put into rejects: %s", row["reason"])


def _key(row: Mapping[str, Any]) -> str:
    """The history and the update id of a reject; objects have its members in another order than pages."""
    return f"{row['endpoint']} {match[1] if (match := _ID.search(row['raw'])) else row['raw']}"


def history_of(row: Mapping[str, Any]) -> PagedHistory:
    """The history that a reject belongs to."""
    return EVENT_HISTORY if row["endpoint"] == EVENT_HISTORY.endpoint else UPDATE_HISTORY


def rows_of(table: DeltaStoreTable) -> list[dict[str, Any]]:
    """The rejects of a lake; none while there is no such table."""
    if not table.exists:
        return []
    rows: list[dict[str, Any]] = table.dataset().to_table().to_pylist()
    return rows


def rejected_ids(table: DeltaStoreTable, history: PagedHistory = UPDATE_HISTORY) -> set[str]:
    """The ids of the items of a history among the rejects."""
    return _ids_of(row for row in rows_of(table) if history_of(row) is history)


def _ids_of(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    named = (match[1] if (match := _ID.search(row["raw"])) else row["item"] for row in rows)
    return {update_id for update_id in named if update_id is not None}


def _row(raw: bytes, error: DecodeError, history: PagedHistory) -> dict[str, Any]:
    return {
        "table": error.table or history.index,
        "endpoint": error.endpoint or history.endpoint,
        "item": error.item,
        "reason": str(error),
        # An item that is not UTF-8 still has to fit a text column.
        "raw": raw.decode("utf-8", "backslashreplace"),
        "extra": None,
    }
