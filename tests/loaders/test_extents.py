"""A load says where what is there begins and ends, and refuses a range that begins before or after."""

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import BeginsLateWarning
from tests.rigs.servers import replica

LOADERS = ["history", "updates", "events", "reassignments", "verdicts"]


@pytest.fixture(scope="module")
def place(hour):
    """Where the pruned scan begins, inside the last migration."""
    updates = lf.load_updates(hour)
    row = updates[updates.migration_id == 2].iloc[40]
    return 2, row.record_time


@pytest.fixture(scope="module")
def pruned(hour, place):
    with hour.sandbox.replica(prune_before=place) as server, lf.connect(scan_url=server.scan_url) as net:
        yield net


def load(name, net, **options):
    loaded = getattr(lf, f"load_{name}")(net, **options)
    return loaded[0] if isinstance(loaded, tuple) else loaded


@pytest.mark.parametrize("name", LOADERS)
def test_without_a_start_a_load_begins_with_what_is_there_and_says_where(name, pruned, place):
    with pytest.warns(BeginsLateWarning, match="after ledger begin") as caught:
        attrs = load(name, pruned).attrs

    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert (attrs["complete"], attrs["from_beginning"]) == (True, False)
    assert place[1] <= pd.Timestamp(attrs["begins_late"]) < place[1] + pd.Timedelta("1min")
    assert "ledger begin" not in attrs["range"]
    assert attrs["begins_late"] in attrs["range"]


def earlier_starts(place):
    return ["begin", "2020-01-01", place[1] - pd.Timedelta("1s"), (0, "2020-01-01"), (2, place[1] - pd.Timedelta("1s"))]


@pytest.mark.parametrize(
    ("name", "which"),
    [*((name, 0) for name in LOADERS), *(("updates", which) for which in range(1, 6)), ("verdicts", 5)],
)
def test_a_start_or_end_before_what_is_there_is_refused_by_name(name, which, pruned, place):
    parts = [*({"start": start} for start in earlier_starts(place)), {"end": place[1] - pd.Timedelta("1min")}]

    with pytest.raises(lf.errors.PartialResultError, match="after ledger begin") as refused:
        load(name, pruned, **parts[which])
    with pytest.warns(BeginsLateWarning):
        partial = load(name, pruned, **parts[which], allow_partial=True)

    assert partial.attrs["begins_late"] in str(refused.value)
    with pytest.raises(lf.errors.PartialResultError, match="no snapshot before it"):
        lf.load_opening(pruned, at=place)
    assert partial.attrs["complete"] is False
    assert len(partial) > 0 or which == 5 or name == "reassignments"


@pytest.mark.parametrize("start", ["time", "pair"])
def test_a_start_inside_what_is_there_is_complete(start, hour, pruned, place):
    moment = place[1] + pd.Timedelta("1min")
    begin = moment if start == "time" else (2, moment)

    frame = lf.load_updates(pruned, start=begin)

    assert (frame.attrs["complete"], frame.attrs["from_beginning"], frame.attrs["begins_late"]) == (True, False, None)
    assert list(frame.update_id) == list(lf.load_updates(hour, start=begin).update_id)


@pytest.mark.parametrize("turned", [False, True], ids=["second", "first"])
def test_a_comparison_names_what_the_pruned_side_lacks(turned, hour, pruned, place):
    sides = (pruned, hour) if turned else (hour, pruned)
    held = lf.load_updates(hour, start=place)

    open_start, named = lf.cross_check(*sides), lf.cross_check(*sides, start="begin")

    assert (open_start.agree, open_start.compared, open_start.differing) == (True, len(held), 0)
    assert (named.agree, named.compared, named.differing) == (False, len(held), 0)
    for check in (open_start, named):
        assert f"{pruned.scan.servers[0]} begins at" in str(check)
        assert "the migrations from 0 to 1 among it" in str(check)
    assert lf.cross_check(*sides, last="1min").lacks == ""


