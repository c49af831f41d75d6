"""`first_update`: what names the network of a store that is still empty; the first sync calls it."""

from __future__ import annotations

from typing import Final

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StoreError
from ledgerframes.paging.cursor import Cursor, Glimpse
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.sync.page_requests import ask
from ledgerframes.store.sync.servers import AgreedServers

#: How many updates are asked for to recognise a network: late ones may have come before the one that names it.
FIRST: Final = 50
_UNKNOWN: Final = "it does not show yet whether it belongs to the network"


def first_update(servers: AgreedServers, proofs: Proofs) -> tuple[Cursor, str] | None:
    """The cursor and the id of the first update of a history that is not stored yet; None while it is empty.

    Raises:
        StoreError: the servers belong to different networks.
    """
    first: Glimpse | None = None
    failed: LedgerframesError | None = None
    empty: list[str] = []
    for server in servers.servers:
        try:
            glimpse = ask(servers, proofs, None, FIRST, server)[1].value.glimpse
        except (RequestError, PagingError, DecodeError) as error:
            failed = error
            servers.leave_out(server, error)
            continue
        failed = None
        if first is None or not first.cursors:
            first, sender = glimpse, server
            if not glimpse.cursors:
                empty.append(server)
        # Late updates and lag move the beginning a little, so one common update among the first 50 is enough.
        elif not {*glimpse.update_ids} & {*first.update_ids}:
            _tell_apart(servers, proofs, sender, server)
    if first is None:
        assert failed is not None
        raise failed
    if not first.cursors:
        return None
    for server in empty:  # what it shows first may be another network's
        servers.leave_out(server, _UNKNOWN)
    begin = first.cursors[0]
    # The order of equal times is the server's own; the least id gives the network the same name everywhere.
    ties = [update_id for cursor, update_id in zip(first.cursors, first.update_ids, strict=True) if cursor == begin]
    return begin, min(ties)


def _tell_apart(servers: AgreedServers, proofs: Proofs, first: str, second: str) -> None:
    """Two servers begin differently: one has shown only a little yet, or they belong to different networks."""
    try:
        pages = {server: ask(servers, proofs, None, MAXIMUM, server)[1].value.glimpse for server in (first, second)}
    except (RequestError, PagingError, DecodeError) as error:
        servers.leave_out(second, error)  # it has not been compared
        return
    if {*pages[first].update_ids} & {*pages[second].update_ids}:
        return
    for server, other in ((first, second), (second, first)):
        final = proofs.now().of(server)
        # A page may be cut off: what lies at or behind its last cursor need not be on it.
        shown = [cursor for cursor in pages[other].cursors if cursor < max(pages[server].cursors, default=cursor)]
        if any(cursor.micros <= final for cursor in shown):
            raise another_network(second, next(iter(pages[second].update_ids), ""), pages[first].update_ids[0])
    servers.leave_out(second, _UNKNOWN)


def another_network(server: str, begins: str, ours: str) -> StoreError:
    """The error for a server of another network than the store's."""
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )
