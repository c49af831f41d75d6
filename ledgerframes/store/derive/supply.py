"""`supply_rows`: the supply per round from the stored tables of rounds and of minting and burning, batch by batch."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.economics.reading.amounts import narrow, summed, wide
from ledgerframes.store.delta.damage import damage_named
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.tables.coin_flows import BURNED, MINTED
from ledgerframes.tables.coin_stocks import SUPPLY_PER_ROUND
from ledgerframes.tables.kinds import TIME

_SUMS: Final = ("minted", "burned", "net_change", "unexplained")
_MINTED: Final = tuple(column.name for column in MINTED)
_BURNED: Final = tuple(column.name for column in BURNED)
_COLUMNS: Final = ("record_time", "round", *_MINTED, *_BURNED, "net_change", "unexplained")


def supply_rows(flows: DeltaStoreTable, rounds: DeltaStoreTable, *, begun: bool) -> pa.Table:
    """The rows of `supply_per_round`.

    Only a batch of the updates is in memory at a time, and the sums of the rounds.

    Args:
        flows: the stored `mint_burn`.
        rounds: the stored `round_history`.
        begun: whether they begin at ledger begin; the total is not known otherwise.
    """
    with damage_named([flows, rounds]):
        known = rounds.dataset().to_table(
            columns=["round", "opened_at", "opens_at", "summarizing_at", "amulet_price_usd"]
        )
        times, numbers = _points(known, flows)
        sums = None
        for batch in flows.dataset().to_batches(columns=list(_COLUMNS)):
            part = _sums(pa.Table.from_batches([batch]), times, numbers)
            sums = part if sums is None else summed(pa.concat_tables([sums, part]), "round", _SUMS)
    schema = SUPPLY_PER_ROUND.schema.remove_metadata()
    if sums is None:
        return schema.empty_table()
    sums = sums.sort_by("round")
    places = pc.index_in(sums["round"], known["round"])
    opened, summarizing, price = (
        known[name].take(places) for name in ("opened_at", "summarizing_at", "amulet_price_usd")
    )
    columns = {name: narrow(sums[name]) for name in _SUMS} | {"round": sums["round"], "opened_at": opened}
    columns["amulet_price_usd"] = price
    columns["whole"] = pc.and_(pc.is_valid(opened), pc.is_valid(summarizing))
    changes = columns["net_change"]
    columns["total"] = narrow(wide(_running(changes))) if begun else pa.nulls(len(changes), changes.type)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _points(known: pa.Table, flows: DeltaStoreTable) -> tuple[Any, Any]:
    """When each round opened, in order; of updates that state one, where no round is known."""
    times = pc.coalesce(known["opened_at"], known["opens_at"])
    points = pa.table({"time": times, "number": known["round"]}).filter(pc.is_valid(times))
    if not points.num_rows:
        used = flows.dataset().to_table(columns=["record_time", "round"], filter=pc.field("round").is_valid())
        points = used.rename_columns(["time", "number"]).cast(pa.schema({"time": TIME.arrow, "number": pa.int64()}))
    points = points.sort_by([("time", "ascending"), ("number", "ascending")])
    return points["time"].cast(pa.int64()).to_numpy(), points["number"].to_numpy()


def _sums(rows: pa.Table, times: Any, numbers: Any) -> pa.Table:
    """The sums of some updates by round; an update without any round is in none."""
    placed = rows["round"]
    if len(times):
        at = np.searchsorted(times, rows["record_time"].cast(pa.int64()).to_numpy(), side="right") - 1
        # What is recorded before all known rounds belongs to the first of them.
        placed = pc.coalesce(placed, pa.array(numbers[np.maximum(at, 0)], pa.int64()))
    columns = {
        "round": placed, "minted": _row_sums(rows, _MINTED), "burned": _row_sums(rows, _BURNED),
        "net_change": wide(rows["net_change"]), "unexplained": wide(rows["unexplained"]),
    }  # fmt: skip
    counted = pa.table(columns)
    return summed(counted.filter(pc.is_valid(counted["round"])), "round", _SUMS)


def _row_sums(rows: pa.Table, names: tuple[str, ...]) -> Any:
    """The sum of columns, row by row; null if one is."""
    sums = wide(rows[names[0]])
    for name in names[1:]:
        sums = wide(pc.add(sums, wide(rows[name])))
    return sums


def _running(changes: Any) -> pa.Array:
    """The sum up to each row; null from the first null on."""
    sums, running = [], None
    for place, change in enumerate(changes.to_pylist()):
        running = change if not place else None if running is None or change is None else running + change
        sums.append(running)
    return pa.array(sums, changes.type)
