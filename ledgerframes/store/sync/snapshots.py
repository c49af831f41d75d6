"""Snapshot tables in a store: a loader's rows with their source and time of loading; `run_sync` appends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.errors import InputError
from ledgerframes.loaders.holdings import load_holdings_summary
from ledgerframes.loaders.snapshots import (
    load_instruments,
    load_licenses,
    load_name_entries,
    load_name_rules,
    load_transfer_offers,
    load_transfer_preapprovals,
    load_users,
)
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.kinds import INT64, TEXT, TIME
from ledgerframes.tables.table import Column, Table

if TYPE_CHECKING:
    from ledgerframes.network import Network

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

_LOADERS: Final[Mapping[str, Callable[..., Any]]] = {
    "holdings_summary": load_holdings_summary,
    "licenses": load_licenses,
    "instruments": load_instruments,
    "name_entries": load_name_entries,
    "name_rules": load_name_rules,
    "transfer_offers": load_transfer_offers,
    "transfer_preapprovals": load_transfer_preapprovals,
    "users": load_users,
}
_BY_PARTY: Final = frozenset({"holdings_summary", "transfer_preapprovals"})
#: The tables that a store keeps as snapshots.
SNAPSHOTS: Final = (*_LOADERS, ACTIVE_CONTRACTS.name)


def snapshot_table(name: str) -> Table:
    """A snapshot table as a store keeps it: its key includes source and time of loading."""
    table = CATALOGUE[name].having()
    # `extra` stays the last column, as in every table.
    own = _OF_SNAPSHOT if name == ACTIVE_CONTRACTS.name else ()
    shared = [column for column in table.columns[:-1] if column.name != "source"]
    columns = (*shared, *own, *_ADDED, table.columns[-1])
    return replace(table, columns=columns, key=tuple(dict.fromkeys((*table.key, "source", "loaded_at"))))


def check_snapshots(names: Sequence[str], parties: Sequence[str] | None) -> None:
    """Refuse tables that cannot be loaded, before anything is sent.

    Raises:
        InputError: parties are needed and missing, or given and not used.
    """
    needing = [name for name in names if name in _BY_PARTY]
    if needing and not parties:
        raise InputError(f"tables={needing}: these are read party by party; give parties=[...]")
    if parties and not needing:
        raise InputError(
            f"parties= is for {' and '.join(sorted(_BY_PARTY))}, which are read party by party, and tables= names"
            " none of them; other tables are synced whole, so leave parties= out"
        )


def load_snapshot(net: Network, name: str, parties: Sequence[str] | None) -> pa.RecordBatch:
    """Load the current rows of a table, with the columns that a store keeps."""
    arguments = [parties] if name in _BY_PARTY else []
    table = snapshot_table(name)
    loaded: pa.Table = _LOADERS[name](net, *arguments, as_="arrow")
    now = pa.scalar(time.time_ns() // 1000, pa.timestamp("us", "UTC"))
    supplied = {"loaded_at": now}
    # Instruments have their own column for the registry.
    if "source" not in loaded.column_names:
        supplied["source"] = pa.scalar(_source_of(loaded), pa.string())
    columns = [
        pa.repeat(supplied[name], loaded.num_rows) if name in supplied else loaded[name].combine_chunks()
        for name in table.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _source_of(loaded: pa.Table) -> str:
    import json

    return str(json.loads(loaded.schema.metadata[b"ledgerframes"])["source"])
