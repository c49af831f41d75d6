"""`supply`: the coin that exists at a time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.coverage import check_whole
from ledgerframes.economics.coins import active_coins
from ledgerframes.economics.form import at_moment, given
from ledgerframes.economics.reading.amounts import amounts, total
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.source import Source, source_of_events
from ledgerframes.frames import As, Decimals
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Bound, bound
from ledgerframes.tables.coin_stocks import SUPPLY
from ledgerframes.tables.kinds import TIME


@at_moment
def supply(
    events: Any, *, opening: Any = None, at: Bound | None = None, as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Sum the coin that exists at a time, unlocked and locked, as received: holding fees are not taken off.

    The difference of two supplies is the sum of `net_change` of `mint_burn` between them.

    Args:
        events: events of `load_events`, a `History` or a `Store`, from ledger begin; see `coins`.
        opening: contracts active before the events, as `load_active_contracts` or `active_contracts` gives them, or
            `"nothing"` if there were none.
        at: count events up to and including this time (in every migration) or pair (migration id, time); all by
            default.
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts: `"object"` (exact), `"arrow"`, `"float"`, `"string"`; by default as the
            events were loaded to hold them, else `"object"`.

    Returns:
        One row with the columns of `lf.describe("supply")`: `at` in UTC (of the last event by default), and unlocked,
        locked and total in coin.

    Raises:
        InputError: an argument is not valid, or columns are missing.
        PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     supply = lf.supply(lf.load_events(net))
        >>> bool((supply.total == supply.unlocked + supply.locked).all())
        True
    """
    source, notes, moment = source_of_events(events), NotUnderstood(), bound(at, "at")
    check_whole(source.proof, name="events", opening=opening)
    rows = active_coins(source, opening, moment, notes)
    sums = [total(rows["amount"].filter(pc.equal(rows["locked"], locked))) for locked in (False, True)]
    data = pa.table(
        {
            "at": pa.array([_time(source, moment)], TIME.arrow),
            "unlocked": amounts(sums[:1]),
            "locked": amounts(sums[1:]),
            "total": amounts([sum(sums)]),
        }
    )
    return given(data, SUPPLY, source, notes, as_=as_, decimals=decimals)


def _time(source: Source, moment: Cursor | int | None) -> Any:
    if isinstance(moment, Cursor):
        return moment.micros
    return moment if moment is not None else pc.max(source.all_rows(("record_time",))["record_time"]).as_py()