def test_plan_and_doctor_say_where_what_is_there_begins(hour, pruned, place):
    plan = lf.plan(pruned)

    assert pd.Timestamp(plan.begins_late) >= place[1]
    assert plan.begins_late in str(plan)
    assert "ledger begin" not in plan.range
    assert lf.plan(hour).begins_late is None
    assert lf.plan(pruned, last="1min").begins_late is None
    assert "begins late" in str(lf.doctor(pruned))
    assert "begins late" not in str(lf.doctor(hour))


def test_last_of_a_sync_counts_back_from_the_newest_update(hour, tmp_path):
    newest = lf.load_updates(hour).record_time.max()
    synced, followed = (lf.open_store(tmp_path / name) for name in ("synced", "followed"))
    report = synced.sync(hour, last="3min", progress=False)
    assert pd.Timestamp(report.counted_from) == newest
    assert f"counts back from {report.counted_from}" in str(report)
    next(followed.follow(hour, last="3min", every="1s", progress=False))

    for store in (synced, followed):
        rows = store.load("updates", start=newest - pd.Timedelta("3min"))
        assert rows.record_time.max() == newest
        assert store.load("updates", allow_partial=True).record_time.min() >= newest - pd.Timedelta("3min")


@pytest.fixture(scope="module")
def several(hour, pruned, place):
    """Scans with different windows, the whole ledger on the last of them."""
    with hour.sandbox.replica(prune_before=(place[0], place[1] - pd.Timedelta("5min"))) as other:
        yield lf.connect(scan_url=[other.scan_url, pruned.scan.servers[0], hour.sandbox.scan_url])


@pytest.mark.parametrize(
    ("name", "which", "turned"),
    [("updates", 1, False), ("verdicts", 0, False), ("updates", 3, False), ("updates", 5, False), ("updates", 0, True)],
)
def test_of_several_scans_the_one_that_has_the_range_is_read(name, which, turned, several, hour, place):
    start = [None, *earlier_starts(place)][which]
    expected = load(name, hour, start=start)
    fuller = hour.sandbox.scan_url
    scans = lf.connect(scan_url=[fuller, *({*several.scan.servers} - {fuller})]) if turned else several

    for _ in range(2):  # the second one begins with the server that answered the first one last
        frame = load(name, scans, start=start)

        assert list(frame.update_id) == list(expected.update_id)
        for attribute in ("complete", "from_beginning", "begins_late", "range"):
            assert frame.attrs[attribute] == expected.attrs[attribute]


def test_of_several_scans_last_counts_back_from_the_newest_update_of_all(hour, store):
    with replica(hour.sandbox, lag=150) as behind, lf.connect(scan_url=[behind.scan_url, *hour.scan.servers]) as both:
        assert list(lf.load_updates(both, last="3min").update_id) == list(lf.load_updates(hour, last="3min").update_id)
        assert lf.plan(both, last="3min").range == lf.plan(hour, last="3min").range
        counted_from = store.sync(both, last="3min", progress=False).counted_from
        assert pd.Timestamp(counted_from) == lf.load_updates(hour).record_time.max()


def test_what_no_scan_has_between_one_that_lags_and_one_that_has_pruned_is_not_left_out_in_silence(hour):
    row = lf.load_updates(hour).iloc[-30]
    with replica(hour.sandbox, lag=150) as behind, hour.sandbox.replica(prune_before=row.record_time) as short:
        both = lf.connect(scan_url=[behind.scan_url, short.scan_url])
        with both, pytest.raises(lf.errors.PartialResultError, match=f"{short.scan_url} begins at .* were pruned"):
            lf.load_updates(both, start=row.record_time - pd.Timedelta("1min"))


def test_of_several_scans_plan_and_doctor_see_what_a_load_reads(several, hour, pruned):
    for options in ({}, {"start": "begin"}, {"last": "1min"}):
        planned, alone = lf.plan(several, **options), lf.plan(hour, **options)
        assert (planned.range, planned.rows, planned.begins_late) == (alone.range, alone.rows, None)
    pd.testing.assert_frame_equal(lf.migrations(several), lf.migrations(hour))

    said = str(lf.doctor(several))

    assert "at ledger begin" in said
    assert "same beginning" not in said
    assert f"{pruned.scan.servers[0]} shows it only from" in said


