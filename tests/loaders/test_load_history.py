"""Loading the update history from a served ledger."""

import json
from collections import Counter
from functools import partial
from inspect import signature

import httpx
import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.loaders.declaring import HistoryRequest
from ledgerframes.loaders.history_reading import Most, read_history
from ledgerframes.tables.catalogue import CATALOGUE
from tests.rigs.servers import replica, simulated, started

ALL = {"start": (0, "0001-01-01"), "progress": False}


@pytest.fixture(scope="session")
def history(net):
    return lf.load_history(net, **ALL)


def micros(item):
    return pd.Timestamp(item["record_time"]).value // 1000


def migration(item):
    return item["event"]["migration_id"] if "event" in item else item["migration_id"]


def ids(items):
    return [item["update_id"] for item in items]


def test_the_items_can_be_rebuilt_from_every_form(net, exact_history, truth):
    assert list(lf.rebuild_items(exact_history)) == truth
    for form in ("pandas", "polars"):
        assert list(lf.rebuild_items(lf.load_history(net, as_=form, limit=300))) == truth[:300]


@pytest.mark.long
def test_ten_thousand_hostile_items_are_rebuilt_exactly():
    with simulated(seed=3, updates=10_000, hostile=True) as net:
        history = lf.load_history(net, limit=20_000, progress=False)
        assert len(history.updates) == 10_000
        for got, sent in zip(lf.rebuild_items(history), net.sandbox.world.items(), strict=True):
            assert got == sent


@pytest.mark.parametrize("name", ["updates", "events", "reassignments"])
def test_frames_are_plain_with_the_declared_columns_types_and_provenance(net, history, name, tmp_path):
    frame = getattr(history, name)
    assert type(frame) is pd.DataFrame
    assert type(frame.index) is pd.RangeIndex
    assert tuple(frame.columns) == CATALOGUE[name].names
    types = {"record_time": "datetime64[us, UTC]", "update_id": "str", "migration_id": "int64"}
    types |= {"depth": "Int64", "consuming": "boolean"} if name == "events" else {}
    assert {column: str(frame[column].dtype) for column in types} == types
    attrs = json.loads(json.dumps(frame.attrs))
    assert (attrs["source"], attrs["version"]) == (net.sandbox.scan_url, lf.__version__)
    assert (attrs["complete"], attrs["cursor"][0]) == (True, 2)
    pd.testing.assert_frame_equal(getattr(lf, f"load_{name}")(net, **ALL), frame)
    frame.to_parquet(tmp_path / "one.parquet")
    back = pd.read_parquet(tmp_path / "one.parquet")
    assert (back.attrs, list(back.record_time)) == (frame.attrs, list(frame.record_time))


def test_columns_are_kept_in_the_callers_order(net):
    assert [*lf.load_events(net, columns=["choice", "update_id"], limit=5)] == ["choice", "update_id"]
    updates = lf.load_history(net, columns={"updates": ["kind"]}, limit=5).updates
    assert ([*updates], len(updates), updates.attrs["complete"]) == (["kind"], 5, True)


def place(item):
    return migration(item), item["record_time"]


def test_a_range_is_half_open_and_one_of_times_that_part_of_every_migration(net, truth):
    times = sorted(map(micros, truth))
    within = [item for item in truth if times[600] <= micros(item) < times[1300]]
    assert len({migration(item) for item in within}) > 1
    moments = [pd.Timestamp(times[at], unit="us", tz="UTC") for at in (600, 1300)]
    first, last = place(truth[250]), place(truth[1500])
    between = [item for item in truth if first <= place(item) < last]  # six digits: text order is time order
    for (start, end), want in ((moments, within), (map(str, moments), within), ((first, last), between)):
        assert list(lf.load_updates(net, start=start, end=end, page_size=300).update_id) == ids(want)


@pytest.mark.parametrize("name", ["history", "updates", "events", "reassignments", "verdicts"])
def test_last_counts_back_from_the_newest_update_there(net, history, name):
    columns = {"columns": iter(["record_time"])} if name == "updates" else {}
    loaded = getattr(lf, f"load_{name}")(net, last="10min", progress=False, **columns)
    frame = loaded[0] if isinstance(loaded, tuple) else loaded
    newest = history.updates.record_time.max()
    assert pd.Timestamp(frame.attrs["counted_from"]) == newest
    there = "that POST /v0/events shows" if name == "verdicts" else "update there"
    assert frame.attrs["range"].endswith(f"(the newest {there})")
    assert frame.record_time.min() >= newest - pd.Timedelta("10min")
    if name != "reassignments":
        assert frame.record_time.max() == newest


