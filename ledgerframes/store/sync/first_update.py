"""`first_update`: the update that names the network of an empty store; the first sync calls it."""

from __future__ import annotations

from typing import Final, NamedTuple

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StoreError
from ledgerframes.interfaces.history_pages import HistoryPage
from ledgerframes.loaders.extent import known_by
from ledgerframes.paging.cursor import Cursor, PageIndex, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.store.sync.beginnings import Beginnings
from ledgerframes.store.sync.servers import AgreedServers, ask

# A server that prunes quickly begins later at every look.
_TRIES: Final = 5
_UNKNOWN: Final = "it does not show yet whether it belongs to the network"


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
        first = next(iter(pages), None)
        if first is not None and not {*page.page_index.update_ids} & {*pages[first].page_index.update_ids}:
            _tell_apart(servers, beginnings, first, server)
        if server in servers.servers:
            pages[server] = page
    if failed is not None and not pages and not empty:
        raise failed
    if not pages:
        return None
    for server in empty:  # its first updates may be another network's
        servers.leave_out(server, _UNKNOWN)
    page = min(pages.values(), key=lambda page: page.page_index.cursors[0])
    begin = page.page_index.cursors[0]
    # Servers order equal times differently; the smallest id gives the network the same name everywhere.
    shown = zip(page.page_index.cursors, page.page_index.update_ids, strict=True)
    ties = [update_id for cursor, update_id in shown if cursor == begin]
    return First(begin, min(ties), known_by(servers.history, page))


def _tell_apart(servers: AgreedServers, beginnings: Beginnings, first: str, second: str) -> None:
    """Two servers begin differently: one has shown little yet, or has pruned, or they belong to two networks.

    Raises:
        StoreError: they belong to two networks.
    """
    proofs = beginnings.proofs
    for _ in range(_TRIES):
        begins = {server: beginnings.pages[server].page.page_index for server in (first, second)}
        if not all(page_index.cursors for page_index in begins.values()):
            break
        # A server that prunes is compared from where it begins.
        place = before(max(page_index.cursors[0] for page_index in begins.values()))
        try:
            pages = {server: ask(servers, proofs, place, MAXIMUM, server)[1].value.page_index for server in begins}
            if {*pages[first].update_ids} & {*pages[second].update_ids}:
                return
            pairs = ((first, second), (second, first))
            lacking = {one: _lacking(pages[one], pages[other], proofs.now().of(one)) for one, other in pairs}
            if not any(lacking.values()):
                break
            for server, cursors in lacking.items():
                # It may have pruned them since: what it still has, it also had when it did not show it.
                if cursors and beginnings.ask(server) and beginnings.known[server].has(*cursors[-1]):
                    own = " and with ".join(begins[one].update_ids[0] for one in (second, first))
                    raise StoreError(
                        f"{second} and {first} belong to two networks: their histories begin with update {own}. Leave"
                        " one of them out of scan_url"
                    )
        except (RequestError, PagingError, DecodeError) as error:
            servers.leave_out(second, error)  # it has not been compared
            return
    servers.leave_out(second, _UNKNOWN)


def _lacking(page: PageIndex, other: PageIndex, final: int) -> list[Cursor]:
    """The cursors of another server's items that a server's page lacks, though it was final there."""
    # A page may be cut off: items at or after its last cursor need not be on it.
    return [one for one in other.cursors if one < max(page.cursors, default=one) and one.micros <= final]


def another_network(server: str, begins: str, ours: str) -> StoreError:
    """The error for a server of another network than the store's."""
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )
