"""`network_for`: the network of snapshots in a store, or that of a new history; syncs and `doctor` call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.errors import StoreError
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.lake import Lake
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.first_update import first_update
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.store.table_sets import KNOWN_BY, NETWORK

if TYPE_CHECKING:
    from ledgerframes.network import Network


def network_for(net: Network, lake: Lake, settle: int) -> dict[str, str]:
    """The properties that name the network of a snapshot or of a new history; empty if no scan is configured.

    Args:
        net: the network to read from.
        lake: the store, which may know its network.
        settle: how late an update may appear, in microseconds.

    Raises:
        StoreError: `net` is another network.
    """
    known = lake.network()
    if not net.settings.scan_url:
        return known
    servers = AgreedServers(net.scan.update_pages)
    agreement = Agreement(servers, lake.history(), Proofs(settle), MAXIMUM)
    if known:
        if not agreement.recognise_any():
            begins = known[NETWORK].partition("/")[2]
            raise StoreError(
                f"{servers.servers[0]}: this is not the network that the store was filled from, or shows nothing: the"
                f" store's history begins with update {begins}. Open another store for it"
            )
        return known
    # A store of snapshots is bound to its network as well, so the first update names it.
    first = first_update(servers, agreement.beginnings)
    return {} if first is None else {NETWORK: first.name, KNOWN_BY: " ".join(sorted(first.known_by))}
