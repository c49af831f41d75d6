"""Openings: what was active where a range begins is proven, or refused with the line to type."""

import ast
import json
import random
import re
from functools import partial

import httpx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ledgerframes as lf
from ledgerframes.models.openings import stored_opening
from tests.replay import beyond

AMULET = "splice-amulet:Splice.Amulet:Amulet"
US, MINUTE = pd.Timedelta("1us"), pd.Timedelta("1min")
OPENED = (
    *(lf.supply, lf.coin_history, lf.balances_over_time, lf.rewards, lf.mint_burn),
    *(lf.active_contracts, lf.holdings_from_events),
)
#: One that a model gives, and one that is put together from them.
AT = (lf.supply, lf.holdings_from_events)


@pytest.fixture(scope="module")
def times(history):
    return sorted(set(history.updates["record_time"].to_pylist()))


def since(history, start):
    """What `load_history(net, start=start)` returns."""
    parts = []
    for frame in history:
        said = json.loads(frame.schema.metadata[b"ledgerframes"])
        said |= {"from_beginning": False, "start": start.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
        rows = frame.filter(pc.greater_equal(frame["record_time"], pa.scalar(start, pa.timestamp("us", "UTC"))))
        parts.append(rows.replace_schema_metadata({"ledgerframes": json.dumps(said)}))
    return lf.types.History(*parts)


def before(history, time):
    return lf.active_contracts(history, at=time - US, as_="arrow")


@pytest.mark.long(quick=7)
@pytest.mark.parametrize("number", range(200))
def test_an_opening_that_is_shifted_or_thinned_or_without_proof_is_refused(number, history, times):
    chance = random.Random(number)
    start = chance.choice(times[100:-100])
    events, right = since(history, start), before(history, start)
    rows = right.num_rows
    kept = sorted(chance.sample(range(rows), rows - chance.randint(1, 20)))
    wrong = {
        "shifted": lambda: before(history, chance.choice([time for time in times[50:] if time != start])),
        "by a microsecond": lambda: before(history, start + chance.choice([-1, 1]) * US),
        "thinned": lambda: right.take(kept),
        "one for another": lambda: right.take([*kept, *[kept[0]] * (rows - len(kept))]),
        "polars": lambda: pl.from_arrow(right),
        "of a merge": lambda: right.replace_schema_metadata(None),
    }
    name = [*wrong][number % len(wrong)]
    function = OPENED[number % len(OPENED)]
    loader = "load_active_contracts" if function is lf.active_contracts else "load_opening"
    with pytest.raises(lf.errors.InputError, match=rf"opening=lf\.{loader}\(net, at='2025-"):
        function(events, opening=wrong[name]())


def test_an_opening_replayed_or_loaded_and_the_rest_are_the_whole(net, history, times):
    """What is loaded is the snapshot and what followed, of the templates that tables need."""
    flows, supply = lf.mint_burn(history), lf.supply(history)
    holdings = lf.holdings_from_events(history, decimals="exact")
    contracts = sorted(lf.active_contracts(history, as_="arrow").to_pylist(), key=str)
    start = random.Random(4).choice(times[100:-100])
    rest, replayed, loaded = since(history, start), before(history, start), lf.load_opening(net, at=start)
    ids = replayed.filter(pc.is_in(replayed["template_name"], pa.array(loaded.templates)))["contract_id"]
    assert {*loaded.contracts["contract_id"].to_pylist()} == {*ids.to_pylist()}
    for opening in (replayed, loaded):
        assert lf.supply(rest, opening=opening).equals(supply)
    active = lf.active_contracts(rest, opening=replayed, as_="arrow")
    assert sorted(active.to_pylist(), key=str) == contracts
    pd.testing.assert_frame_equal(lf.holdings_from_events(rest, opening=loaded, decimals="exact"), holdings)
    part = lf.mint_burn(rest, opening=replayed)
    assert part.equals(flows[flows.record_time >= start].reset_index(drop=True))
    assert (part.inputs_from == "creates").all()
    assert lf.rewards(rest, opening=loaded).attrs["edges"]["began_before"]["without_create"] == 0

    with pytest.raises(lf.errors.InputError, match="active_contracts needs those of every template"):
        lf.active_contracts(rest, opening=loaded)
    with pytest.raises(lf.errors.InputError, match="no contracts of Some:Template, which active_contracts needs"):
        lf.active_contracts(rest, opening=loaded, template="Some:Template")
    coins = "Splice.Amulet:Amulet"
    active = lf.active_contracts(rest, opening=loaded, template=coins)
    assert {*active.contract_id} == {*lf.active_contracts(history, template=coins).contract_id}
    with pytest.raises(lf.errors.InputError, match=r"events begin at ledger begin.*leave opening= out"):
        lf.supply(history, opening=loaded)


def test_a_snapshot_before_all_that_a_scan_has_kept_opens_nothing():
    times = [f"2026-01-30T0{hour}:30:00.000000Z" for hour in (6, 7, 8)]
    blank = {"workflow_id": "", "synchronizer_id": "s", "root_event_ids": [], "events_by_id": {}, "migration_id": 4}
    kept = [{"update_id": one, "record_time": one, "effective_at": one, **blank} for one in times]

    def answer(request):
        if "snapshot-timestamp" in request.url.path:
            return httpx.Response(200, json={"record_time": "2026-01-30T06:00:00Z"})
        after = json.loads(request.content).get("after")
        return httpx.Response(200, json={"transactions": beyond(kept, after)})

    scan = lf.connect(scan_url="https://scan.example/api/scan", transport=httpx.MockTransport(answer))
    with scan, pytest.raises(lf.errors.PartialResultError, match=r"last snapshot .*06:00.* begins at .*06:30.* pruned"):
        lf.load_opening(scan, at=(4, "2026-01-30T08:00:00Z"))


def test_a_lake_opens_its_own_ranges_as_a_scan_without_snapshots_does(world, tmp_path):
    hour, hour_history, filled = world
    late, start = lf.open_store(tmp_path / "late"), hour_history.updates.record_time[300]
    late.sync(hour, start=start, progress=False)
    loaded = lf.load_opening(hour, at=start)
    with pytest.raises(lf.errors.PartialResultError, match="no update at or after it yet"):
        lf.load_opening(hour, at="2099-01-01")
    # Two migrations run then: what one archives before it, the other may create after it.
    both = lf.migrations(hour).first_record_time[2] + MINUTE / 2
    for source in (hour_history, filled):
        opened = lf.active_contracts(source, at=both - US)
        with pytest.raises(lf.errors.InputError, match="two migrations run"):
            lf.active_contracts(lf.load_history(hour, start=(2, both)), opening=opened)
        cut = lf.active_contracts(source, at=(2, both - US))
        assert lf.active_contracts(lf.load_history(hour, start=(2, both)), opening=cut).contract_id.is_unique
    assert lf.active_contracts(hour_history, at="2025-03-01").attrs["cursor"] is None  # before the first event
    pair = lf.load_opening(hour, at=(2, both))
    since_both = partial(lf.supply, lf.load_history(hour, start=both), opening=pair)
    loads = [partial(load, at=both) for load in (partial(lf.load_opening, hour), partial(stored_opening, filled))]
    for wrong in (*loads, since_both):
        with pytest.raises(lf.errors.InputError, match=r"migration 1\b.* give .*\(2, '2025-"):
            wrong()
    assert lf.supply(lf.load_history(hour, start=(2, both)), opening=pair).equals(lf.supply(filled))
    found = lf.load_opening(filled, at=start)
    rest = lf.types.History(*(filled.load(name, start=start) for name in lf.types.History._fields))

    assert (found.digest, found.cursor) == (loaded.digest, loaded.cursor)
    assert lf.supply(rest, opening=found).equals(lf.supply(filled))
    assert lf.load_opening(filled, at="2025-03-03").rows == 0
    with pytest.raises(lf.errors.PartialResultError, match="net may be a store that begins with the ledger"):
        lf.supply(rest)
    # The line to type has to help here, too: only the network has what came before this lake.
    with pytest.raises(lf.errors.PartialResultError, match=r"give the network, lf\.load_opening\(net, at='2025-"):
        lf.load_opening(late, at=start + MINUTE)
    with pytest.raises(lf.errors.InputError, match="give a network"):
        lf.load_opening(str(tmp_path), at=start)


@pytest.fixture(scope="module")
def snapshot(net):
    """The first snapshot's time and contracts, and the history from that time on."""
    at = min((int(row.migration_id), row.record_time) for row in lf.snapshot_times(net, limit=2).itertuples())
    return at, lf.load_active_contracts(net, at=at), lf.load_history(net, start=at, progress=False)


def test_a_snapshot_is_an_opening_where_its_time_is_in_the_events(net, history, snapshot):
    at, right, rest = snapshot
    coins = lf.load_active_contracts(net, at=at, templates=[AMULET])
    some = lf.load_active_contracts(net, at=at, parties=[right.signatories[0][0]])

    assert lf.supply(rest, opening=right).equals(lf.supply(history))
    with pytest.raises(lf.errors.InputError, match=r"no contracts of Splice\.Amulet:LockedAmulet, which supply needs"):
        lf.supply(rest, opening=coins)
    with pytest.raises(lf.errors.InputError, match="of some parties alone"):
        lf.supply(rest, opening=some)
    with pytest.raises(lf.errors.InputError, match="only a part of the contracts"):
        lf.supply(rest, opening=lf.load_active_contracts(net, at=at, limit=50))


def test_a_range_without_an_opening_is_refused_with_the_line_to_type(net, history, times):
    start = times[len(times) // 2]
    rest = since(history, start)
    for table in OPENED[:3] + OPENED[5:]:
        loader = "load_active_contracts" if table is lf.active_contracts else "load_opening"
        with pytest.raises(lf.errors.PartialResultError, match=rf"opening=lf\.{loader}\(net, at=") as refused:
            table(rest)
        assert "T" in re.search(r"at=(.*?)\)", str(refused.value))[1]

    # Events that do not say where they begin take an opening that ends before them.
    events = pl.from_arrow(rest.events)
    with pytest.raises(lf.errors.PartialResultError, match=r"load_opening\(net, at=\(migration, time\) at which"):
        lf.supply(events)
    assert len(lf.supply(events, opening=lf.load_opening(net, at=start)))


def test_a_stored_snapshot_is_an_opening_where_it_is_one_and_whole(net, history, snapshot, store):
    at, loaded, rest = snapshot
    for row in lf.snapshot_times(net, limit=2).itertuples():
        store.sync(net, tables=["active_contracts"], end=(int(row.migration_id), row.record_time + US))
    one = {"snapshot_record_time": at[1]}
    right = store.load("active_contracts", where=one)

    assert lf.active_contracts(rest, opening=right).equals(lf.active_contracts(rest, opening=loaded))
    assert lf.supply(rest, opening=right).equals(lf.supply(history))
    coins = store.load("active_contracts", where={**one, "template_name": "Splice.Amulet:Amulet"})
    for wrong in (store.load("active_contracts"), coins, right.iloc[1:]):
        with pytest.raises(lf.errors.InputError, match=r"opening=lf\.load_active_contracts\(net, at="):
            lf.active_contracts(rest, opening=wrong)


def test_what_a_refused_opening_says_to_do_works_wherever_the_events_begin(net, snapshot):
    taken, contracts, _ = snapshot
    between = lf.load_history(net, start=(taken[0], taken[1] + 7 * MINUTE), progress=False)
    listed = "lists that time, or load the events with start=a time that it lists"

    with pytest.raises(lf.errors.InputError, match=r"if lf\.snapshot_times\(net\) lists that time, or load") as refused:
        lf.active_contracts(between, opening=contracts)

    start = re.search(r"start=(\(.*?\))$", str(refused.value))[1]
    rest = lf.load_history(net, start=ast.literal_eval(start), progress=False)
    assert len(lf.active_contracts(rest, opening=contracts))
    with pytest.raises(lf.errors.InputError, match=listed):
        lf.active_contracts(between, opening=contracts.iloc[1:])


def test_nothing_is_computed_for_a_time_after_a_range_or_a_lake(net, tmp_path):
    end = lf.load_updates(net, limit=300, progress=False).record_time.max()
    store, whole = lf.open_store(tmp_path / "lake"), {"start": "begin", "progress": False}
    store.sync(net, end=end, progress=False)
    part, *cuts = (
        lf.load_history(net, **whole, **more) for more in ({"end": end}, {"limit": 200}, {"limit": 200, "end": end})
    )
    of_store = lf.types.History(*(store.load(name, end=end - MINUTE) for name in part._fields))
    last = store.coverage().up_to.max()
    # What is given, a time that it reaches, and times that it does not.
    given = [
        (part, end, [end + MINUTE, (99, end)]), *((cut, cut.updates.record_time.max(), [end]) for cut in cuts),
        (of_store, end - MINUTE, [end]), (store, last, [last + MINUTE]),
    ]  # fmt: skip
    assert all(cut.events.attrs["range"].endswith("(where limit= ends it)") for cut in cuts)
    for table in AT:
        for history, reached, later in given:
            assert len(table(history, at=reached)) > 0
            for at in later:
                with pytest.raises(lf.errors.PartialResultError, match="reach up to"):
                    table(history, at=at)


@pytest.mark.parametrize("table", AT)
def test_nothing_is_computed_for_a_time_before_a_range_and_its_opening(history, times, table):
    """Whether the events say where they begin, or the opening alone does."""
    start = times[200]
    opening, stated = before(history, start), since(history, start)
    for rest in (stated, lf.types.History(*(frame.replace_schema_metadata() for frame in stated))):
        assert len(table(rest, opening=opening, at=start - US)) > 0
        for early in (start - 2 * US, times[100], (0, times[100])):
            with pytest.raises(lf.errors.PartialResultError, match=r"before .* is not known, and at=.* is earl"):
                table(rest, opening=opening, at=early)


def test_contracts_of_a_time_after_the_newest_update_are_no_opening_for_what_came_later(net):
    start = lf.load_updates(net, limit=300, progress=False).record_time.max()
    rest = lf.load_history(net, start=start, progress=False)
    early = lf.load_history(net, start="begin", limit=100, progress=False)
    for frame in early:
        del frame.attrs["limit"]  # as if nothing newer had been there
    with pytest.warns(
        lf.errors.IncompleteFiguresWarning, match="the newest update when they were loaded, and at=.* is later"
    ):
        opening = lf.active_contracts(early, at=start - US)
    with pytest.raises(lf.errors.InputError, match="opening= is of"):
        lf.active_contracts(rest, opening=opening)
