"""Gathers what updates mint and burn, entry by entry; `mint_burn` sums the entries of each update."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

import pyarrow as pa

from ledgerframes.economics.amounts import amounts
from ledgerframes.tables.coin_flows import BURNED, MINTED
from ledgerframes.tables.kinds import AMOUNT, TIME

#: The columns that entries fill.
COLUMNS: Final = tuple(column.name for column in (*MINTED, *BURNED))
_ZERO: Final = Decimal(0)
Cells = dict[str, Decimal | None]


@dataclass
class Entries:
    """What updates mint and burn so far, and the round that each states first."""

    _cells: dict[str, Cells] = field(default_factory=lambda: defaultdict(dict))
    _times: dict[str, datetime] = field(default_factory=dict)
    _rounds: dict[str, int] = field(default_factory=dict)

    def add(self, update: str, time: datetime, values: Cells, number: int | None = None) -> None:
        """Add to an update's columns.

        Args:
            update: its id.
            time: its record time.
            values: by column; one that is not known makes the column's sum unknown.
            number: the round that it used.
        """
        cells = self._cells[update]
        for name, value in values.items():
            before = cells.get(name, _ZERO)
            cells[name] = None if value is None or before is None else before + value
        self._times[update] = time
        if number is not None:
            self._rounds.setdefault(update, number)

    def table(self) -> pa.Table:
        """One row per update: its columns."""
        used = {name for cells in self._cells.values() for name in cells}
        columns: dict[str, pa.Array] = {"update_id": pa.array(list(self._cells), pa.string())}
        for name in COLUMNS:
            values = (cells.get(name, _ZERO) for cells in self._cells.values()) if name in used else None
            zeros = pa.repeat(pa.scalar(_ZERO, AMOUNT.arrow), len(self._cells))
            columns[name] = zeros if values is None else amounts(values)
        return pa.table(columns)

    def times(self) -> pa.Table:
        """The record time of each update."""
        kinds = {"update_id": pa.string(), "record_time": TIME.arrow}
        listed = {"update_id": list(self._times), "record_time": list(self._times.values())}
        return pa.table({name: pa.array(listed[name], kind) for name, kind in kinds.items()})

    def rounds(self) -> pa.Table:
        """The round of each update that states one."""
        names, numbers = list(self._rounds), list(self._rounds.values())
        return pa.table({"update_id": pa.array(names, pa.string()), "round": pa.array(numbers, pa.int64())})
