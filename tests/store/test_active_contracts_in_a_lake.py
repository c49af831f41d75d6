"""Snapshots of the active contracts in a store: streamed, resumed, and shown only when they are whole."""

import json
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.benchmarks.memory import snapshot_peak
from tests.loaders.snapshot_scan import SNAPSHOT, created, paged, scan
from tests.store.test_kills import Killing
from tests.transport.hostile_server import HostileServer, answer

TABLE = "active_contracts"
SMALL = {"tables": [TABLE], "page_size": 20, "commit_bytes": 40_000, "progress": False}
OWN = ["snapshot_migration_id", "snapshot_record_time", "position", "source", "loaded_at"]
NINE = [f"00{number}" for number in range(9)]


def assert_newest(store, net, **options):
    """The newest stored snapshot is the network's, row by row and in its order."""
    found = store.load(TABLE)
    newest = found[found.loaded_at == found.loaded_at.max()].reset_index(drop=True)
    pd.testing.assert_frame_equal(newest.drop(columns=OWN), lf.load_active_contracts(net, **options))
    assert newest.position.tolist() == list(range(len(newest)))
    return newest


def pages_asked(server, route="v2"):
    return [
        json.loads(heard.body).get("after") for heard in server.heard if heard.target.endswith(f"/{route}/state/acs")
    ]


def test_a_snapshot_is_stored_as_it_is_loaded_and_not_read_again(store, hour):
    report = store.sync(hour, **SMALL)
    pages = hour.sandbox.requests["POST /v2/state/acs"]
    again = store.sync(hour, **SMALL)

    newest = assert_newest(store, hour)
    assert (report.rows, report.complete) == ({TABLE: len(newest)}, True)
    assert (again.rows, again.complete) == ({TABLE: 0}, True)
    assert hour.sandbox.requests["POST /v2/state/acs"] == pages
    assert len(store.syncs()) == 1
    at = lf.snapshot_times(hour, limit=1).iloc[0]
    assert set(newest.snapshot_migration_id) == {at.migration_id}
    assert set(newest.snapshot_record_time) == {at.record_time}
    assert set(newest.source) == {hour.sandbox.scan_url}
    assert list(newest.columns[:15]) == list(lf.load_active_contracts(hour, limit=1).columns[:15])
    assert store.check(full=True)
    assert store.tables().set_index("table").files[TABLE] > 3


def test_end_names_the_snapshot_and_a_range_is_one_of_snapshot_times(store, hour):
    times = lf.snapshot_times(hour, limit=3).sort_values("record_time")
    us, states = pd.Timedelta("1us"), []
    for at in times.itertuples(index=False):
        ends = (at.record_time + us, (at.migration_id, at.record_time + us))
        states += [store.sync(hour, tables=[TABLE], progress=False, end=end).sync_id for end in ends]
    with pytest.raises(lf.errors.NotFoundError, match="no snapshot"):
        store.sync(hour, **SMALL, end="2000-01-01")
    found = store.load(TABLE)

    assert found.loaded_at.nunique() == 3
    for at in times.itertuples(index=False):
        own = found[found.snapshot_record_time == at.record_time]
        wanted = lf.load_active_contracts(hour, at=(at.migration_id, at.record_time))
        assert list(own.contract_id) == list(wanted.contract_id)
    first, second, third = times.record_time
    rows = found.groupby("snapshot_record_time").size()
    for part, wanted in (
        ({"start": first}, len(found)),
        ({"start": second}, rows[second] + rows[third]),
        ({"end": second}, rows[first]),
        ({"last": "1s"}, rows[third]),
        ({"start": first, "end": first + us}, rows[first]),
        ({"as_of": states[0]}, rows[first]),
    ):
        assert len(store.load(TABLE, **part)) == wanted > 0
    assert store.scan(TABLE, start=third).count_rows() == rows[third]
    with pytest.raises(lf.errors.PartialResultError, match="what is stored ends at"):
        store.load(TABLE, start="2100-01-01")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("instants", [[3], [0], [6], [3, 0, 3, 4]], ids=str)
def test_a_killed_sync_is_resumed(tmp_path, hour, instants):
    """Before (0) its first commit nothing is there; after (1) and later, what is there is not shown as whole."""
    killing = Killing(tmp_path, Random(1))
    options = {name: value for name, value in SMALL.items() if name != "progress"}
    for instant in instants:
        assert killing.run([hour.sandbox.scan_url], options, instant, of="root")
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

    report = store.sync(hour, **SMALL)

    newest = assert_newest(store, hour)
    assert report.rows == {TABLE: len(newest) - len(begun)}
    assert len(store.load(TABLE)) == len(newest)
    assert {*begun.loaded_at} <= {*newest.loaded_at}
    assert store.check(full=True)