def test_a_sync_leaves_no_scan_out_because_it_prunes(several, hour, store, caplog):
    report = store.sync(several)

    assert list(store.load("updates", start="begin").update_id) == list(lf.load_updates(hour).update_id)
    assert "left out" not in caplog.text
    assert report.requests < 50


@pytest.fixture(scope="module")
def emptied(hour):
    """A scan that has pruned everything."""
    with hour.sandbox.replica(prune_before="2100-01-01") as server, lf.connect(scan_url=server.scan_url) as net:
        yield net


@pytest.mark.parametrize(
    ("name", "start"),
    [*((name, "begin") for name in LOADERS), ("updates", "2020-01-01"), ("updates", (0, "2020-01-01"))],
)
def test_a_scan_that_shows_nothing_answers_no_range_with_a_start(start, name, emptied):
    with pytest.raises(lf.errors.PartialResultError, match=r"shows no update: .* is asked for\. Leave start= out, or"):
        load(name, emptied, start=start)

    assert not load(name, emptied, start=start, allow_partial=True).attrs["complete"]


def test_last_has_nothing_to_count_back_from_on_a_scan_that_shows_nothing(emptied, store):
    ways = [
        lambda: lf.load_updates(emptied, last="1h"),
        lambda: lf.plan(emptied, last="1h"),
        lambda: lf.cross_check(emptied, emptied, last="1h"),
        lambda: store.sync(emptied, last="1h"),
    ]
    for way in ways:
        with pytest.raises(lf.errors.PartialResultError, match="nothing to count back from"):
            way()
    assert "no update is shown" in str(lf.plan(emptied))


@pytest.mark.parametrize("sample", [3, None])
def test_nothing_is_compared_with_a_scan_that_shows_nothing(sample, emptied, hour, store):
    store.sync(hour)

    check = store.verify(emptied, sample=sample)

    assert (check.agree, check.compared, check.differing) == (False, 0, 0)
    assert "shows no update" in str(check)
    assert "or have pruned this part" in " ".join(store.sync(emptied).left)


@pytest.mark.parametrize(("name", "end"), [("updates", None), ("updates", "2200-01-01"), ("verdicts", None)])
def test_a_start_behind_what_is_there_is_refused_by_name(end, name, hour):
    newest = hour.sandbox.world.updates[-1].migration_id
    for start in ("2100-01-01", (newest, "2100-01-01"), (newest + 1, "2020-01-01")):
        ends = None if end is None else end if isinstance(start, str) else (newest + 2, end)
        with pytest.raises(lf.errors.PartialResultError, match=rf"ends at \(migration {newest}, 2025-"):
            load(name, hour, start=start, end=ends)
        with pytest.raises(lf.errors.PartialResultError, match=rf"ends at \(migration {newest}, 2025-"):
            lf.plan(hour, start=start, end=ends)
        assert not load(name, hour, start=start, end=ends, allow_partial=True).attrs["complete"]


def test_asking_for_what_follows_the_newest_update_is_complete_and_names_it(hour):
    newest = lf.load_updates(hour, last="1min").record_time.max()

    attrs = lf.load_updates(hour, start=newest + pd.Timedelta("1us")).attrs

    assert (attrs["complete"], attrs["source"]) == (True, hour.sandbox.scan_url)
    assert f"{newest:%Y-%m-%dT%H:%M:%S.%f}Z (the newest update there)" in attrs["range"]


def test_objects_end_before_the_newest_update_and_say_where(net):
    pages = lf.load_updates(net)
    held = lf.load_history(net, source="objects").updates
    last = lf.load_history(net, source="objects", last="20min").updates
    for start, said in (
        ((int(pages.migration_id.max()), pages.record_time.max()), "the last update in its objects"),
        ("2100-01-01", "its objects hold nothing so late"),
    ):
        with pytest.raises(lf.errors.PartialResultError, match=said):
            lf.load_history(net, source="objects", start=start)

    assert len(held) < len(pages)
    assert held.attrs["complete"]
    assert f"{held.record_time.max():%H:%M:%S.%f}Z (the last update in its objects)" in held.attrs["range"]
    assert (len(last) > 0, last.attrs["complete"]) == (True, False)  # `last` counts back from what the objects lack
    assert last.attrs["known_to"] == held.attrs["cursor"]
