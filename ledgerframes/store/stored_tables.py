"""`STORED`, `declared`: the tables that a lake can have, as it keeps them; all of `store` uses it."""

from __future__ import annotations

from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.store.derive.tables import DERIVED_TABLES, function_of
from ledgerframes.store.sync.snapshots import SNAPSHOTS, snapshot_table
from ledgerframes.store.sync.sync_log import SYNCS
from ledgerframes.store.table_sets import SETS
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Table

#: The tables that a store can have.
STORED: Final = (*(name for of in SETS for name in of.shown), REJECTS.name, *SNAPSHOTS, *DERIVED_TABLES)


def declared(name: str) -> Table:
    """A table as the store keeps it.

    Raises:
        InputError: it is not a table, or a store does not keep it.
    """
    if name == SYNCS.name:
        return SYNCS
    known = name if isinstance(name, str) else ""  # anything else is refused with a list of the names
    if known in DERIVED_TABLES:
        return DERIVED_TABLES[known]
    if known in COMPUTED:
        raise InputError(f"a store does not keep {name!r}; compute it with {function_of(name)}(store)")
    table_named(name, CATALOGUE | COMPUTED)
    if name not in STORED:
        raise InputError(f"a store does not keep {name!r}; it keeps {', '.join(STORED)}")
    return snapshot_table(name) if name in SNAPSHOTS else CATALOGUE[name]
