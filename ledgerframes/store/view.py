"""`View`: the tables of a store in one state; whatever reads or checks a lake is given one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ledgerframes.decoding.personal import LEFT_OUT
from ledgerframes.errors import InputError
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_log import Slots, claims
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.read.personal import LEFT_OUT_OF_IT, PROPERTY
from ledgerframes.store.table_sets import HISTORY, KNOWN_BY, NETWORK, TableSet


@dataclass(frozen=True)
class View:
    """The tables of a store in one state.

    Attributes:
        tables: by name, including those that do not exist.
    """

    tables: Mapping[str, DeltaStoreTable]

    @property
    def covered(self) -> tuple[Interval, ...]:
        """What all three tables of the update history cover."""
        return self.slots.common

    @property
    def slots(self) -> Slots:
        """What the tables of the update history cover."""
        return self.slots_of(HISTORY)

    def slots_of(self, tables: TableSet) -> Slots:
        """What the tables of one set cover."""
        if tables.name not in self._slots:
            self._slots[tables.name] = Slots.read([self.tables[name] for name in tables.order])
        return self._slots[tables.name]

    @cached_property
    def _slots(self) -> dict[str, Slots]:
        return {}

    def has(self, tables: TableSet) -> bool:
        """Whether all tables of a set exist."""
        return set(tables.order) <= set(self.stored)

    def left_out(self, name: str) -> tuple[str, ...]:
        """The personal data that a table was created without, for provenance."""
        return (LEFT_OUT,) if self.tables[name].property(PROPERTY) == LEFT_OUT_OF_IT else ()

    def to_show(self, *, personal: bool) -> None:
        """Refuse to show personal data that is not stored.

        Raises:
            InputError: personal data is asked for, and the store was created without it.
        """
        if personal and any(map(self.left_out, self.versions)):
            raise InputError("personal=True: this store was made without personal data; leave personal out")

    @property
    def versions(self) -> dict[str, int]:
        """The version of each table that exists."""
        return {name: table.version for name, table in self.tables.items() if table.version is not None}

    @property
    def stored(self) -> dict[str, DeltaStoreTable]:
        """The tables that exist."""
        return {name: table for name, table in self.tables.items() if table.version is not None}


def network_of(tables: Iterable[DeltaStoreTable]) -> dict[str, str]:
    """The properties that tell which network tables belong to, of the first of them that names it."""
    named = next((table for table in tables if table.property(NETWORK) is not None), None)
    known = {} if named is None else {name: named.property(name) for name in (NETWORK, KNOWN_BY)}
    return {name: value for name, value in known.items() if value is not None}


def lost(tables: Mapping[str, DeltaStoreTable], of: TableSet) -> list[str]:
    """The tables of a history that are missing although others of it hold rows.

    While the first sync creates them, some are missing for a moment beside others that are empty.
    """
    own = [tables[name] for name in of.order if name in tables]
    if len(own) < len(of.order) or not any(map(claims, (table for table in own if table.exists))):
        return []
    return [table.name for table in own if not table.exists]
