"""`Star`: the tables of a star schema over one state of a store, each a model; `exporting` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import StoreError
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import Engine
from ledgerframes.paging.cursor import Window
from ledgerframes.store.coverage import Interval, merged
from ledgerframes.store.delta.data_files import windows
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.derive.kept_rows import derived_data
from ledgerframes.store.read.model_inputs import gives_of, known_of
from ledgerframes.store.read.reading import Part, folders_of
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, VERDICTS
from ledgerframes.tables.star import STAR

_OF_VERDICTS: Final = ("fact_verdicts", "bridge_verdict_party")
#: The tables that need all of the history from ledger begin.
OF_BEGIN: Final = ("fact_balances_daily", "fact_supply_daily", "mart_validator_daily")
#: The derived tables that facts are made from: their kept rows are read where they match the history.
_DERIVED: Final = ("transfers", "token_transfers", "rewards", "traffic_purchases", "mint_burn")
#: The tables whose rows each come from one row of a stored table, in whose order they are.
_ROW_BY_ROW: Final = {
    "fact_updates": "updates",
    "fact_events": "events",
    "bridge_event_party": "events",
    "bridge_verdict_party": "verdicts",
}
#: How many of these are in memory at once.
_AT_ONCE: Final = 200_000
#: Templates of active contracts that name more about parties than the events of a range.
_OF_PARTIES: Final = [
    template
    for name in ("name_service_entries", "governance_members", "featured_rights")
    for template in READS[name].templates
]
#: The models for which a star reports what they could not read.
_COUNTED: Final = ("holding_days", "license_states", "party_facts")


class Star:
    """One export of a star.

    Args:
        root: the store's state.
        url: the store, for messages.
        allow_partial: accept a history with gaps.
        key_bits: the number of bits per key; fewer than 63 make collisions likely, for tests.

    Raises:
        StoreError: the store has no history.
        PartialResultError: its history has gaps, and they are not allowed.
    """

    def __init__(self, root: Root, url: str, *, allow_partial: bool, key_bits: int = 63) -> None:
        if not root.has(HISTORY):
            raise StoreError(f"{url}: there is no history to make a star of; sync it first: store.sync(net)")
        self.url = url
        self._root = root
        tables = [*HISTORY.shown, *(VERDICTS.shown if root.has(VERDICTS) else ())]
        self._parts = {name: Part.of(root, name, Window(), allow_partial=allow_partial) for name in tables}
        self._gives = gives_of(root, allow_partial=allow_partial)
        if root.shown("active_contracts").exists:
            contracts = Part.of(root, "active_contracts", Window(), allow_partial=True).dataset
            self._gives["opening"] = lambda *_: contracts.filter(pc.field("template_name").isin(_OF_PARTIES))
        kept = {name: derived_data(root, name) for name in _DERIVED}
        self._derived = {name: data for name, data in kept.items() if data is not None}
        # How much of the beginning the updates prove.
        self._known = known_of(root, self._parts["updates"])
        self._settings = {"key_shift": 64 - key_bits}

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The tables that this store cannot fill, and why."""
        reasons: dict[str, str] = {}
        if "verdicts" not in self._parts:
            why = "the store has no verdicts; a sync that names this table stores them"
            reasons |= dict.fromkeys(_OF_VERDICTS, why)
        if not self._known["begun"]:
            why = "the store does not hold the history from ledger begin without a gap, so what was there is not known"
            reasons |= dict.fromkeys(OF_BEGIN, why)
        return reasons

    @property
    def names(self) -> tuple[str, ...]:
        """The tables, in the order of writing."""
        return tuple(name for name in STAR if name not in self.left_out)

    def reach(self, name: str) -> tuple[Interval, ...]:
        """The part of the history that a table was made from."""
        return merged(self._root.coverage_of(VERDICTS if name in _OF_VERDICTS else HISTORY).common)

    def close(self) -> None:
        """Close the database, if it was opened."""
        if "_engine" in self.__dict__:
            self._engine.__exit__()

    @property
    def not_understood(self) -> dict[str, int]:
        """The number of contracts that could not be read, by template."""
        counts: dict[str, int] = {}
        for name in _COUNTED:
            counts |= self._engine.not_understood(name)
        return counts

    def sources(self) -> dict[str, Callable[[], pa.RecordBatchReader]]:
        """The source of each table's rows, opened when its turn comes."""
        return {name: partial(self._reader, name) for name in self.names}

    @cached_property
    def _engine(self) -> Engine:
        engine = Engine(self._gives | {name: lambda *_, data=data: data for name, data in self._derived.items()})
        engine.set({**self._known, **self._settings})
        return engine

    def _reader(self, name: str) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(STAR[name].schema, self._batches(name))

    def _batches(self, name: str) -> Iterator[pa.RecordBatch]:
        schema, kept = STAR[name].schema, map(self._root.shown, self._derived)
        with damage_named([*kept, *(part.table for part in self._parts.values())]):
            self._check_keys(name)
            for engine in self._engines(name):
                reader = engine.interruptible(partial(engine.batches, name), name)
                while (rows := engine.interruptible(partial(next, reader, None), name)) is not None:
                    columns = [rows[field.name].cast(field.type) for field in schema]
                    yield pa.record_batch(columns, schema=schema)

    def _engines(self, name: str) -> Iterator[Engine]:
        """The engine for a table, or one for each part of what it has the rows of, which are too many to be sorted."""
        if name not in _ROW_BY_ROW:
            yield self._engine
            return
        source = self._parts[_ROW_BY_ROW[name]]
        for folder in folders_of(source.data, source.rows):
            for rows in windows(folder, source.rows, _AT_ONCE):
                part = folder.filter(rows)
                with Engine({source.table.name: lambda *_, part=part: part}) as engine:
                    engine.set(self._settings)
                    yield engine

    def _check_keys(self, name: str) -> None:
        """Refuse two rows with the same key; those of bridges differ if their facts and parties do.

        Raises:
            StoreError: there are two.
        """
        if name.startswith("bridge_"):
            return
        key = STAR[name].key
        twice = self._engine.interruptible(lambda: self._engine.repeated(name, key), name)
        if twice is not None:
            raise StoreError(
                f"{name}: the key {', '.join(map(str, twice))} occurs twice, so relations would mix two rows, and"
                " nothing was exported. Run store.check(), which finds a row that is stored twice; if it finds none,"
                " two natural keys have the same key: export the tables without model=, and report this, since it is"
                " not expected to happen"
            )
