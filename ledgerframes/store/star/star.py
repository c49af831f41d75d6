"""`Star`: what the tables of a star schema are made of, in one state of a store; `exporting` writes them.

Facts are read batch by batch. What they name, the dimensions remember, so that each key of a fact has its row there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import StoreError
from ledgerframes.paging.window import Window
from ledgerframes.store.coverage import Interval, merged
from ledgerframes.store.lake import View
from ledgerframes.store.read.reading import Part, batches_of
from ledgerframes.store.star import facts
from ledgerframes.store.star.computed import Computed
from ledgerframes.store.star.dimension_rows import (
    date_rows,
    party_rows,
    round_rows,
    synchronizer_rows,
    template_rows,
    validator_rows,
)
from ledgerframes.store.star.dimensions import Days, Dimensions, whole_days
from ledgerframes.store.star.key_index import KeyIndex
from ledgerframes.store.star.keys import Keys, days_of
from ledgerframes.store.star.modelled import Modelled
from ledgerframes.store.table_sets import HISTORY, VERDICTS
from ledgerframes.tables.kinds import INT64, TEXT, TIME
from ledgerframes.tables.rounds_and_rewards import ROUND_HISTORY
from ledgerframes.tables.star import STAR

_OF_VERDICTS: Final = ("fact_verdicts", "bridge_verdict_party")
_OF_BEGIN: Final = ("fact_balances_daily", "fact_supply_daily")
#: Of which computed table a fact is made.
_COMPUTED: Final = {
    "fact_transfers": "transfers",
    "fact_rewards": "rewards",
    "fact_traffic": "traffic_purchases",
    "fact_mint_burn": "mint_burn",
    "dim_round": "round_history",
}
#: What dim_validator reads of licenses.
_LICENSES: Final = pa.schema(
    {
        **dict.fromkeys(("validator", "sponsor"), TEXT.arrow),
        **dict.fromkeys(("first_round", "last_round", "missed"), INT64.arrow),
        "version": TEXT.arrow,
        "created_at": TIME.arrow,
        "ended_at": TIME.arrow,
    }
)
#: The columns of the table `licenses` as those of the latest licenses of events.
_LISTED: Final = {"coupons_missed": "missed"}
Batches = Iterator[pa.RecordBatch]


class Star:
    """One export of a star; its tables have to be read in the order of `names`, each once.

    Args:
        view: the store's state.
        url: the store, for messages.
        allow_partial: take a history with gaps.
        keys: how keys are computed.

    Raises:
        StoreError: the store has no history.
        PartialResultError: its history has gaps, and these are not allowed.
    """

    def __init__(self, view: View, url: str, *, allow_partial: bool, keys: Keys) -> None:
        if not view.has(HISTORY):
            raise StoreError(f"{url}: there is no history to make a star of; sync it first: store.sync(net)")
        self._view = view
        tables = [*HISTORY.shown, *(VERDICTS.shown if view.has(VERDICTS) else ())]
        self._parts = {name: Part.of(view, name, Window(), allow_partial=allow_partial) for name in tables}
        if "active_contracts" in view.stored:
            self._parts["active_contracts"] = Part.of(view, "active_contracts", Window(), allow_partial=True)
        self._dimensions = Dimensions(keys)
        self._days: set[int] = set()
        self._scratch: Path | None = None

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The tables that this store cannot fill, and why."""
        reasons: dict[str, str] = {}
        if "verdicts" not in self._parts:
            why = 'the store holds no verdicts; sync them with tables=["verdicts"]'
            reasons |= dict.fromkeys(_OF_VERDICTS, why)
        updates = self._parts["updates"]
        if not updates.complete or updates.from_beginning is False:
            why = "the store does not hold the history from ledger begin without a gap, so what was held is not known"
            reasons |= dict.fromkeys(_OF_BEGIN, why)
        return reasons

    @property
    def names(self) -> tuple[str, ...]:
        """The tables, in the order of writing."""
        return tuple(name for name in STAR if name not in self.left_out)

    def begin(self, scratch: Path) -> None:
        """Name a folder for what is needed on the way."""
        self._scratch = scratch / "star"
        self._scratch.mkdir()

    def reach(self, name: str) -> tuple[Interval, ...]:
        """The part of the history that a table was made of."""
        if name in _COMPUTED:
            return tuple(self._computed.reach(_COMPUTED[name]))
        return merged(self._view.slots_of(VERDICTS if name in _OF_VERDICTS else HISTORY).common)

    def close(self) -> None:
        """Close what is open; a star that could not be written has not opened all of it."""
        opened = self.__dict__
        for each in (*opened.get("_indexes", ()), *filter(None, [opened.get("_modelled")])):
            each.close()

    @property
    def not_understood(self) -> dict[str, int]:
        """How often something could not be read, once all tables are written."""
        return self._modelled.not_understood()

    def sources(self) -> dict[str, Callable[[], pa.RecordBatchReader]]:
        """What gives the rows of each table when its turn comes."""
        made: dict[str, Callable[[], Batches]] = {
            "fact_updates": self._updates,
            "fact_events": self._events,
            "bridge_event_party": partial(self._read, "bridge_event_party", facts.event_parties),
            "fact_transfers": partial(self._computed_rows, "fact_transfers", self._dated(facts.transfer_rows)),
            "fact_rewards": partial(self._computed_rows, "fact_rewards", facts.reward_rows),
            "fact_traffic": partial(self._computed_rows, "fact_traffic", self._dated(facts.traffic_rows)),
            "fact_mint_burn": partial(self._computed_rows, "fact_mint_burn", facts.mint_burn_rows),
            "fact_verdicts": partial(self._read, "fact_verdicts", self._dated(facts.verdict_rows)),
            "bridge_verdict_party": partial(self._read, "bridge_verdict_party", facts.verdict_parties),
            "fact_balances_daily": lambda: self._modelled.balances(self._own_days()),
            "fact_supply_daily": lambda: self._modelled.supply(self._own_days()),
            "fact_licenses_daily": lambda: self._modelled.licenses(self._own_days()),
            "dim_validator": self._validators,
            "dim_round": self._rounds,
            "dim_template": lambda: template_rows(self._dimensions),
            "dim_synchronizer": lambda: synchronizer_rows(self._dimensions),
            "dim_party": lambda: party_rows(self._dimensions, self._modelled.parties()),
            "dim_date": lambda: date_rows(self._dimensions),
        }
        return {name: partial(_reader, name, made[name]) for name in self.names}

    @cached_property
    def _folder(self) -> Path:
        assert self._scratch is not None
        return self._scratch

    @cached_property
    def _indexes(self) -> tuple[KeyIndex, KeyIndex]:
        updates, events = (KeyIndex(self._folder / name, name) for name in ("fact_updates", "fact_events"))
        return updates, events

    @cached_property
    def _modelled(self) -> Modelled:
        return Modelled(self._parts, self._computed, self._dimensions)

    @cached_property
    def _computed(self) -> Computed:
        return Computed(self._view, self._folder / "lake")

    def _own_days(self) -> Days:
        """The days of the history that daily tables have rows for."""
        return whole_days(np.array(sorted(self._days), np.int64))

    def _dated(self, make: Callable[[Any, Dimensions, KeyIndex], pa.RecordBatch]) -> Any:
        """Rows that need the updates that were exported."""

        def made(rows: pa.RecordBatch, dimensions: Dimensions) -> pa.RecordBatch:
            return make(rows, dimensions, self._indexes[0])

        return made

    def _stored(self, name: str, columns: Any) -> Batches:
        part = self._parts[name]
        return iter(batches_of(part.table, part.data, part.rows, columns))

    def _read(self, name: str, make: Callable[[Any, Dimensions], pa.RecordBatch]) -> Batches:
        table, columns = facts.READS[name]
        for rows in self._stored(table, columns):
            yield make(rows, self._dimensions)

    def _updates(self) -> Batches:
        index = self._indexes[0]
        for rows in self._read("fact_updates", facts.update_rows):
            index.add(rows["update_key"], rows["record_time"].cast(pa.int64()))
            self._days.update(pc.unique(days_of(rows["record_time"])).to_pylist())
            yield rows
        index.finish()

    def _events(self) -> Batches:
        index = self._indexes[1]
        for rows in self._stored(*facts.READS["fact_events"]):
            made = facts.event_rows(rows, self._dimensions)
            index.add(made["event_key"])
            yield made
        index.finish()

    def _computed_rows(self, name: str, make: Callable[[Any, Dimensions], pa.RecordBatch]) -> Batches:
        table = self._computed.table(_COMPUTED[name])
        for rows in batches_of(table, table.dataset(), None, table.table.names):
            yield make(rows, self._dimensions)

    def _rounds(self) -> Batches:
        table = self._computed.table("round_history")
        rows = batches_of(table, table.dataset(), None, ROUND_HISTORY.names).read_all()
        return round_rows(self._dimensions, rows.sort_by("round"))

    def _validators(self) -> Batches:
        latest = self._modelled.latest_licenses(_LICENSES)
        return validator_rows(self._dimensions, latest, self._listed(_LICENSES))

    def _listed(self, schema: pa.Schema) -> pa.Table:
        """The licenses that snapshots list, in the columns of those of the events."""
        if "licenses" not in self._view.stored:
            return schema.empty_table()
        part = Part.of(self._view, "licenses", Window(), allow_partial=True)
        columns = ("validator", "sponsor", "first_round", "last_round", "coupons_missed", "version", "created_at")
        rows = batches_of(part.table, part.data, part.rows, columns).read_all()
        rows = rows.rename_columns([_LISTED.get(name, name) for name in rows.column_names])
        rows = rows.append_column("ended_at", pa.nulls(rows.num_rows, schema.field("ended_at").type))
        return rows.select(schema.names).cast(schema)


def _reader(name: str, make: Callable[[], Batches]) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(STAR[name].schema, make())
