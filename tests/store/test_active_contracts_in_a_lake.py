"""Snapshots of the active contracts in a store: streamed, resumed, and shown only when they are whole."""

import json
import re
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.benchmarks.memory import snapshot_peak
from tests.loaders.snapshot_scan import created, scan
from tests.store.test_kills import Killing
from tests.transport.hostile_server import HostileServer, answer, text

TABLE = "active_contracts"
SMALL = {"tables": [TABLE], "page_size": 20, "commit_bytes": 40_000, "progress": False}
OWN = ["snapshot_migration_id", "snapshot_record_time", "position", "source", "loaded_at"]


def assert_newest(store, net, **options):
    """The newest stored snapshot is the network's, row by row and in its order."""
    found = store.load(TABLE)
    newest = found[found.loaded_at == found.loaded_at.max()].reset_index(drop=True)
    pd.testing.assert_frame_equal(newest.drop(columns=OWN), lf.load_active_contracts(net, **options))
    assert newest.position.tolist() == list(range(len(newest)))
    return newest


def pages_asked(server):
    return [json.loads(heard.body).get("after") for heard in server.heard if heard.target.endswith("/v2/state/acs")]


def paged(count, size=1, stop=None):
    """Pages of a snapshot; from contract `stop` on the server is busy."""

    def page(after):
        first = int(str(after or 0).removeprefix("token-"))
        if stop is not None and first >= stop:
            return text("busy", 503)
        last = min(first + size, count)
        following = {"next_page_token": f"token-{last}"} if last < count else {}
        return {"created_events": [created(number) for number in range(first, last)], **following}

    return page


def test_a_snapshot_is_stored_as_it_is_loaded(store, net):
    report = store.sync(net, **SMALL)

    newest = assert_newest(store, net)
    assert report.rows == {TABLE: len(newest)}
    assert report.complete
    at = lf.snapshot_times(net, limit=1).iloc[0]
    assert set(newest.snapshot_migration_id) == {at.migration_id}
    assert set(newest.snapshot_record_time) == {at.record_time}
    assert set(newest.source) == {net.sandbox.scan_url}
    assert list(newest.columns[:15]) == list(lf.load_active_contracts(net, limit=1).columns[:15])
    assert store.check(full=True)
    assert store.tables().set_index("table").files[TABLE] > 3


def test_a_snapshot_that_is_stored_is_not_read_again(store):
    with HostileServer(scan(paged(3))) as server, asking(server) as net:
        store.sync(net, **SMALL)
        asked = len(pages_asked(server))
        again = store.sync(net, **SMALL)
        assert (again.rows, again.complete) == ({TABLE: 0}, True)
        assert len(pages_asked(server)) == asked == 3
    assert len(store.syncs()) == 1


def test_end_names_the_snapshot(store, net):
    times = lf.snapshot_times(net, limit=3)
    for at in times.itertuples(index=False):
        for end in (at.record_time + pd.Timedelta("1us"), (at.migration_id, at.record_time + pd.Timedelta("1us"))):
            store.sync(net, **SMALL, end=end)
    found = store.load(TABLE)

    assert found.loaded_at.nunique() == 3
    assert list(found.drop_duplicates("loaded_at").snapshot_record_time) == list(times.record_time)
    for at in times.itertuples(index=False):
        own = found[found.snapshot_record_time == at.record_time]
        wanted = lf.load_active_contracts(net, at=(at.migration_id, at.record_time))
        assert list(own.contract_id) == list(wanted.contract_id)
    with pytest.raises(lf.errors.NotFoundError, match="no snapshot"):
        store.sync(net, **SMALL, end="2000-01-01")


def test_a_range_of_active_contracts_is_one_of_snapshot_times(store, net):
    times = lf.snapshot_times(net, limit=2).sort_values("record_time")
    for at in times.itertuples():
        store.sync(net, tables=["active_contracts"], end=at.record_time + pd.Timedelta("1us"), progress=False)
    whole, (first, second) = store.load("active_contracts"), times.record_time
    by_time = whole.groupby("snapshot_record_time").size()
    for part, wanted in (
        ({"start": first}, len(whole)),
        ({"start": second}, by_time[second]),
        ({"end": second}, by_time[first]),
        ({"last": "1s"}, by_time[second]),
        ({"start": first, "end": first + pd.Timedelta("1us")}, by_time[first]),
    ):
        assert len(store.load("active_contracts", **part)) == wanted > 0
    assert store.scan("active_contracts", start=second).count_rows() == by_time[second]
    with pytest.raises(lf.errors.PartialResultError, match="what is stored ends at"):
        store.load("active_contracts", start="2100-01-01")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("instants", [[3], [0], [6], [3, 0, 3, 4]], ids=str)