def test_an_empty_result_has_every_column_and_type(net, history):
    empty = lf.load_history(net, start="2100-01-01", allow_partial=True, progress=False)
    for name in ("updates", "events", "reassignments"):
        assert len(getattr(empty, name)) == 0
        assert dict(getattr(empty, name).dtypes) == dict(getattr(history, name).dtypes)


@pytest.mark.parametrize("given", [{"hash": "no such hash"}, {"update_id": "no such id"}], ids=str)
def test_an_unknown_update_is_not_found(net, given):
    with pytest.raises(lf.errors.NotFoundError, match=r"404.*check the id; scans do not know what"):
        lf.load_update(net, **given)


def test_an_update_names_the_server_that_gave_it_and_not_one_that_had_none(net):
    updates = lf.load_updates(net)
    hashed = updates[updates.external_transaction_hash.notna()].iloc[-1]
    behind = replica(net.sandbox, lag=len(updates) - int(hashed.name))
    with behind, lf.connect(scan_url=[behind.scan_url, net.sandbox.scan_url]) as both:
        for server, given in (
            (net.sandbox, {"hash": hashed.external_transaction_hash}), (net.sandbox, {"update_id": hashed.update_id}),
            (behind, {"update_id": updates.update_id[0]}),
        ):  # fmt: skip
            assert lf.load_update(both, **given).updates.attrs["source"] == server.scan_url


def test_another_update_than_the_one_asked_for_is_refused(truth):
    other = httpx.MockTransport(lambda _: httpx.Response(200, json=truth[3]))
    with lf.connect(scan_url="https://scan.example/api/scan", transport=other) as wrong:
        with pytest.raises(lf.errors.DecodeError, match=r"asked for 'update .*the server sent"):
            lf.load_update(wrong, truth[5]["update_id"])
        assert len(lf.load_update(wrong, truth[3]["update_id"]).updates) == 1


def test_migrations_overlap_in_record_time(net, truth):
    frame = lf.migrations(net)
    assert list(frame.migration_id) == [0, 1, 2]
    for row in frame.itertuples():
        times = [micros(item) for item in truth if migration(item) == row.migration_id]
        assert row.first_record_time.value // 1000 == min(times)
        assert row.last_record_time.value // 1000 == max(times)
    assert frame.first_record_time[1] < frame.last_record_time[0]


def test_a_plan_of_days_does_not_take_the_rhythm_of_days_for_their_number():
    """Four even samples of four days fall on the same hour of each."""
    with lf.sandbox(seed=11, days=4, migrations=1) as net:
        planned, updates = lf.plan(net).rows, len(lf.load_updates(net, start="begin", columns=["update_id"]))
    assert 0.7 * updates < planned < 1.4 * updates


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("migrations", [3, 1])
def test_load_and_sync_send_about_as_many_requests_as_their_plan_says(migrations, tmp_path):
    with lf.sandbox(seed=7, updates=1600, migrations=migrations) as net:
        known = lf.migrations(net)
        first, last = known.first_record_time.min(), known.last_record_time.max()
        half = first + (last - first) / 2
        wrong = []
        for number, part in enumerate(
            ({}, {"last": "10min"}, {"start": half}, {"start": "begin", "end": (0, half)}, {"start": half, "end": last})
        ):  # fmt: skip
            said = lf.plan(net, **part)
            reads = {lf.load_history: said.requests, lf.open_store(tmp_path / str(number)).sync: said.sync_requests}
            for read, promised in reads.items():
                before = net.stats.snapshot().requests
                read(net, **part)
                sent = net.stats.snapshot().requests - before
                if abs(promised - sent) > max(3, 0.25 * sent):
                    wrong.append((part, read.__name__, promised, sent))
        assert not wrong


