"""`LicenseDays`: the license of each validator at the end of each day, and the latest of all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.licenses import GONE, License
from ledgerframes.economics.reading.models import LICENSE
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of, kinds_of
from ledgerframes.store.star.dimensions import Days, Dimensions
from ledgerframes.store.star.keys import days_of
from ledgerframes.tables.kinds import TEXT, TIME
from ledgerframes.tables.star_facts import FACT_LICENSES_DAILY
from ledgerframes.tables.table import Column, Table

#: What is read of a license.
_STATE: Final = Table(
    "licenses",
    "",
    (),
    (),
    (
        Column("validator", TEXT, "Party of the licensed validator."),
        Column("sponsor", TEXT, "Party that sponsored the license."),
        *(column for column in FACT_LICENSES_DAILY.columns if not column.name.endswith("_key")),
    ),
)
_VALUES: Final[dict[str, Any]] = {
    "validator": lambda own: own.validator,
    "sponsor": lambda own: own.sponsor,
    "first_round": lambda own: None if own.faucet is None else own.faucet.first.number,
    "last_round": lambda own: None if own.faucet is None else own.faucet.last.number,
    "missed": lambda own: None if own.faucet is None else own.faucet.missed,
    "version": lambda own: None if own.metadata is None else own.metadata.version,
}
_NEEDED: Final = ("contract_id", "template_name", "migration_id", "record_time", "node_index", "created_at", "payload")
_ORDER: Final = ("migration_id", "record_time", "node_index")
#: Rows that wait until only the last of each day and validator is kept.
_WAITING: Final = 200_000


class LicenseDays:
    """The licenses that events create and end; in memory is one row per validator and day with a new license.

    Args:
        dimensions: validators are members of it.
        notes: where licenses that cannot be read are counted.
    """

    def __init__(self, dimensions: Dimensions, notes: NotUnderstood) -> None:
        self._dimensions = dimensions
        self._notes = notes
        self._parts: list[pa.Table] = []
        self._waiting = 0
        self._gone: dict[str, Any] = {}

    def add_events(self, events: pa.Table) -> None:
        """Take the licenses that are created, cancelled and withdrawn."""
        own = events.filter(pc.fill_null(pc.equal(events["template_name"], LICENSE), False))  # noqa: FBT003
        created = own.filter(pc.equal(own["event_type"], "created_event")).select(_NEEDED)
        if created.num_rows:
            rows = columns_of(created, "payload", License, kinds_of(_STATE), _VALUES, self._notes)
            self._parts.append(rows.append_column("day", days_of(rows["record_time"])))
            self._waiting += rows.num_rows
            if self._waiting > _WAITING:
                self._parts, self._waiting = [_last_of_each(self._parts)], 0
        ended = own.filter(pc.fill_null(pc.is_in(own["choice"], pa.array(GONE)), False))  # noqa: FBT003
        times = ended["record_time"].cast(pa.int64())
        self._gone.update(zip(ended["contract_id"].to_pylist(), times.to_pylist(), strict=True))

    def rows(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_licenses_daily; a license holds until the next one of its validator, or its end."""
        if not self._parts:
            return
        states = _last_of_each(self._parts).sort_by([("day", "ascending"), ("validator", "ascending")])
        keys = self._dimensions.validator(states["validator"])
        own, validators = states["day"].to_numpy(), keys.to_numpy()
        gone = np.array(
            [self._gone.get(contract_id, 2**63 - 1) for contract_id in states["contract_id"].to_pylist()], np.int64
        )
        last = days_of(pa.array(gone, pa.int64()).cast(pa.timestamp("us"))).to_numpy()
        held: dict[int, int] = {}
        for day in days.tolist():
            for row in range(*np.searchsorted(own, [day, day + 1]).tolist()):
                held[int(validators[row])] = row
            rows = [row for row in held.values() if last[row] > day]
            held = {int(validators[row]): row for row in rows}
            if rows:
                yield self._batch(day, states.take(pa.array(rows)), keys.take(pa.array(rows)))

    def latest(self) -> pa.Table:
        """The latest license of each validator, with the time of its end."""
        rows = _last_of_each(self._parts, by=["validator"]) if self._parts else None
        schema = pa.schema(
            [*_STATE.schema.remove_metadata(), pa.field("created_at", TIME.arrow), pa.field("ended_at", TIME.arrow)]
        )
        if rows is None:
            return schema.empty_table()
        ended = [self._gone.get(contract) for contract in rows["contract_id"].to_pylist()]
        rows = rows.append_column("ended_at", pa.array(ended, pa.int64()).cast(TIME.arrow))
        return rows.select(schema.names).cast(schema)

    def _batch(self, day: int, rows: pa.Table, keys: pa.Array) -> pa.RecordBatch:
        days = self._dimensions.day(pa.repeat(pa.scalar(day, pa.int64()), rows.num_rows))
        columns = [rows[name].combine_chunks() for name in ("first_round", "last_round", "missed", "version")]
        return pa.record_batch([days, keys, *columns], schema=FACT_LICENSES_DAILY.schema)


def _last_of_each(parts: list[pa.Table], by: list[str] | None = None) -> pa.Table:
    """The last license of each day and validator."""
    rows = pa.concat_tables(parts).sort_by([(name, "ascending") for name in _ORDER])
    groups = by or ["day", "validator"]
    numbered = rows.select(groups).append_column("place", pa.array(range(rows.num_rows), pa.int64()))
    return rows.take(numbered.group_by(groups).aggregate([("place", "max")])["place_max"])
