"""`active_parties`: how many parties the events of each interval name."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from ledgerframes.arguments import duration
from ledgerframes.economics.form import by_interval, given
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.seen_parties import Intervals, Seen, coded, party_events
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.frames import As, Decimals
from ledgerframes.paging.window import Duration
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.network_activity import ACTIVE_PARTIES


@by_interval
def active_parties(events: Any, *, every: Duration = "1D", as_: As = "pandas", decimals: Decimals | None = None) -> Any:
    """Count the parties that act or are stakeholders in the events of each interval, and the new ones among them.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per interval that has events, in order, with the columns of `lf.describe("active_parties")`:
        `by_template` is JSON. New is a party that no earlier event of these events names.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     active = lf.active_parties(lf.load_events(net), every="1min")
        >>> bool((active.acting <= active.parties).all())
        True
    """
    source, step = source_of_events(events), duration(every, "every")
    rows = party_events(source)
    seen, intervals = Seen.of(rows), Intervals.of(rows, step)
    count = len(intervals.starts)
    data = pa.table(
        {
            "time": pa.array(intervals.starts, pa.int64()).cast(TIME.arrow),
            "parties": pa.array(seen.distinct(intervals.of_rows, count)),
            "acting": pa.array(seen.distinct(intervals.of_rows, count, seen.acting)),
            "new": pa.array(seen.firsts(intervals.of_rows, count)),
            "by_template": pa.array(_by_template(rows, seen, intervals), pa.string()),
        }
    )
    return given(data, ACTIVE_PARTIES, source, NotUnderstood(), as_=as_, decimals=decimals)


def _by_template(rows: pa.Table, seen: Seen, intervals: Intervals) -> list[str]:
    """For each interval a JSON object from template to parties."""
    numbers, templates = coded(rows["template_name"])
    width = len(templates)
    counts = seen.distinct(intervals.of_rows * width + numbers, len(intervals.starts) * width)
    found: list[dict[str, int]] = [{} for _ in intervals.starts]
    for place in np.flatnonzero(counts).tolist():
        template = templates[place % width]
        if template is not None:
            found[place // width][template] = int(counts[place])
    return [msgspec.json.encode(item).decode() for item in found]
