"""The tables that `ledgerframes.models` computes, in the order in which `tables()` lists them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables import (
    coin_flows,
    coin_stocks,
    from_snapshots,
    governance,
    network_activity,
    reassignments,
    rounds_and_rewards,
)
from ledgerframes.tables.network_activity import TEMPLATE_CATALOGUE
from ledgerframes.tables.replayed import HOLDINGS_FROM_EVENTS
from ledgerframes.tables.table import Table

#: Those of events alone. Each is returned by the function of its name; `rounds` and `coins` are loaded tables.
DERIVED: Final[dict[str, Table]] = {
    table.name: table
    for module in (rounds_and_rewards, coin_flows, coin_stocks, governance, network_activity)
    for table in module.TABLES
}
#: All: those of other tables too.
COMPUTED: Final[dict[str, Table]] = DERIVED | {
    table.name: table
    for table in (HOLDINGS_FROM_EVENTS, *reassignments.TABLES, TEMPLATE_CATALOGUE, *from_snapshots.TABLES)
}
