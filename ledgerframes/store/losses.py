"""`losses_of`: which tables are not as they were left: gone, shorter, or with other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import KEPT
from ledgerframes.store.lake_file import Named
from ledgerframes.store.table_sets import set_of


@dataclass(frozen=True)
class Loss:
    """A table that is not as it was left.

    Attributes:
        table: the table's name.
        named: how it was left.
        version: the version that its log shows; None where there is no log.
        rows: how many rows its log shows in the state that was left; None where that state is gone.
    """

    table: str
    named: Named
    version: int | None = None
    rows: int | None = None

    @property
    def gone(self) -> bool:
        """Whether there is no log at all."""
        return self.version is None

    @property
    def shorter(self) -> int:
        """How many entries the log lacks at its end."""
        return 0 if self.version is None else max(self.named.version - self.version, 0)

    def __str__(self) -> str:
        if self.gone:
            what = f"the table {self.table!r} is missing: its log is lost. store.repair() makes it again, empty"
        elif self.shorter:
            what = (
                f"entries of the log of {self.table!r} are lost: it ends with version {self.version}, and was left at"
                f" {self.named.version}. store.repair() makes it sound"
            )
        else:
            what = (
                f"entries of the log of {self.table!r} are damaged: it lists other files than it was left with, and"
                f" {self.rows:,} rows where {self.named.rows:,} were. store.repair() takes what is in doubt out"
            )
        return f"{what}, {_again(self.table)}; or restore its folder from a copy"


def _again(name: str) -> str:
    if set_of(name) is not None:
        return "and the next sync fills it"
    if name in KEPT:
        return "and the next derive computes it again"
    return "and what was lost of it cannot be had again"


def losses_of(
    tables: Mapping[str, DeltaStoreTable],
    named: Mapping[str, Named],
    at_least: Mapping[str, int],
    table_of: Callable[[str], DeltaStoreTable] | None,
) -> Iterator[Loss]:
    """The losses of some tables, as last opened.

    Args:
        tables: by name.
        named: how they were left.
        at_least: versions that they have to have.
        table_of: opens those that have gone on since in the state that was left; None skips these.
    """
    for name, table in tables.items():
        left, version = named.get(name, Named()), table.version
        newest = max(left.version, at_least.get(name, -1))
        if newest >= 0 and (version is None or version < newest):
            yield Loss(name, replace(left, version=newest), version)
            continue
        if version is None or left.version < 0:
            continue
        if version > left.version and table_of is None:
            continue
        then = table if version == left.version or table_of is None else table_of(name).as_of(left.version)
        if (state := state_of(then)) != left:
            yield Loss(name, left, version, state.rows)


def state_of(table: DeltaStoreTable) -> Named:
    """The state in which a table was opened."""
    size = table.size()
    return Named(size["version"], size["rows"], table.listed_as())