def test_a_killed_sync_is_resumed(tmp_path, net, instants):
    """Before (0) its first commit nothing is there; after (1) and later, what is there is not shown as whole."""
    killing = Killing(tmp_path, Random(1))
    options = {name: value for name, value in SMALL.items() if name != "progress"}
    for instant in instants:
        assert killing.run([net.sandbox.scan_url], options, instant, of="root")
    store = lf.open_store(tmp_path / "lake")
    assert store.check()
    if instants == [0]:
        begun = pd.DataFrame({"loaded_at": []})
        with pytest.raises(lf.errors.StoreError, match="has no active_contracts"):
            store.load(TABLE, allow_partial=True)
    else:
        with pytest.raises(lf.errors.PartialResultError, match=r"not whole.*resumes where it stopped"):
            store.load(TABLE)
        begun = store.load(TABLE, allow_partial=True)
        assert begun.attrs["complete"] is False
        assert begun.position.tolist() == list(range(len(begun))) != []

    report = store.sync(net, **SMALL)

    newest = assert_newest(store, net)
    assert report.rows == {TABLE: len(newest) - len(begun)}
    assert len(store.load(TABLE)) == len(newest)
    assert {*begun.loaded_at} <= {*newest.loaded_at}
    assert store.check(full=True)


def test_a_snapshot_under_way_is_hidden_beside_a_whole_one(store):
    with HostileServer(scan(paged(4))) as server, asking(server) as net:
        store.sync(net, **SMALL)
    later = {"record_time": "2026-01-30T09:00:00Z"}
    busy = pytest.raises(lf.errors.ServerError)
    with HostileServer(scan(paged(9, 2, stop=4), place=later)) as server, asking(server, attempts=1) as net, busy:
        store.sync(net, **SMALL)

    whole, everything = store.load(TABLE), store.load(TABLE, allow_partial=True)
    assert (len(whole), whole.attrs["complete"]) == (4, True)
    assert (len(everything), everything.attrs["complete"]) == (8, False)
    assert store.scan(TABLE).count_rows() == 4
    assert store.sql(f"select count(*) as n from {TABLE}").n[0] == 4
    assert store.sql(f"select count(*) as n from {TABLE}", allow_partial=True).n[0] == 8
    assert len(store.dask(TABLE)) == 4
    (file,) = store.export(store._lake.folder.parent / "out", tables=[TABLE]).files
    assert pq.read_table(file).num_rows == 4
    check = store.check()
    assert check
    assert "a snapshot that is not whole" in str(check)


def test_a_snapshot_is_resumed_by_the_token_of_its_server(store):
    state = {"stop": 4}

    def pages(after):
        return paged(9, 2, stop=state["stop"])(after)

    with HostileServer(scan(pages)) as server, asking(server, attempts=1) as net:
        with pytest.raises(lf.errors.ServerError):
            store.sync(net, **SMALL)
        state["stop"] = None
        assert store.syncs().rows.tolist() == [{TABLE: 4}]
        asked = len(pages_asked(server))
        assert store.sync(net, **SMALL).rows == {TABLE: 5}
        assert pages_asked(server)[asked:] == ["token-4", "token-6", "token-8"]
    assert list(store.load(TABLE).contract_id) == [f"00{number}" for number in range(9)]
    assert store.load(TABLE).loaded_at.nunique() == 1


def test_a_snapshot_that_a_server_orders_differently_is_not_resumed(store):
    state = {"stop": 4, "sign": 1}

    def pages(after):
        page = paged(9, 2, stop=state["stop"])(after)
        if isinstance(page, dict):
            numbers = [int(one["contract_id"]) for one in page["created_events"]]
            page["created_events"] = [created(number if state["sign"] > 0 else 8 - number) for number in numbers]
        return page

    with HostileServer(scan(pages)) as server, asking(server, attempts=1) as net:
        with pytest.raises(lf.errors.ServerError):
            store.sync(net, **SMALL)
        state |= {"stop": None, "sign": -1}
        with pytest.raises(lf.errors.PagingError, match="twice since it was resumed"):
            store.sync(net, **SMALL)
        assert len(store.load(TABLE, allow_partial=True)) == 0
        store.sync(net, **SMALL)
    assert sorted(store.load(TABLE).contract_id) == [f"00{number}" for number in range(9)]


