"""Gathers what updates mint and burn, entry by entry; `mint_burn` sums the entries of each update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import amounts, summed, wide
from ledgerframes.tables.coin_flows import BURNED, MINTED
from ledgerframes.tables.kinds import AMOUNT, TIME

#: The columns that entries fill.
COLUMNS: Final = tuple(column.name for column in (*MINTED, *BURNED))
_ZERO: Final = Decimal(0)
_IDENTITY: Final = {"update_id": pa.string(), "record_time": TIME.arrow, "round": pa.int64()}
_SCHEMA: Final = pa.schema(_IDENTITY | dict.fromkeys(COLUMNS, wide(pa.array([], AMOUNT.arrow)).type))
Cells = dict[str, Decimal | None]


@dataclass
class Entries:
    """What updates mint and burn so far, and the round that each states first."""

    _tables: list[pa.Table] = field(default_factory=list)
    _rows: list[tuple[str, datetime, Cells, int | None]] = field(default_factory=list)

    def add(self, update: str, time: datetime, values: Cells, number: int | None = None) -> None:
        """Add to an update's columns.

        Args:
            update: its id.
            time: its record time.
            values: by column; one that is not known makes the column's sum unknown.
            number: the round that it used.
        """
        self._rows.append((update, time, values, number))

    def extend(self, rows: Mapping[str, Any]) -> None:
        """Add many entries at once, before any others of their updates.

        Args:
            rows: the columns update_id, record_time and round, and amounts, of which those left out are 0.
        """
        self._tables.append(_in_form(rows, len(rows["update_id"])))

    def table(self) -> pa.Table:
        """One row per update: its columns, wide."""
        return summed(self._all(), "update_id", COLUMNS)

    def times(self) -> pa.Table:
        """The record time of each entry's update."""
        return self._all().select(["update_id", "record_time"])

    def rounds(self) -> pa.Table:
        """The round of each update that states one: the first that it states."""
        rows = self._all().select(["update_id", "round"])
        # In one thread, since only then it is the first.
        firsts = rows.group_by("update_id", use_threads=False).aggregate([("round", "first")])
        firsts = firsts.select(["update_id", "round_first"]).rename_columns(["update_id", "round"])
        return firsts.filter(pc.is_valid(firsts["round"]))

    def _all(self) -> pa.Table:
        if self._rows:
            updates, times, cells, numbers = (list(column) for column in zip(*self._rows, strict=True))
            used = {name for row in cells for name in row}
            columns = {name: amounts(row.get(name, _ZERO) for row in cells) for name in used}
            own = dict(zip(_IDENTITY, (updates, times, numbers), strict=True))
            arrays = {name: pa.array(own[name], kind) for name, kind in _IDENTITY.items()}
            self._rows = []
            self.extend(arrays | columns)
        return pa.concat_tables([_SCHEMA.empty_table(), *self._tables])


def _in_form(rows: Mapping[str, Any], count: int) -> pa.Table:
    zeros = pa.repeat(pa.scalar(0, pa.int64()).cast(_SCHEMA.field(COLUMNS[0]).type), count)
    return pa.table({name: rows.get(name, zeros) for name in _SCHEMA.names}).cast(_SCHEMA)
