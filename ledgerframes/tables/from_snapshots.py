"""Tables of licenses, instruments and fees that `ledgerframes.models` computes from snapshots, and what they read."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ledgerframes.tables.contracts import LICENSES
from ledgerframes.tables.kinds import AMOUNT, BOOL, DURATION, INT64, TEXT, TIME
from ledgerframes.tables.snapshots import HOLDINGS_SUMMARY, INSTRUMENTS
from ledgerframes.tables.table import Column, Table, computed

_LOADED_AT: Final = Column("loaded_at", TIME, "When the snapshot was taken; null for a single load.", True)
#: Tables that models read in addition to a history; a lake's tables record when each of their snapshots was loaded.
SNAPSHOTS_READ: Final = {
    "licenses": replace(LICENSES, columns=(*LICENSES.having().columns, _LOADED_AT)),
    "instruments": replace(INSTRUMENTS, columns=(*INSTRUMENTS.columns, _LOADED_AT)),
    "holdings_summary": HOLDINGS_SUMMARY,
    "known_rounds": Table(
        "known_rounds",
        "One row per round whose time is known.",
        ("round",),
        (
            Column("round", INT64, "Number of the round.", unit="rounds"),
            Column("opens_at", TIME, "When it opened."),
        ),
    ),
}


def _of(table: Table, *names: str) -> tuple[Column, ...]:
    """Columns of a loaded table, unchanged."""
    return tuple(replace(column, source=column.name) for column in table.take(*names))


LICENSE_GROWTH: Final = computed(
    "license_growth",
    "One row per period from the first new validator to the last, also those without one.",
    ("time",),
    (
        Column("time", TIME, "Begin of the period, in UTC.", source="record_time of first licenses, or first_round"),
        Column("new", INT64, "Validators that began in it.", unit="validators", source="validator of licenses"),
        Column("validators", INT64, "Validators that began so far.", unit="validators", source="new"),
    ),
)

LICENSE_ACTIVITY: Final = computed(
    "license_activity",
    "One row per validator, those never active first, then by how long ago.",
    ("validator",),
    (
        *_of(LICENSES, "validator", "sponsor", "version", "last_active_at"),
        Column("silent_for", DURATION, "How long ago it was active; null for one never active.", True,
               source="last_active_at"),
        Column("active", BOOL, "Whether that is within the requested time; null for one never active.", True,
               source="silent_for"),
        *_of(LICENSES, "coupons_missed"),
    ),
    of="licenses",
)  # fmt: skip

LICENSE_VERSIONS: Final = computed(
    "license_versions",
    "One row per version that validators run, the most frequent first.",
    ("version",),
    (
        replace(*_of(LICENSES, "version"), meaning="Version; null where it is not known."),
        Column("validators", INT64, "Validators that run it.", unit="validators", source="validator"),
        Column("share", AMOUNT, "Their share of those counted, 1 being all, to ten places.", source="validators"),
    ),
    of="licenses",
)

INSTRUMENT_SUPPLY: Final = computed(
    "instrument_supply",
    "One row per instrument and time at which its supply was computed; those without a supply are left out.",
    ("instrument_admin", "instrument_id", "time"),
    (
        *_of(INSTRUMENTS, "instrument_admin", "instrument_id", "symbol"),
        Column("time", TIME, "When the supply was computed; where the registry does not say, when it was loaded.", True,
               source="total_supply_as_of, else loaded_at"),
        replace(*_of(INSTRUMENTS, "total_supply"), nullable=False),
        Column("change", AMOUNT, "Increase since the previous time; null for the first.", True, "instrument",
               "total_supply less that of the time before"),
    ),
    of="instruments",
)  # fmt: skip

HOLDING_FEES: Final = computed(
    "holding_fees",
    "Two rows per row of a holdings summary: the party's unlocked and locked holdings, and the notional fees of both.",
    ("record_time", "migration_id", "computed_as_of_round", "party_id", "lock"),
    (
        *_of(HOLDINGS_SUMMARY, "record_time", "migration_id", "computed_as_of_round", "party_id"),
        Column("lock", TEXT, "unlocked or locked.", source="the amount's name"),
        Column("holdings", AMOUNT, "Coin at reception.", True, "coin", "total_unlocked_coin or total_locked_coin"),
        Column("notional_fees", AMOUNT, "Fees that are charged only when a contract expires; null where they are not"
               " stated.", True, "coin", "accumulated_holding_fees_unlocked or accumulated_holding_fees_locked"),
    ),
    of="summary",
)  # fmt: skip

TABLES: Final = (LICENSE_GROWTH, LICENSE_ACTIVITY, LICENSE_VERSIONS, INSTRUMENT_SUPPLY, HOLDING_FEES)
