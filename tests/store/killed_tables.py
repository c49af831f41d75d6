"""The two histories that `kills` fills stores with: which tables, what the truth is, and what a reader must not see."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

import ledgerframes as lf
from ledgerframes.sandbox.world.verdicts import events_of
from ledgerframes.sandbox.world.world import Update
from tests.store.appearing import Appearing
from tests.store.conftest import BEGIN, assert_whole, by_value

Place = tuple[int, int]

#: Of one state of the store: what is there in part, or twice.
_TORN: Final = """
with held as (select update_id, count(*) as held, count(distinct event_id) as apart from events group by update_id),
moved as (select update_id, count(*) as held from reassignments group by update_id)
select coalesce(updates.update_id, held.update_id, moved.update_id) as update_id,
    updates.kind, updates.event_count, held.held, held.apart, moved.held as moved
from updates full join held using (update_id)
    full join moved on moved.update_id = coalesce(updates.update_id, held.update_id)
where updates.update_id is null or held.held <> held.apart
    or coalesce(held.held, 0) <> if(updates.kind = 'transaction', updates.event_count, 0)
    or coalesce(moved.held, 0) <> (updates.kind <> 'transaction')::int
union all select update_id, 'twice', count(*), null, null, null from updates group by update_id having count(*) > 1
"""
#: Of one state of the store: the rows of each request, by table.
_ROWS: Final = """
with own as (select update_id, count(*) as verdicts from verdicts group by update_id),
seen as (select update_id, count(*) as views, count(distinct view_id) as apart from views group by update_id),
active as (select update_id, count(*) as activity from app_activity group by update_id)
select coalesce(own.update_id, seen.update_id, active.update_id) as update_id, coalesce(verdicts, 0) as verdicts,
    coalesce(views, 0) as views, coalesce(apart, 0) as apart, coalesce(activity, 0) as activity
from own full join seen using (update_id)
    full join active on active.update_id = coalesce(own.update_id, seen.update_id)
"""


@dataclass(frozen=True)
class KilledTables:
    """What a store is filled with.

    Attributes:
        index: the table with one row per item.
        tables: what `sync` is asked for.
        places: migration and record time of every item that there is in the end, by its id.
        torn: the items of a store that are there in part or twice, for those that there are.
        assert_whole: holds a store against the truth.
    """

    index: str
    tables: list[str]
    places: Callable[[Sequence[Update]], dict[str, Place]]
    torn: Callable[[lf.types.Store, Sequence[Update]], pd.DataFrame]
    assert_whole: Callable[[lf.types.Store, lf.types.Network, Appearing], None]


def _updates_whole(store: lf.types.Store, net: lf.types.Network, ledger: Appearing) -> None:
    assert_whole(store, net)
    _events_whole(store, ledger)


def _updates_whole_by_value(store: lf.types.Store, net: lf.types.Network, ledger: Appearing) -> None:
    assert_whole(store, net, form=by_value)
    _events_whole(store, ledger)


def _events_whole(store: lf.types.Store, ledger: Appearing) -> None:
    events = store.load("events", columns=["update_id", "event_id"]).groupby("update_id").event_id.agg(set).to_dict()
    assert {one: events.get(one, set()) for one in store.load("updates").update_id} == ledger.event_ids()


def _verdict_places(truth: Sequence[Update]) -> dict[str, Place]:
    return {
        event.update_id: (event.migration_id, event.record_time)
        for update in truth
        for event in events_of(update)
        if event.rejected or b'"events_by_id"' in update.rendered
    }


def _counts(truth: Sequence[Update]) -> dict[str, tuple[int, int, int, int]]:
    """The rows that each request has, read from the items themselves: verdicts, views, again by id, and activity."""
    items = [json.loads(event.body) for update in truth for event in events_of(update)]
    return {
        item["verdict"]["update_id"]: (
            1, *(len(item["verdict"]["transaction_views"]["views"]),) * 2,
            len((item["app_activity_records"] or {"records": ()})["records"]),
        )
        for item in items
        if item["verdict"]
    }  # fmt: skip


def _verdicts_torn(store: lf.types.Store, truth: Sequence[Update]) -> pd.DataFrame:
    counts, found = _counts(truth), store.sql(_ROWS, allow_partial=True)
    rows: Any = found[["verdicts", "views", "apart", "activity"]].itertuples(index=False, name=None)
    wrong = [tuple(row) != counts.get(one, row) for one, row in zip(found.update_id, rows, strict=True)]
    return found[wrong]


def _verdicts_whole(store: lf.types.Store, net: lf.types.Network, ledger: Appearing) -> None:
    keys = {"verdicts": ["update_id"], "views": ["update_id", "view_id"], "app_activity": ["update_id", "party"]}
    loaded = lf.load_verdicts(net, start=BEGIN, progress=False)
    for name, key in keys.items():
        stored, wanted = store.load(name), getattr(loaded, name)
        # Servers name other times of finalization than each other; here all serve one ledger.
        pd.testing.assert_frame_equal(
            stored.sort_values(key, ignore_index=True), wanted.sort_values(key, ignore_index=True)
        )
    assert set(store.load("verdicts").update_id) == _verdict_places(ledger.truth).keys()


UPDATES: Final = KilledTables(
    "updates",
    ["updates"],
    lambda truth: {update.update_id: (update.migration_id, update.record_time) for update in truth},
    lambda store, _truth: store.sql(_TORN, allow_partial=True),
    _updates_whole,
)
#: The same, where objects may have given some of the rows.
FROM_OBJECTS: Final = replace(UPDATES, assert_whole=_updates_whole_by_value)
VERDICTS: Final = KilledTables("verdicts", ["verdicts"], _verdict_places, _verdicts_torn, _verdicts_whole)
