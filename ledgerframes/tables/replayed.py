"""Tables of the state at a moment, computed by replay of the history by `ledgerframes.models`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.kinds import BOOL, INT64, TIME
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY
from ledgerframes.tables.table import Column, computed

_IN_FLIGHT: Final = Column("in_flight", BOOL, "Whether it is on its way between synchronizers.", source="its legs")
_KNOWN: Final = {column.name: column for column in (*REASSIGNMENTS.columns, *EVENTS.columns, _IN_FLIGHT)}

#: Like the loaded table, with the places that snapshots do not state; an opening of `load_active_contracts` has none.
ACTIVE: Final = computed(
    "active_contracts",
    "One row per contract that is active, in the order of creation, and where it is.",
    ("contract_id",),
    tuple(
        replace(_KNOWN[name], nullable=name != "contract_id")
        for name in (
            *("contract_id", "template_id", "template_name", "package_name", "created_at", "signatories", "observers"),
            *("payload", "synchronizer_id", "source_synchronizer", "target_synchronizer", "reassignment_counter"),
            *("in_flight", "migration_id", "record_time"),
        )
    ),
)

_PLACE: Final = (
    Column("record_time", TIME, "The time of the row; null if there are no events and none is given.", True,
           source="the argument `at`, else the last record_time"),
    Column("migration_id", INT64, "Its migration.", source="the argument `at`, else migration_id"),
)  # fmt: skip
_OF_EVENTS: Final = {
    "computed_as_of_round": "the argument `as_of_round`, else the earliest round open then",
    "party_id": "owner of its coins",
    "found": "whether it has coins",
}

HOLDINGS_FROM_EVENTS: Final = computed(
    "holdings_from_events",
    "One row per party: its holdings of the native coin at a moment, and its notional holding fees.",
    ("party_id",),
    (
        *_PLACE,
        *(
            replace(column, source=_OF_EVENTS.get(column.name, "coins that are active, and computed_as_of_round"))
            for column in HOLDINGS_SUMMARY.columns
            if column.name not in {"record_time", "migration_id", "extra"}
        ),
    ),
)