def test_a_snapshot_under_way_is_hidden_beside_a_whole_one_and_left_when_whole_ones_are_joined(store):
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

    files = store.tables().set_index("table").files[TABLE]
    assert store.compact().set_index("table").files[TABLE] == files > 1
    with HostileServer(scan(paged(9, 2), place=later)) as server, asking(server) as net:
        store.sync(net, **SMALL)
    assert store.compact().set_index("table").files[TABLE] == 1
    assert len(store.load(TABLE)) == 4 + 9
    assert store.check(full=True)


def changing(state):
    """A scan of nine contracts, two to a page, as `state` has it; it is busy from contract `stop` on."""

    def pages(after):
        if state.get("forgets") and after is not None:
            return answer({"error": "unknown token"}, 400)
        token = int if state["route"] == "v1" else "token-{}".format
        page = paged(9, 2, token=token, stop=state["stop"])(after)
        if isinstance(page, dict) and state.get("turned"):
            page["created_events"] = [created(8 - int(one["contract_id"])) for one in page["created_events"]]
        return page

    def reply(heard):
        place = {**SNAPSHOT, "record_time": state.get("time", SNAPSHOT["record_time"])}
        return scan(pages, routes=(f"/{state['route']}/state/acs",), place=place)(heard)

    return reply


def break_off(store, server):
    with asking(server, attempts=1) as net, pytest.raises(lf.errors.ServerError):
        store.sync(net, **SMALL)
    assert store.syncs().rows.tolist() == [{TABLE: 4}]
    return set(store.load(TABLE, allow_partial=True).loaded_at)


TOKENS = [f"token-{number}" for number in (2, 4, 6, 8)]
#: How a scan that broke off at contract 4 is reached and has changed, and what it is asked for then.
RESUMED = {
    "the same": ("v2", {}, TOKENS[1:]),
    "a newer snapshot": ("v2", {"time": "2026-01-30T09:00:00Z"}, [None, *TOKENS]),
    "a newer release": ("v1", {"route": "v2"}, [None, *TOKENS]),
    "an older release": ("v2", {"route": "v1"}, [None, 2, 4, 6, 8]),
    "another server": ("v2", {"elsewhere": True}, [None, *TOKENS]),
}


@pytest.mark.parametrize(("route", "change", "asked"), RESUMED.values(), ids=RESUMED)
def test_a_snapshot_that_broke_off_is_resumed_by_its_token_where_it_is_the_same(store, route, change, asked):
    state = {"stop": 4, "route": route}
    with HostileServer(changing(state)) as server, HostileServer(changing(state)) as other:
        begun = break_off(store, server)
        state |= {"stop": None, **change}
        server.heard.clear()
        used = other if "elsewhere" in change else server
        with asking(used, attempts=1) as net:
            assert store.sync(net, **SMALL).rows == {TABLE: 9 if asked[0] is None else 5}
        assert pages_asked(used, state["route"]) == asked
    found = store.load(TABLE)
    assert (list(found.contract_id), found.loaded_at.nunique()) == (NINE, 1)
    assert set(found.snapshot_record_time) == {pd.Timestamp(state.get("time", SNAPSHOT["record_time"]))}
    assert (begun == set(found.loaded_at)) == (asked[0] is not None)
    assert store.check(full=True)


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [("turned", lf.errors.PagingError, "twice since it was resumed"), ("forgets", lf.errors.StatusError, "token")],
    ids=["another order", "a forgotten token"],
)
def test_a_snapshot_whose_server_cannot_go_on_is_begun_anew(store, fault, error, said):
    state = {"stop": 4, "route": "v2"}
    with HostileServer(changing(state)) as server:
        begun = break_off(store, server)
        state |= {"stop": None, fault: True}
        # A second time, a token that a server does not know is its own fault.
        with asking(server, attempts=1) as net, pytest.raises(error, match=said):
            store.sync(net, **SMALL)
        assert begun.isdisjoint(store.load(TABLE, allow_partial=True).loaded_at)
        state["forgets"] = False
        with asking(server, attempts=1) as net:
            store.sync(net, **SMALL)
    found = store.load(TABLE, allow_partial=True)
    assert sorted(found.contract_id) == NINE
    assert begun.isdisjoint(found.loaded_at)


def test_another_server_reads_the_snapshot_from_its_beginning(store):
    with (
        HostileServer(scan(paged(9, 2, stop=6))) as first,
        HostileServer(scan(paged(9, 3))) as second,
        asking(first, second, attempts=1) as net,
    ):
        report = store.sync(net, tables=[TABLE], commit_bytes=1, progress=False)
        assert report.rows == {TABLE: 9}
    found = store.load(TABLE, allow_partial=True)
    assert list(found.contract_id) == NINE
    assert set(found.source) == {f"{second.url}/api/scan"}
    assert found.position.tolist() == list(range(9))
    assert store.check(full=True)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the highest use is read from /proc")
def test_memory_does_not_grow_with_the_snapshot():
    short, long = (snapshot_peak(contracts) for contracts in (3_000, 30_000))
    assert long < short + 250
    assert long < 800
