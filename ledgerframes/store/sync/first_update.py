"""`first_update`: the update that names the network of an empty store; the first sync calls it."""

from __future__ import annotations

from typing import Final, NamedTuple

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StoreError
from ledgerframes.interfaces.history_pages import HistoryPage
from ledgerframes.loaders.extent import DSO, known_by
from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.sync.beginnings import Beginnings
from ledgerframes.store.sync.servers import AgreedServers

#: Why a server is left out that shows nothing known.
UNKNOWN: Final = "it does not show yet whether it belongs to the network"


class First(NamedTuple):
    """The identity of a network.

    Attributes:
        cursor: the cursor of the first update.
        update_id: its id.
        known_by: the network's synchronizers and its DSO's party, which identify a server that has pruned this update.
    """

    cursor: Cursor
    update_id: str
    known_by: frozenset[str]

    @property
    def name(self) -> str:
        """The name that a store keeps."""
        return f"{self.cursor.migration_id}/{self.update_id}"


def first_update(servers: AgreedServers, beginnings: Beginnings) -> First | None:
    """The earliest first update of all servers, for a history that is not stored yet; None while it is empty.

    Raises:
        StoreError: the servers belong to different networks.
    """
    pages: dict[str, HistoryPage] = {}
    failed: LedgerframesError | None = None
    empty: list[str] = []
    for server in servers.servers:
        try:
            page = beginnings.ask(server)
        except (RequestError, PagingError, DecodeError) as error:
            failed = error
            servers.leave_out(server, error)
            continue
        failed = None
        if not len(page):
            empty.append(server)
            continue
        # Late updates and lag move the beginning a little, so one common update among the first 50 is enough.
        common = {*page.page_index.update_ids}.intersection(*(one.page_index.update_ids for one in pages.values()))
        if not common:
            _tell_apart(servers, pages, server, page)
        if server in servers.servers:
            pages[server] = page
    if failed is not None and not pages and not empty:
        raise failed
    if not pages:
        return None
    for server in empty:  # its first updates may be another network's
        servers.leave_out(server, UNKNOWN)
    page = min(pages.values(), key=lambda page: page.page_index.cursors[0])
    begin = page.page_index.cursors[0]
    # Servers order equal times differently; the smallest id gives the network the same name everywhere.
    shown = zip(page.page_index.cursors, page.page_index.update_ids, strict=True)
    ties = [update_id for cursor, update_id in shown if cursor == begin]
    return First(begin, min(ties), known_by(servers.history, page))


def _tell_apart(servers: AgreedServers, pages: dict[str, HistoryPage], server: str, page: HistoryPage) -> None:
    """Leave out a server that shows nothing in common with another one: it has shown little yet, or is another's.

    Raises:
        StoreError: they belong to two networks.
    """
    first, other = next(iter(pages.items()))
    shown = [known_by(servers.history, one) for one in (page, other)]
    if shown[0] & shown[1]:  # one of them has pruned, or shown, what the other one begins with
        return
    if all(any(party.startswith(DSO) for party in parties) for parties in shown):
        own = " and with ".join(one.page_index.update_ids[0] for one in (page, other))
        raise StoreError(
            f"{server} and {first} belong to two networks: their histories begin with update {own}. Leave one of them"
            " out of scan_url"
        )
    servers.leave_out(server, UNKNOWN)


def another_network(server: str, begins: str, ours: str) -> StoreError:
    """The error for a server of another network than the store's."""
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )
