"""`CoinSpool`: what each party holds at the end of each day, from coins as the events begin and end them.

A coin may end long after it began, so begins and ends meet by contract, part by part; the changes that follow are
then summed by party, part by part.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import EXACT, narrow, wide
from ledgerframes.economics.reading.models import AMULET, COINS, LOCKED_AMULET, Amulet, LockedAmulet
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import columns_of, kinds_of
from ledgerframes.store.star.dimensions import Days, Dimensions
from ledgerframes.store.star.keys import days_of
from ledgerframes.store.star.spool import Spool, first_of_each
from ledgerframes.tables.coin_stocks import COIN_HISTORY
from ledgerframes.tables.kinds import AMOUNT, TIME
from ledgerframes.tables.star_facts import FACT_BALANCES_DAILY, FACT_SUPPLY_DAILY

_WIDE: Final = pa.decimal256(70, 10)
_BEGIN: Final = pa.schema(
    {
        "contract_id": pa.string(), "record_time": TIME.arrow, "party": pa.int64(), "amount": AMOUNT.arrow,
        "locked": pa.bool_(),
    }
)  # fmt: skip
_END: Final = pa.schema({"contract_id": pa.string(), "record_time": TIME.arrow})
_CHANGE: Final = pa.schema({"party": pa.int64(), "day": pa.int64(), "unlocked": _WIDE, "locked": _WIDE})
_NEEDED: Final = ("contract_id", "record_time", "template_name", "payload")
_ROWS: Final = 65_536
_ZERO: Final = Decimal(0)
_COINS: Final = {
    AMULET: (Amulet, {"owner": lambda coin: coin.owner, "amount": lambda coin: coin.amount.initial}),
    LOCKED_AMULET: (
        LockedAmulet,
        {"owner": lambda coin: coin.amulet.owner, "amount": lambda coin: coin.amulet.amount.initial},
    ),
}


class CoinSpool:
    """The coins that events and assignments begin and end.

    Args:
        folder: for files; made here.
        dimensions: parties are members of it.
        notes: where coins that cannot be read are counted.
    """

    def __init__(self, folder: Path, dimensions: Dimensions, notes: NotUnderstood) -> None:
        folder.mkdir()
        self._dimensions = dimensions
        self._notes = notes
        self._begins = Spool(folder / "begins", _BEGIN)
        self._ends = Spool(folder / "ends", _END)
        self._changes = Spool(folder / "changes", _CHANGE)
        self._supply: pa.Table = _CHANGE.empty_table().drop_columns(["party"])

    def add_events(self, events: pa.Table) -> None:
        """Take the creates and consuming exercises of coins."""
        coins = events.filter(pc.fill_null(pc.is_in(events["template_name"], pa.array(COINS, pa.string())), False))  # noqa: FBT003
        self._add(coins.filter(pc.equal(coins["event_type"], "created_event")))
        ends = coins.filter(pc.fill_null(coins["consuming"], False)).select(_END.names)  # noqa: FBT003
        self._ends.add(ends, self._dimensions.keys.of(ends["contract_id"]))

    def add_legs(self, legs: pa.Table) -> None:
        """Take the coins that an assignment shows."""
        self._add(legs.filter(pc.fill_null(pc.equal(legs["kind"], "assignment"), False)))  # noqa: FBT003

    def finish(self) -> None:
        """Let begins and ends meet."""
        self._begins.finish()
        self._ends.finish()
        for part in range(len(self._begins)):
            changes = _changes(self._begins.part(part), self._ends.part(part))
            for start in range(0, changes.num_rows, _ROWS):
                rows = changes.slice(start, _ROWS)
                self._changes.add(rows, rows["party"].combine_chunks())
            self._supply = _summed(pa.concat_tables([self._supply, changes.drop_columns(["party"])]), ["day"])
        self._changes.finish()

    def balances(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_balances_daily.

        Args:
            days: the days that have rows; each change lies on one of them.
        """
        for part in range(len(self._changes)):
            changes = _summed(self._changes.part(part), ["party", "day"])
            if changes.num_rows:
                yield from self._of_part(changes.sort_by([("party", "ascending"), ("day", "ascending")]), days)

    def supply(self, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of fact_supply_daily."""
        changes = self._supply.sort_by("day")
        places = np.searchsorted(changes["day"].to_numpy(), days, side="right") - 1
        sums = _running(changes, np.zeros(changes.num_rows, np.int64))
        for start in range(0, len(days), _ROWS):
            own = pa.array(places[start : start + _ROWS], mask=places[start : start + _ROWS] < 0)
            amounts = {name: pc.fill_null(narrow(cells.take(own)), _ZERO) for name, cells in sums.items()}
            rows = {"date_key": self._dimensions.day(pa.array(days[start : start + _ROWS], pa.int64())), **amounts}
            yield pa.record_batch(list(rows.values()), schema=FACT_SUPPLY_DAILY.schema)

    def _add(self, coins: pa.Table) -> None:
        for template, (shape, values) in _COINS.items():
            own = coins.filter(pc.equal(coins["template_name"], template)).select(_NEEDED)
            if not own.num_rows:
                continue
            rows = columns_of(own, "payload", shape, kinds_of(COIN_HISTORY), values, self._notes)
            party = self._dimensions.party(rows["owner"], rows["record_time"])
            locked = pa.repeat(pa.scalar(template == LOCKED_AMULET), rows.num_rows)
            columns = [rows["contract_id"], rows["record_time"], party, rows["amount"], locked]
            begins = pa.table(columns, schema=_BEGIN)
            self._begins.add(begins, self._dimensions.keys.of(begins["contract_id"]))

    def _of_part(self, changes: pa.Table, days: Days) -> Iterator[pa.RecordBatch]:
        """The rows of some parties: a change holds until the next one, and coin that is gone has no further rows."""
        parties = changes["party"].to_numpy()
        sums = _running(changes, parties)
        first = np.searchsorted(days, changes["day"].to_numpy())
        last = np.append(parties[1:] != parties[:-1], True)
        until = np.where(last, len(days), np.append(first[1:], 0))
        gone = pc.and_(pc.equal(sums["unlocked"], _ZERO), pc.equal(sums["locked"], _ZERO))
        lengths = np.where(gone.to_numpy(zero_copy_only=False), 1, until - first)
        for rows, places in _spread(first, lengths):
            own = pa.array(rows)
            columns = [
                self._dimensions.day(pa.array(days[places], pa.int64())),
                changes["party"].take(own).combine_chunks(),
                *(narrow(cells.take(own)) for cells in sums.values()),
            ]
            yield pa.record_batch(columns, schema=FACT_BALANCES_DAILY.schema)


def _changes(begins: pa.Table, ends: pa.Table) -> pa.Table:
    """What coins add to, and take from, the holdings of their owners, by day."""
    begins = first_of_each(begins.sort_by("record_time"), "contract_id")
    ends = first_of_each(ends.sort_by("record_time"), "contract_id")
    ended = ends["record_time"].take(pc.index_in(begins["contract_id"], ends["contract_id"]))
    # An update of a later migration may have an earlier time; a coin does not end before it begins.
    ended = pc.if_else(pc.less(ended, begins["record_time"]), begins["record_time"], ended)
    parts = [_change(begins, begins["record_time"], 1), _change(begins, ended, -1)]
    return _summed(pa.concat_tables(parts), ["party", "day"])


def _change(coins: pa.Table, times: Any, sign: int) -> pa.Table:
    amounts = wide(coins["amount"])
    signed = amounts if sign > 0 else pc.negate(amounts)
    zero = pa.scalar(_ZERO, _WIDE)
    columns = [
        coins["party"],
        days_of(times),
        pc.if_else(coins["locked"], zero, signed),
        pc.if_else(coins["locked"], signed, zero),
    ]
    rows = pa.table(columns, schema=_CHANGE)
    return rows.filter(pc.is_valid(rows["day"]))


def _summed(changes: pa.Table, by: list[str]) -> pa.Table:
    sums = changes.group_by(by).aggregate([("unlocked", "sum"), ("locked", "sum")])
    columns = {name: sums[name] for name in by} | {name: wide(sums[f"{name}_sum"]) for name in ("unlocked", "locked")}
    return pa.table(columns)


def _running(changes: pa.Table, groups: Any) -> dict[str, pa.Array]:
    """Unlocked, locked and total after each change, from 0 for each group."""
    found: dict[str, list[Decimal]] = {"unlocked": [], "locked": [], "total": []}
    sums, group = (_ZERO, _ZERO), None
    cells = zip(groups.tolist(), changes["unlocked"].to_pylist(), changes["locked"].to_pylist(), strict=True)
    for own, unlocked, locked in cells:
        before = sums if own == group else (_ZERO, _ZERO)
        sums, group = (EXACT.add(before[0], unlocked), EXACT.add(before[1], locked)), own
        for name, value in zip(found, (*sums, EXACT.add(*sums)), strict=True):
            found[name].append(value)
    return {name: pa.array(values, _WIDE) for name, values in found.items()}


def _spread(first: Any, lengths: Any) -> Iterator[tuple[Any, Any]]:
    """For each row as many places from its first as its length says, some at a time."""
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    for start in range(0, int(bounds[-1]), _ROWS):
        numbers = np.arange(start, min(start + _ROWS, int(bounds[-1])))
        rows = np.searchsorted(bounds, numbers, side="right") - 1
        yield rows, first[rows] + numbers - bounds[rows]
