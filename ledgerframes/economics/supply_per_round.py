"""`supply_per_round`: what the updates of each round minted and burned, and the supply after them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_whole
from ledgerframes.economics.coins import active_coins
from ledgerframes.economics.form import from_opening, given
from ledgerframes.economics.mint_burn import flows_of, total_of
from ledgerframes.economics.reading.amounts import narrow, summed, total, wide
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.parsing import column
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.economics.rounds import OPENINGS, Rounds, rounds_of
from ledgerframes.frames import As, Decimals
from ledgerframes.tables.coin_flows import BURNED, MINTED
from ledgerframes.tables.coin_stocks import SUPPLY_PER_ROUND
from ledgerframes.tables.history import EVENTS
from ledgerframes.tables.kinds import TIME

_SUMS = ("minted", "burned", "net_change", "unexplained")


@from_opening
def supply_per_round(events: Any, *, opening: Any = None, as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Sum what the updates of each round mint and burn, with the supply after them.

    An update that states no round, such as an expiry of newer releases, counts for the last round that had opened by
    then; `attrs["without_round"]` counts updates for which no round is known, which are in no row.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them, or
            `"nothing"` if there were none; without it `total` is null, unless the events begin at ledger begin.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row per round, by number, with the columns of `lf.describe("supply_per_round")`: amounts in coin, times in
        UTC. Null is not known.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: `opening` is given and the events have a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     rounds = lf.supply_per_round(lf.load_events(net))
        >>> bool((rounds.net_change == rounds.minted - rounds.burned).all())
        True
    """
    source, notes = source_of_events(events), NotUnderstood()
    flows, known = flows_of(source, opening, notes), rounds_of(source, opening, notes, OPENINGS)
    placed = pa.table(
        {
            "round": _rounds(flows, known),
            "minted": narrow(total_of(flows, tuple(column.name for column in MINTED))),
            "burned": narrow(total_of(flows, tuple(column.name for column in BURNED))),
            "net_change": flows["net_change"],
            "unexplained": flows["unexplained"],
        }
    )
    lost = placed["round"].null_count
    sums = summed(placed.filter(pc.is_valid(placed["round"])), "round", _SUMS).sort_by("round")
    numbers = sums["round"].to_pylist()
    opened = [known.cells.get(number, {}).get("opened_at") for number in numbers]
    kind = SUPPLY_PER_ROUND.schema.field("opened_at").type
    data = {name: narrow(sums[name]) for name in _SUMS} | {"round": sums["round"], "opened_at": column(opened, kind)}
    data["total"] = _totals(source, opening, sums["net_change"])
    return given(
        pa.table(data), SUPPLY_PER_ROUND, source, notes, as_=as_, decimals=decimals, without_round=lost
    )  # fmt: skip


def _rounds(flows: pa.Table, known: Rounds) -> Any:
    """The round of each update: its own, else the latest that had opened by then, else the latest that was used."""
    opened = [(cells.get("opened_at") or cells.get("opens_at"), number) for number, cells in known.cells.items()]
    points = sorted((time, number) for time, number in opened if time is not None)
    times, numbers = pa.array([time for time, _ in points], TIME.arrow), np.array([one for _, one in points], np.int64)
    if not points:
        used = flows.filter(pc.is_valid(flows["round"])).sort_by([("record_time", "ascending"), ("round", "ascending")])
        times, numbers = used["record_time"].combine_chunks(), used["round"].to_numpy()
    if not len(numbers):
        return flows["round"]
    recorded = flows["record_time"].cast(pa.int64()).to_numpy()
    places = np.searchsorted(times.cast(pa.int64()).to_numpy(), recorded, side="right") - 1
    # What is recorded before all known rounds belongs to the first of them.
    return pc.coalesce(flows["round"], pa.array(numbers[np.maximum(places, 0)]))


def _totals(source: Source, opening: Any, changes: pa.ChunkedArray) -> pa.Array:
    """The supply after each round; null where it is not known."""
    begun = source.attrs.get("from_beginning", False) is not False
    if opening is None and not begun:
        return narrow(pa.nulls(len(changes), changes.type))
    check_whole(source.proof, name="events", opening=opening)
    # Of no events: what is active then is the opening.
    nothing = Source(EVENTS.schema.empty_table())
    earlier = active_coins(nothing, opening, None, NotUnderstood())
    first = pa.scalar(total(earlier["amount"]), changes.type)
    sums, running = [], first.as_py()
    for change in changes.to_pylist():
        running = None if running is None or change is None else running + change
        sums.append(running)
    return narrow(wide(pa.array(sums, changes.type)))
