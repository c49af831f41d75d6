"""`loss_of`: whether a table differs from the state in which it was left: gone, shorter, or with other rows."""

from __future__ import annotations

from dataclasses import dataclass

from ledgerframes.store.delta.listing import Named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.tables import DERIVED_TABLES
from ledgerframes.store.table_sets import set_of


@dataclass(frozen=True)
class Loss:
    """A table that differs from the state in which it was left.

    Attributes:
        table: the table's name.
        named: the state in which it was left.
        version: the last version in its log; None if there is no log.
        rows: the rows of that state according to the log; None if that state is gone.
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
        """The number of entries missing at the end of the log."""
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
                f"entries of the log of {self.table!r} are damaged: it lists {self.rows:,} rows, and was left with"
                f" {self.named.rows:,}. store.repair() removes what is in doubt"
            )
        return f"{what}, {_again(self.table)}; or restore its folder from a copy"


def _again(name: str) -> str:
    if set_of(name) is not None:
        return "and the next sync fills it"
    if name in DERIVED_TABLES:
        return "and the next derive computes it again"
    return "and its lost rows cannot be recovered"


def loss_of(table: DeltaStoreTable, named: Named) -> Loss | None:
    """Compare a table with the state in which it was left; None if nothing is missing.

    Args:
        table: in that state, or returned to it by a later commit.
        named: the state in which it was left.
    """
    version = table.version
    if version is None or version < named.version:
        return Loss(table.name, named, version)
    rows = table.state().rows
    return None if rows == named.rows else Loss(table.name, named, version, rows)
