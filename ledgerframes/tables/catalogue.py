"""All tables, in the order in which `tables()` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS, COINS
from ledgerframes.tables.contracts import LICENSES, NAME_RULES, TRANSFER_OFFERS, TRANSFER_PREAPPROVALS
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.tables.ledger import LEDGER_CONTRACTS, LEDGER_EVENTS, LEDGER_TRANSACTIONS, REJECTS
from ledgerframes.tables.network_now import (
    FEATURED_APPS,
    NAMES,
    ROUNDS,
    SCANS,
    SUPER_VALIDATORS,
    TRAFFIC,
    VALIDATOR_FAUCETS,
)
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY, INSTRUMENTS, NAME_ENTRIES, USERS
from ledgerframes.tables.table import Table
from ledgerframes.tables.verdicts import APP_ACTIVITY, VERDICTS, VIEWS

CATALOGUE: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        *(UPDATES, EVENTS, REASSIGNMENTS),
        *(VERDICTS, VIEWS, APP_ACTIVITY),
        *(HOLDINGS_SUMMARY, LICENSES, INSTRUMENTS, NAME_ENTRIES, NAME_RULES),
        *(TRANSFER_OFFERS, TRANSFER_PREAPPROVALS, USERS),
        *(ACTIVE_CONTRACTS, COINS),
        *(ROUNDS, NAMES, TRAFFIC, VALIDATOR_FAUCETS, FEATURED_APPS, SUPER_VALIDATORS, SCANS),
        *(LEDGER_TRANSACTIONS, LEDGER_EVENTS, LEDGER_CONTRACTS, REJECTS),
    )
}


def table_named(name: str, among: Mapping[str, Table] = CATALOGUE) -> Table:
    """Find a table by name.

    Raises:
        InputError: there is no such table; the message names the nearest.
    """
    if isinstance(name, str) and name in among:
        return among[name]
    near = get_close_matches(str(name), among, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`tables` lists them"
    raise InputError(f"{name!r} is not a table; {hint}")
