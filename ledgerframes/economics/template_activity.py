"""`template_activity`: creates and exercises by interval, template and choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import duration
from ledgerframes.economics.form import by_interval, given
from ledgerframes.economics.reading.not_understood import NotUnderstood
from ledgerframes.economics.reading.seen_parties import Intervals, Seen, coded, party_events
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.frames import As, Decimals
from ledgerframes.paging.window import Duration
from ledgerframes.tables.kinds import TIME
from ledgerframes.tables.network_activity import TEMPLATE_ACTIVITY


@by_interval
def template_activity(
    events: Any, *, every: Duration = "1D", as_: As = "pandas", decimals: Decimals | None = None
) -> Any:
    """Count creates, exercises and archives by interval, template and choice, and the parties in them.

    Args:
        events: events of `load_events`, a `History` or a `Store`.
        every: the length of the intervals, which begin at its multiples (of days: at midnight in UTC).
        as_: `"pandas"`, `"arrow"` or `"polars"`.
        decimals: how pandas holds amounts; this table has none.

    Returns:
        One row per interval, template and choice, in this order, with the columns of
        `lf.describe("template_activity")`. Creates are in the row whose choice is null. Events without a template, or
        of a kind that this version does not know, are counted in `attrs["not_understood"]`.

    Raises:
        InputError: an argument is not valid, or columns are missing.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     activity = lf.template_activity(lf.load_events(net), every="1min")
        >>> bool((activity.archives <= activity.exercises).all())
        True
    """
    source, notes, step = source_of_events(events), NotUnderstood(), duration(every, "every")
    rows = party_events(source, "event_type", "choice", "consuming")
    created = pc.equal(rows["event_type"], "created_event")
    known = pc.and_(pc.is_valid(rows["template_name"]), pc.or_(created, pc.is_valid(rows["choice"])))
    known = pc.fill_null(known, False)  # noqa: FBT003
    if not pc.all(known).as_py():
        notes.each(str(kind) for kind in rows.filter(pc.invert(known))["event_type"].to_pylist())
        rows = rows.filter(known)
    created = pc.equal(rows["event_type"], "created_event").to_numpy(zero_copy_only=False)
    ended = pc.fill_null(rows["consuming"], False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    intervals, seen = Intervals.of(rows, step), Seen.of(rows)
    templates, names = coded(rows["template_name"])
    choices, words = coded(rows["choice"])
    keys = (intervals.of_rows * len(names) + templates) * len(words) + choices
    groups, places = np.unique(keys, return_inverse=True)
    places, count = places.astype(np.int64).reshape(-1), len(groups)
    rest, choice = np.divmod(groups, len(words))
    interval, template = np.divmod(rest, len(names))
    data = pa.table(
        {
            "time": pa.array(intervals.starts[interval], pa.int64()).cast(TIME.arrow),
            "template_name": pa.array([names[name] for name in template], pa.string()),
            "choice": pa.array([words[name] for name in choice], pa.string()),
            "creates": _counted(places, count, created),
            "exercises": _counted(places, count, ~created),
            "archives": _counted(places, count, ended & ~created),
            "parties": pa.array(seen.distinct(places, count)),
        }
    )
    return given(data, TEMPLATE_ACTIVITY, source, notes, as_=as_, decimals=decimals)


def _counted(places: Any, count: int, which: Any) -> pa.Array:
    return pa.array(np.bincount(places[which], minlength=count).astype(np.int64))
