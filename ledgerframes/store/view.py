"""`View`: the tables of a store in one state, for everything that reads or checks a lake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ledgerframes.decoding.personal import LEFT_OUT
from ledgerframes.errors import InputError
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_document import Coverage, Document
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.table_sets import HISTORY, TableSet


@dataclass(frozen=True)
class View:
    """The tables of a store in one state.

    Attributes:
        tables: by name, including those that do not exist.
        document: the coverage, and the progress of computed tables.
    """

    tables: Mapping[str, DeltaStoreTable]
    document: Document = field(default_factory=Document)

    @property
    def covered(self) -> tuple[Interval, ...]:
        """The coverage of all three tables of the update history."""
        return self.coverage.common

    @property
    def coverage(self) -> Coverage:
        """The coverage of the update history."""
        return self.coverage_of(HISTORY)

    def coverage_of(self, tables: TableSet) -> Coverage:
        """The coverage of one set of tables."""
        return self.document.coverage(tables.name)

    def has(self, tables: TableSet) -> bool:
        """Whether all tables of a set exist."""
        return set(tables.order) <= set(self.stored)

    def left_out(self, name: str) -> tuple[str, ...]:
        """The personal data that was left out when a table was created, for provenance."""
        return (LEFT_OUT,) if self.tables[name].impersonal else ()

    def to_show(self, *, personal: bool) -> None:
        """Refuse to show personal data that is not stored.

        Raises:
            InputError: personal data is requested, and the store was created without it.
        """
        if personal and any(map(self.left_out, self.versions)):
            raise InputError("personal=True: this store was created without personal data; leave personal out")

    @property
    def versions(self) -> dict[str, int]:
        """The version of each table that exists."""
        return {name: table.version for name, table in self.tables.items() if table.version is not None}

    @property
    def stored(self) -> dict[str, DeltaStoreTable]:
        """The tables that exist."""
        return {name: table for name, table in self.tables.items() if table.version is not None}