def test_a_plan_is_about_right_after_about_ten_requests(net, history, tmp_path):
    before = net.stats.snapshot().requests
    whole = lf.plan(net)
    assert net.stats.snapshot().requests - before <= 15
    assert 1_200 < whole.rows < 3_200
    assert whole.megabytes > 0
    assert f"about {whole.requests} requests by load_history" in str(whole)
    assert f"about {whole.sync_requests} by store.sync" in str(whole)
    missing = lf.open_store(tmp_path).plan(net)  # of a lake that is not there yet
    assert (missing.requests, missing.sync_requests) == (whole.requests, whole.sync_requests)
    newest = history.updates.record_time.max()
    wanted = (history.updates.record_time >= newest - pd.Timedelta("10min")).sum()
    assert 0.5 * wanted < lf.plan(net, last="10min").rows < 2 * wanted


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("most", [Most(updates=1_999, bytes=10**9), Most(updates=10**6, bytes=100_000)], ids=str)
@pytest.mark.parametrize("page_size", [50, 1000])
def test_updates_and_bytes_end_a_load_that_names_no_part(net, most, page_size):
    request = partial(HistoryRequest, net, page_size=page_size, as_="arrow", allow_partial=True, progress=False)
    assert signature(read_history).parameters["unbounded"].default == Most(updates=100_000, bytes=10**9)
    before = net.stats.requests
    with pytest.raises(
        lf.errors.InputError, match=rf'about [\d,]+ updates.*more than {most.updates:,} updates.*start="begin"'
    ):
        read_history(request(), unbounded=most)
    assert net.stats.requests - before < 20 + most.updates // page_size
    enough = Most(updates=4_000, bytes=10**9)  # an estimate decides
    assert read_history(request(), unbounded=enough)["updates"].num_rows == 2_000
    assert read_history(request(start="begin"), unbounded=most)["updates"].num_rows == 2_000
    assert read_history(request(limit=2_000), unbounded=most)["updates"].num_rows == 2_000


def test_rebuilding_needs_all_columns_and_all_rows(history):
    with pytest.raises(lf.errors.InputError, match="updates has no column"):
        list(lf.rebuild_items(history._replace(updates=history.updates.drop(columns="extra"))))
    with pytest.raises(lf.errors.InputError, match="events of update"):
        list(lf.rebuild_items(history._replace(events=history.events.head(3))))


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    ("habit", "cap", "page_size"), [("silent_cap", 0, 1000), ("page_maximum", 25, 1000), ("silent_cap", 25, 7)]
)  # `cap` 0 is one more than the largest tie
def test_lowered_and_capped_pages_lose_nothing(net, truth, habit, cap, page_size):
    largest_tie = Counter((migration(item), micros(item)) for item in truth).most_common(1)[0][1]
    with (
        started(world=net.sandbox.world, **{habit: cap or largest_tie + 1}) as server,
        lf.connect(scan_url=server.scan_url) as other,
    ):
        frame = lf.load_updates(other, limit=400, page_size=page_size, progress=False)
        assert other.stats.requests >= 400 / (cap or largest_tie + 1)
    assert list(frame.update_id) == ids(truth[:400])


@pytest.mark.parametrize("end", ["2099-01-01", (7, "2099-01-01")], ids=str)
def test_a_range_that_ends_after_what_is_shown_is_not_complete_and_has_no_gap(net, history, end):
    start = history.updates.record_time.iloc[-200]
    updates, *rest = lf.load_history(net, start=start, end=end)
    assert list(updates.update_id) == list(history.updates.update_id[history.updates.record_time >= start])
    assert len(lf.active_contracts(*rest, opening="nothing")) > 0
    assert updates.attrs["complete"] is False
    assert updates.attrs["known_to"] == updates.attrs["cursor"]
    assert updates.attrs["cursor"][0] == updates.migration_id.iloc[-1]


LISTS = {"updates": ["root_event_ids"], "events": ["signatories", "observers", "acting_parties", "child_event_ids"]}


def test_lists_are_those_that_tuples_hold_and_so_is_what_is_computed_of_them(world, tmp_path):
    hour, tuples, filled = world
    arrow = lf.load_history(hour, start="begin", lists="arrow")
    for frame in (lf.load_active_contracts(hour, lists="arrow"), filled.load("events", lists="arrow")):
        assert isinstance(frame.signatories.dtype, pd.ArrowDtype)
    assert isinstance(tuples.events.signatories.dropna().iloc[0], tuple)
    for name, columns in LISTS.items():
        for column in columns:
            held = getattr(arrow, name)[column]
            assert held.dtype == pd.ArrowDtype(pa.list_(pa.string()))
            assert [None if cell is pd.NA else tuple(cell) for cell in held] == getattr(tuples, name)[column].tolist()
        others = getattr(arrow, name).drop(columns=columns)
        pd.testing.assert_frame_equal(others, getattr(tuples, name).drop(columns=columns))
    assert list(lf.rebuild_items(arrow)) == list(lf.rebuild_items(tuples))
    for compute in (lf.active_contracts, lf.active_parties, lf.template_activity, lf.round_history):
        pd.testing.assert_frame_equal(compute(arrow), compute(tuples))
    arrow.events.to_parquet(tmp_path / "events.parquet")
    back = pd.read_parquet(tmp_path / "events.parquet", dtype_backend="pyarrow")
    assert back.event_id.tolist() == arrow.events.event_id.tolist()
