"""`Store.retry_rejects`: tries rejects again, as they were put aside and as the network has them now."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd
import pyarrow as pa

from ledgerframes.arguments import suggesting
from ledgerframes.decoding.splitting import UNREADABLE, NotWholeError
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.paged_histories import PagedHistory
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import lies_in
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.lake import Lake
from ledgerframes.store.stored_tables import SETS, TableSet
from ledgerframes.store.sync.agreement import network_for
from ledgerframes.store.sync.rejects import history_of, rows_of
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.timestamps import DAY

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store.store import Store

_log = logging.getLogger("ledgerframes.store")
#: Items asked for where a reject lies; more of them only if that many share its record time.
_FEW: Final = 10


class _Place(NamedTuple):
    """The place of an item in its history, and its id."""

    cursor: Cursor
    update_id: str


@suggesting
def retry_rejects(self: Store, net: Network | None = None) -> pd.DataFrame:
    """Decode the rejected items again, by this version; those that can be decoded move to the history in one commit.

    Args:
        self: the store.
        net: the store's network; it is asked for those that cannot be decoded, which a server may send whole now.

    Returns:
        The rejects that are left: still broken, no longer there, or without a readable time and id to ask for. One
        whose place a repair took out of the coverage waits for the next sync.

    Raises:
        RequestError: the servers did not answer; nothing has changed.
        StoreError: a sync runs on the store, it cannot be written, or `net` is another network.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net, on_error="reject")
        ...     len(store.retry_rejects(net))
        0
    """
    lake = self._lake
    with lake.writing():
        rejects = lake.root().own("rejects")
        if net is not None:
            # Servers are not compared here, so nothing that one lacks counts as missing within a day.
            network_for(net, lake, DAY)
        moved = sum(_retry(rejects, of, lake, net) for of in SETS)
    _log.info("%d rejected items moved to where they belong, %d are left", moved, len(rows_of(rejects)))
    return self.load("rejects")


def _retry(rejects: DeltaStoreTable, of: TableSet, lake: Lake, net: Network | None) -> int:
    """Try the rejects of one history again; returns how many moved to its tables."""
    history, ask = lake.history(of), _asking(net, of.pages)
    moved, left = [], []
    for row in rows_of(rejects):
        raw = row["raw"].encode()
        place = _place_of(raw, of.pages) if history_of(row) is of.pages else None
        # The next sync reads what is not covered, and would not notice that it is stored.
        covered = place is not None and lies_in(place.cursor, history.coverage.common)
        whole = None if place is None or not covered else _decodable(raw, of.pages) or ask(place)
        if whole is None:
            left.append(row)
        else:
            moved.append(whole)
    if moved:
        batches = of.pages.decode_items(moved, endpoint=of.pages.endpoint)
        rejects.replace(pa.Table.from_pylist(left, rejects.table.schema))
        history.add({name: batches[name] for name in history.tables})
    return len(moved)


def _place_of(raw: bytes, history: PagedHistory) -> _Place | None:
    """The place and id of a reject; None if it shows none."""
    try:
        index = history.peek(history.body_of([history.place_of(raw)]))
    except (DecodeError, NotWholeError, *UNREADABLE):
        return None
    return _Place(index.cursors[0], index.update_ids[0])


def _decodable(raw: bytes, history: PagedHistory) -> bytes | None:
    """An item, if it can be decoded."""
    try:
        history.decode_items([raw], endpoint=history.endpoint)
    except DecodeError:
        return None
    return raw


def _asking(net: Network | None, history: PagedHistory) -> Callable[[_Place], bytes | None]:
    """A function that asks the network for an item, and returns it if a server has it whole."""
    servers = None if net is None else AgreedServers(net.scan.pages(history).leniently(), Proofs(DAY))

    def ask(place: _Place) -> bytes | None:
        answers = () if servers is None else servers.each(partial(_item_at, servers, place))
        return next((item for _, item in answers if item is not None), None)

    return ask


def _item_at(servers: AgreedServers, place: _Place, server: str) -> bytes | None:
    """The item as a server sends it, from the page that a sync would read: by its id some servers send it otherwise."""
    for size in (_FEW, MAXIMUM):
        try:
            _, page = servers.ask(before(place.cursor), size, server)
        except DecodeError:  # none of the items there has a place
            return None
        cursors, ids = page.page_index.cursors, page.page_index.update_ids
        shown = dict(zip(map(_Place, cursors, ids), servers.history.raws_of(page.raw), strict=True))
        if place in shown:
            return _decodable(shown[place], servers.history)
        if not cursors or cursors[-1] > place.cursor:
            break
    return None
