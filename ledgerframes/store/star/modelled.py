"""`Modelled`: what a star has of the models: holdings and licenses day by day, and what contracts say of parties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa

from ledgerframes.models.engine import Engine
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.read.reading import Part
from ledgerframes.store.star.computed import Computed
from ledgerframes.store.star.dimensions import Days, Dimensions
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS
from ledgerframes.tables.replayed import ACTIVE
from ledgerframes.tables.star import STAR

#: The models of which a star states what they could not read.
_COUNTED: Final = ("holding_days", "license_states", "party_facts")
#: Active contracts say of parties what the events may not reach back to.
_INPUTS: Final = {"events": EVENTS, "reassignments": REASSIGNMENTS, "opening": ACTIVE}


class Modelled:
    """The models of a star, over one state of a store.

    Args:
        parts: the stored tables, by their names.
        computed: the computed ones.
        dimensions: parties and validators are members of it.
    """

    def __init__(self, parts: Mapping[str, Part], computed: Computed, dimensions: Dimensions) -> None:
        self._dimensions = dimensions
        stored = {name: parts.get(table.name) for name, table in _INPUTS.items()}
        rewards = computed.table("rewards")
        self._read = [rewards, *(part.table for part in stored.values() if part is not None)]
        gives = {name: partial(_given, part, _INPUTS[name].schema) for name, part in stored.items()}
        self._engine = Engine({**gives, "rewards": lambda *_: rewards.dataset()})

    def close(self) -> None:
        """Close the database."""
        self._engine.__exit__()

    def balances(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_balances_daily, for these days."""
        for rows in self._batches("balance_days", days):
            party = self._dimensions.party(rows["owner"], rows["first_recorded_at"])
            yield self._of_day("fact_balances_daily", rows, party_key=party)

    def supply(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_supply_daily."""
        for rows in self._batches("supply_days", days):
            yield self._of_day("fact_supply_daily", rows)

    def licenses(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_licenses_daily."""
        for rows in self._batches("license_days", days):
            yield self._of_day("fact_licenses_daily", rows, validator_key=self._dimensions.validator(rows["validator"]))

    def latest_licenses(self, schema: pa.Schema) -> pa.Table:
        """The latest license of each validator, with the time of its end."""
        rows = self._rows("license_states")
        return rows.filter(rows["latest"]).select(schema.names).cast(schema)

    def parties(self) -> dict[str, dict[str, Any]]:
        """What contracts and rewards say of parties: name, is_super_validator and is_featured."""
        return {row.pop("party"): row for row in self._rows("party_facts").to_pylist()}

    def not_understood(self) -> dict[str, int]:
        """How often something could not be read."""
        counts: dict[str, int] = {}
        for name in _COUNTED:
            counts |= self._engine.not_understood(name)
        return counts

    def _rows(self, model: str) -> pa.Table:
        with damage_named(self._read):
            return self._engine.interruptible(lambda: self._engine.rows(model))

    def _batches(self, model: str, days: Days) -> Iterator[pa.RecordBatch]:
        with damage_named(self._read):
            self._engine.set({"days": days.tolist()})
            batches = self._engine.interruptible(lambda: self._engine.batches(model))
            yield from batches

    def _of_day(self, table: str, rows: pa.RecordBatch, **keys: pa.Array) -> pa.RecordBatch:
        made = {"date_key": self._dimensions.day(rows["day"]), **keys}
        schema = STAR[table].schema
        columns = [made[field.name] if field.name in made else rows[field.name].cast(field.type) for field in schema]
        return pa.record_batch(columns, schema=schema)


def _given(part: Part | None, schema: pa.Schema, *_: Any) -> Any:
    """A stored table; one that is not there has no rows."""
    if part is None:
        return schema.empty_table()
    return part.data if part.rows is None else part.data.filter(part.rows)
