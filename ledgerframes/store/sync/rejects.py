"""Keeps items that break the contract in the table `rejects`, and decodes the rest; a sync and `Store` call it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from ledgerframes.decoding.history import decode_items, decode_page
from ledgerframes.decoding.splitting import raws_of
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.answers import UpdatesPage
from ledgerframes.interfaces.scan import Scan
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.lake import Lake
from ledgerframes.transport import Answer, Stop
from ledgerframes.transport.request import Request
from ledgerframes.transport.retrying import Revise

_log = logging.getLogger("ledgerframes.store")
_ENDPOINT: Final = "POST /v2/updates"
# A rejected item need not be JSON, so its id is searched for in the text.
_ID: Final = re.compile(r'"update_id"\s*:\s*"([^"\\]+)"')


@dataclass(frozen=True)
class LenientSource:
    """The scan interface, its pages read without the items that have no cursor."""

    scan: Scan

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""
        return self.scan.servers

    def page_request(self, after: Cursor | None, page_size: int) -> Request:
        """The request for one page."""
        return self.scan.page_request(after, page_size)

    def send_page(
        self, request: Request, *, server: str | tuple[str, ...] | None, revise: Revise | None
    ) -> Answer[UpdatesPage]:
        """Ask for one page."""
        return self.scan.send_page(request, server=server, revise=revise, lenient=True)

    def page_maximum(self, server: str | None) -> int | None:
        """The largest page of updates that a scan has named, if it has."""
        return self.scan.page_maximum(server)

    def learn_page_maximum(self, server: str, maximum: int) -> None:
        """Keep the largest page of updates that a scan has named."""
        self.scan.learn_page_maximum(server, maximum)

    def pause(self, seconds: float) -> None:
        """Wait, by the transport's clock."""
        self.scan.pause(seconds)

    def stoppable(self, stop: Stop) -> LenientSource:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, scan=self.scan.stoppable(stop))


@dataclass
class RejectingDecoder:
    """Decodes pages; items that cannot be decoded go into `rejects`, whole, before the rest of their page is committed.

    Attributes:
        table: the table `rejects`.
        count: how many items were added to it.
    """

    table: DeltaStoreTable
    count: int = 0
    _stored: set[str] | None = field(default=None, repr=False)

    def decode(self, page: UpdatesPage, rows: Sequence[int] | None) -> dict[str, pa.RecordBatch]:
        """The rows of those items that can be decoded."""
        self.reject(page.unplaced)
        try:
            return decode_page(page.raw, rows=rows).batches
        except DecodeError:
            pass
        raws = raws_of(page.raw)
        good, bad = [], []
        for position in range(len(raws)) if rows is None else rows:
            try:
                decode_items([raws[position]], endpoint=_ENDPOINT)
            except DecodeError as error:
                bad.append((raws[position], error))
            else:
                good.append(raws[position])
        # Before the rest of the page is committed: its coverage says that nothing of the page is missing.
        self.reject(bad)
        return decode_items(good, endpoint=_ENDPOINT).batches

    def reject(self, bad: Sequence[tuple[bytes, DecodeError]]) -> None:
        """Keep broken items, each once."""
        if not bad:
            return
        if self._stored is None:
            self._stored = {row["raw"] for row in _rows(self.table.refresh())}
        given = pa.RecordBatch.from_pylist([_row(raw, error) for raw, error in bad], self.table.table.schema)
        # Compared as stored: a lake without personal data keeps the item without it.
        rows = self.table.as_kept(given).to_pylist()
        new = list({row["raw"]: row for row in rows if row["raw"] not in self._stored}.values())
        if not new:
            return
        if not self.table.exists:
            self.table.create({})
        self.table.append([pa.RecordBatch.from_pylist(new, self.table.table.schema)], {})
        self._stored.update(row["raw"] for row in new)
        self.count += len(new)
        for row in new:
            _log.warning("an item was put into rejects: %s", row["reason"])


def retry(lake: Lake) -> None:
    """Decode the rejects again, by this version; those that can be decoded move to the history.

    Rows are added before rejects are removed, and never twice, so a kill in between loses nothing.
    """
    with lake.writing():
        moved, left = _retry(lake.table("rejects").refresh(), lake.history())
    _log.info("%d rejected items moved to the history, %d are left", moved, left)


def _retry(rejects: DeltaStoreTable, history: HistoryTables) -> tuple[int, int]:
    rows = _rows(rejects)
    moved: list[bytes] = []
    left = []
    for row in rows:
        raw = row["raw"].encode()
        try:
            decode_items([raw], endpoint=row["endpoint"])
        except DecodeError:
            left.append(row)
        else:
            moved.append(raw)
    if moved:
        batches = decode_items(moved, endpoint=_ENDPOINT).batches
        history.add({name: batches[name] for name in history.tables})
        rejects.replace(pa.Table.from_pylist(left, rejects.table.schema))
    return len(moved), len(left)


def _rows(table: DeltaStoreTable) -> list[dict[str, Any]]:
    if not table.exists:
        return []
    rows: list[dict[str, Any]] = table.dataset().to_table().to_pylist()
    return rows


def rejected_ids(table: DeltaStoreTable) -> frozenset[str]:
    """The ids of the updates among the rejects."""
    rows = _rows(table.refresh())
    named = (match[1] if (match := _ID.search(row["raw"])) else row["item"] for row in rows)
    return frozenset(update_id for update_id in named if update_id is not None)


def _row(raw: bytes, error: DecodeError) -> dict[str, Any]:
    return {
        "table": error.table or "updates",
        "endpoint": error.endpoint or _ENDPOINT,
        "item": error.item,
        "reason": str(error),
        # An item that is not UTF-8 still has to fit a text column.
        "raw": raw.decode("utf-8", "backslashreplace"),
        "extra": None,
    }