def test_a_token_that_the_server_forgot_begins_the_snapshot_anew(store):
    state = {"stop": 4}

    def pages(after):
        if state["stop"] is None and after == "token-4":
            return answer({"error": "unknown token"}, 400)
        return paged(9, 2, stop=state["stop"])(after)

    with HostileServer(scan(pages)) as server, asking(server, attempts=1) as net:
        with pytest.raises(lf.errors.ServerError):
            store.sync(net, **SMALL)
        before = set(store.load(TABLE, allow_partial=True).loaded_at)
        state["stop"] = None
        with pytest.raises(lf.errors.StatusError):  # the second time it asks for token-4 it is the server's own
            store.sync(net, **SMALL)
        state["stop"] = 99
        store.sync(net, **SMALL)
    found = store.load(TABLE, allow_partial=True)
    assert list(found.contract_id) == [f"00{number}" for number in range(9)]
    assert before.isdisjoint(found.loaded_at)


@pytest.mark.parametrize(("old", "new"), [("v1", "v2"), ("v2", "v1")])
def test_a_token_of_another_route_is_never_sent_and_begins_the_snapshot_anew(store, old, new):
    def served(version, stop=None):
        first, tokens = paged(9, 2, stop=stop), {}

        def pages(after):
            assert after is None or (after in tokens), "a token of another route"
            page = first(tokens.get(after))
            if isinstance(page, dict) and "next_page_token" in page:
                text_of = page["next_page_token"]
                token = text_of if version == "v2" else int(text_of.removeprefix("token-"))
                tokens[token] = text_of
                page["next_page_token"] = token
            return page

        return scan(pages, routes=(f"/{version}/state/acs",))

    releases = [served(old, stop=4)]

    def current(heard):
        return releases[-1](heard)

    with HostileServer(current) as server:
        with asking(server, attempts=1) as net, pytest.raises(lf.errors.ServerError):
            store.sync(net, **SMALL)
        releases.append(served(new))
        with asking(server, attempts=1) as net:
            assert store.sync(net, **SMALL).rows == {TABLE: 9}
    assert list(store.load(TABLE).contract_id) == [f"00{number}" for number in range(9)]
    assert store.load(TABLE).loaded_at.nunique() == 1
    assert store.check(full=True)


def test_another_server_reads_the_snapshot_from_its_beginning(store):
    with (
        HostileServer(scan(paged(9, 2, stop=6))) as first,
        HostileServer(scan(paged(9, 3))) as second,
        asking(first, second, attempts=1) as net,
    ):
        report = store.sync(net, tables=[TABLE], commit_bytes=1, progress=False)
        assert report.rows == {TABLE: 9}
    found = store.load(TABLE, allow_partial=True)
    assert list(found.contract_id) == [f"00{number}" for number in range(9)]
    assert set(found.source) == {f"{second.url}/api/scan"}
    assert found.position.tolist() == list(range(9))
    assert store.check(full=True)


def test_a_snapshot_of_another_server_is_begun_anew(store):
    busy = pytest.raises(lf.errors.ServerError)
    with HostileServer(scan(paged(9, 2, stop=4))) as server, asking(server, attempts=1) as net, busy:
        store.sync(net, **SMALL)
    with HostileServer(scan(paged(9, 2))) as server, asking(server) as net:
        assert store.sync(net, **SMALL).rows == {TABLE: 9}
        assert pages_asked(server)[0] is None


def test_a_newer_snapshot_takes_the_place_of_one_that_is_not_whole(store):
    moving = {"record_time": "2026-01-30T06:00:00Z"}

    def pages(after):
        return paged(9, 2, stop=4 if moving["record_time"] < "2026-01-30T07" else None)(after)

    with HostileServer(scan(pages, place=moving)) as server, asking(server, attempts=1) as net:
        with pytest.raises(lf.errors.ServerError):
            store.sync(net, **SMALL)
        moving["record_time"] = "2026-01-30T09:00:00Z"
        assert store.sync(net, **SMALL).rows == {TABLE: 9}
    found = store.load(TABLE, allow_partial=True)
    assert set(found.snapshot_record_time) == {pd.Timestamp("2026-01-30T09:00Z")}
    assert found.attrs["complete"]
    assert store.check(full=True)


