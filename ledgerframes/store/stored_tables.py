"""The tables that a lake can have, as it keeps them; all of `store` uses it.

Those of one history are a `TableSet`, which commits rows and coverage together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ledgerframes.errors import InputError
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, PagedHistory
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.sync.report import SYNCS
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.kinds import INT64, TEXT, TIME
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Column, Table

_ADDED: Final = (
    Column("source", TEXT, "Scheme, host and path of the server that answered.", source="the sync"),
    Column("loaded_at", TIME, "When the snapshot was taken, by the clock of the sync.", source="the sync"),
)

_OF_SNAPSHOT: Final = (
    Column("snapshot_migration_id", INT64, "The snapshot's migration id.", source="migration_id of the answer"),
    Column("snapshot_record_time", TIME, "The snapshot's record time.", source="record_time of the answer"),
    Column(
        "position", INT64, "Place of the contract in its snapshot, from 0, in the server's order.", unit="contracts",
        source="the sync",
    ),
)  # fmt: skip

#: The tables that a store keeps as snapshots: a loader's rows with their source and time of loading.
SNAPSHOTS: Final = (
    "holdings_summary", "licenses", "instruments", "name_entries", "name_rules", "transfer_offers",
    "transfer_preapprovals", "users", ACTIVE_CONTRACTS.name,
)  # fmt: skip
#: The property that identifies a table's network: the network's first migration and update.
NETWORK: Final = "ledgerframes.network"

#: The property with the network's synchronizers and its DSO's party: a scan may prune the first update.
KNOWN_BY: Final = "ledgerframes.known_by"


@dataclass(frozen=True)
class TableSet:
    """The tables of one history in a store, with coverage of their own.

    Attributes:
        name: its name in messages.
        pages: the history that fills the tables.
        first: the property of its tables that names the first item of that history.
    """

    name: str
    pages: PagedHistory
    first: str

    @property
    def order(self) -> tuple[str, ...]:
        """The tables in the order of writing: readers see an item only once everything that belongs to it is stored."""
        return self.pages.tables

    @property
    def index(self) -> str:
        """The table that is written last, with one row per item."""
        return self.pages.index

    @property
    def shown(self) -> tuple[str, ...]:
        """The tables in the order in which people name them, the index first."""
        return tuple(reversed(self.order))


HISTORY: Final = TableSet("history", UPDATE_HISTORY, NETWORK)
# The first event can be a rejected request, which is not in the update history, so it names no network.
VERDICTS: Final = TableSet("verdicts", EVENT_HISTORY, "ledgerframes.first_event")
SETS: Final = (HISTORY, VERDICTS)
#: The tables that a store can have.
STORED: Final = (*(name for of in SETS for name in of.shown), REJECTS.name, *SNAPSHOTS, *DERIVED_TABLES)


def set_of(table: str) -> TableSet | None:
    """The set that a table belongs to; None for snapshots and other tables."""
    return next((tables for tables in SETS if table in tables.order), None)


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
        raise InputError(f"a store does not keep {name!r}; compute it with lf.{name}(store)")
    if known not in STORED:
        table_named(name, CATALOGUE | COMPUTED)
        raise InputError(f"a store does not keep {name!r}; it keeps {', '.join(STORED)}")
    return snapshot_table(name) if name in SNAPSHOTS else CATALOGUE[name]


def snapshot_table(name: str) -> Table:
    """A snapshot table as a store keeps it: its key includes source and time of loading."""
    table = CATALOGUE[name].having()
    # `extra` stays the last column, as in every table.
    own = _OF_SNAPSHOT if name == ACTIVE_CONTRACTS.name else ()
    shared = [column for column in table.columns[:-1] if column.name != "source"]
    columns = (*shared, *own, *_ADDED, table.columns[-1])
    return replace(table, columns=columns, key=tuple(dict.fromkeys((*table.key, "source", "loaded_at"))))