def test_compacting_leaves_a_snapshot_under_way_and_joins_whole_ones(store):
    with HostileServer(scan(paged(9, 2, stop=4))) as server, asking(server, attempts=1) as hostile:
        with pytest.raises(lf.errors.ServerError):
            store.sync(hostile, tables=[TABLE], commit_bytes=1, progress=False)
        files = store.tables().set_index("table").files[TABLE]
        assert store.compact().set_index("table").files[TABLE] == files > 1
    with HostileServer(scan(paged(9, 2))) as server, asking(server) as hostile:
        store.sync(hostile, tables=[TABLE], commit_bytes=1, progress=False)
    assert store.compact().set_index("table").files[TABLE] == 1
    assert list(store.load(TABLE).contract_id) == [f"00{number}" for number in range(9)]
    assert store.check(full=True)


def test_a_damaged_snapshot_is_taken_out_of_view_and_read_again(store, net):
    store.sync(net, **SMALL)
    files = sorted(Path(store._lake.folder, TABLE).glob("*.parquet"))
    rows = pq.read_metadata(files[1]).num_rows
    files[1].unlink()
    assert not store.check()

    assert store.repair().lost == {TABLE: rows}

    with pytest.raises(lf.errors.PartialResultError):
        store.load(TABLE)
    assert store.check()
    assert store.sync(net, **SMALL).rows[TABLE] > 0
    assert_newest(store, net)
    assert store.load(TABLE).loaded_at.nunique() == 1


def test_an_older_state_shows_what_was_whole_then(store, net):
    times = lf.snapshot_times(net, limit=2).record_time
    first = store.sync(net, **SMALL, end=times[0] + pd.Timedelta("1us"))
    store.sync(net, **SMALL)
    assert store.load(TABLE, as_of=first.sync_id).loaded_at.nunique() == 1
    assert store.load(TABLE).loaded_at.nunique() == 2


def test_a_store_without_personal_data_keeps_no_contact_point(tmp_path):
    with lf.sandbox(seed=7, updates=600) as net:
        for name, personal in (("sent", None), ("stripped", False)):
            store = lf.open_store(tmp_path / name, personal=personal)
            store.sync(net, **SMALL)
            shown = re.findall(r"ops\d+@validators", " ".join(store.load(TABLE).payload))
            assert bool(shown) == (personal is None)


def test_a_snapshot_of_the_ledger_opens_a_stored_history(store, net):
    low, high = lf.snapshot_times(net, limit=4).iloc[[0, -1]].itertuples(index=False, name=None)
    assert low[0] == high[0]
    after = pd.Timedelta("1us")
    store.sync(net, **SMALL, end=(low[0], low[1] + after))
    store.sync(net, start=low, end=(high[0], high[1] + after), progress=False)
    parts = {"start": low, "end": (high[0], high[1] + after)}
    events, legs = store.load("events", **parts), store.load("reassignments", **parts)

    stored = store.load(TABLE)
    found = lf.active_contracts(events, legs, opening=stored)

    pd.testing.assert_frame_equal(
        found, lf.active_contracts(events, legs, opening=lf.load_active_contracts(net, at=low))
    )
    with pytest.raises(lf.errors.InputError, match=r"they are not the .*lf.load_active_contracts\(net, at="):
        lf.active_contracts(events, legs, opening=stored[:-1])
    assert set(lf.load_active_contracts(net, at=high).contract_id) <= set(found.contract_id)


def test_a_scan_without_the_routes_is_one_input_error(store):
    wrong = pytest.raises(lf.errors.InputError, match="does not serve POST /v2/state/acs")
    with HostileServer(scan(lambda _: {}, routes=("/none",))) as server, asking(server) as net, wrong:
        store.sync(net, **SMALL)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the highest use is read from /proc")
def test_memory_does_not_grow_with_the_snapshot():
    short, long = (snapshot_peak(contracts) for contracts in (3_000, 30_000))
    assert long < short + 250
    assert long < 800
