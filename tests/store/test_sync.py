"""A store is brought up to date: everything once, in few requests, whatever there was before."""

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.store.sync.committing import Committer
from tests.rigs.servers import replica, simulated
from tests.store.conftest import BEGIN, LATE, assert_whole


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(("workers", "page_size"), [(4, 20), (1, 1000), (16, 20), (1, 20)])
def test_a_history_is_kept_whole(store, workers, page_size):
    with lf.sandbox(updates=1500) as net:
        report = store.sync(net, workers=workers, page_size=page_size)
        assert_whole(store, net)
    assert report.complete
    assert report.rows["updates"] == 1500
    assert report.left == ()


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 4])
def test_the_nastiest_history_is_kept_whole(store, workers):
    with simulated(seed=11, updates=400, hostile=True) as net:
        store.sync(net, workers=workers, page_size=50, now=LATE, settle="0s")
        assert_whole(store, net)


def test_a_second_sync_takes_a_request_per_open_migration_and_adds_nothing(store, net):
    store.sync(net)
    before = net.stats.requests
    report = store.sync(net)
    assert net.stats.requests - before == 3  # the world is an hour long, so each of its migrations is still open
    assert sum(report.rows.values()) == 0
    assert report.complete


@pytest.mark.parametrize("servers", [1, 3])
def test_with_no_news_a_sync_asks_every_server_once(store, servers):
    with (
        lf.sandbox(updates=300, migrations=1) as base,
        base.sandbox.replica() as second,
        base.sandbox.replica() as third,
    ):
        net = lf.connect(scan_url=[base.sandbox.scan_url, second.scan_url, third.scan_url][:servers])
        store.sync(net)
        assert store.sync(net).requests == servers
        assert_whole(store, net)


def test_what_is_new_is_added(store):
    with lf.sandbox(updates=300) as net:
        store.sync(net)
        net.sandbox.advance(updates=120)
        report = store.sync(net)
        assert_whole(store, net)
    assert report.rows["updates"] == 120


def test_ranges_synced_in_any_order_make_one_history(store, net, history):
    times = history.updates[history.updates.migration_id == 1].record_time
    cuts = [(1, times.iloc[position]) for position in (0, 60, 150, len(times) - 1)]
    for start, end in [(cuts[1], cuts[2]), (cuts[0], cuts[1]), (cuts[2], cuts[3])]:
        assert store.sync(net, start=start, end=end).rows["updates"] > 0
    found = store.load("updates", start=cuts[0], end=cuts[3])
    wanted = lf.load_updates(net, start=cuts[0], end=cuts[3])
    assert sorted(found.update_id) == sorted(wanted.update_id)
    store.sync(net)
    assert_whole(store, net)
    assert len(store.coverage()) == history.updates.migration_id.nunique()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("parts", [(0, 2, 1), (2, 0, 1), (0, 1, 2), (1, 0, 2)], ids=str)
def test_parts_of_migrations_far_apart_are_synced(parts, store, net, history):
    for migration_id in parts:
        times = history.updates[history.updates.migration_id == migration_id].record_time
        report = store.sync(net, start=(migration_id, times.iloc[20]), end=(migration_id, times.iloc[60]))
        assert report.rows["updates"] == (times < times.iloc[60]).sum() - (times < times.iloc[20]).sum() > 0
    store.sync(net)
    assert_whole(store, net)


def test_a_gap_between_parts_is_filled_though_nothing_is_final_yet(store):
    with lf.sandbox(seed=21, updates=40, migrations=2) as short:  # all of it lies within settle
        times = lf.load_updates(short).record_time
        store.sync(short, start=times[3])
        store.sync(short, end=times[7], source="objects")
        store.sync(short)
        assert store.load("updates", start="begin").attrs["complete"]


def test_rows_are_final_up_to_the_newest_one_less_settle(store, net, history):
    newest = history.updates.record_time.max()
    store.sync(net, settle="60s")
    assert_whole(store, net)
    last = store.coverage().iloc[-1]
    assert last.settled == newest - pd.Timedelta("60s") - pd.Timedelta("1us")
    assert last.up_to == newest
    attrs = store.load("updates").attrs
    assert attrs["complete"]
    assert attrs["settled"] == [2, f"{last.settled:%Y-%m-%dT%H:%M:%S.%f}Z"]
    store.sync(net, settle="0s")
    assert store.coverage().iloc[-1].settled == newest - pd.Timedelta("1us")


def test_updates_that_appear_late_are_not_lost(store):
    with lf.sandbox(updates=600, rounds_per_day=1_440) as base:
        with replica(base.sandbox, late=0.5) as slow:
            net = lf.connect(scan_url=slow.scan_url)
            now = lf.load_updates(base, start=BEGIN).record_time.max()
            store.sync(net, now=now)
            base.sandbox.advance(updates=200)
            now = lf.load_updates(base, start=BEGIN).record_time.max()
            store.sync(net, now=now)
            for _ in range(8):
                store.sync(net, now=now + pd.Timedelta("2min"))
        store.sync(base, settle="0s")
        assert_whole(store, base)


def test_an_update_added_to_the_last_instant_is_found(store):
    """A server that lagged inside a tie shows the rest of it later."""
    with lf.sandbox(updates=800) as net:
        updates = lf.load_updates(net, start=BEGIN)
        ties = updates[updates.duplicated(["migration_id", "record_time"])]
        place = ties.index[-1]
        behind = len(updates) - place
        with replica(net.sandbox, lag=behind) as lagging:
            part = lf.connect(scan_url=lagging.scan_url)
            store.sync(part)
            assert len(store.load("updates")) == place
        store.sync(net)
        assert_whole(store, net)


def test_a_lagging_server_after_a_failover_loses_nothing(store):
    with lf.sandbox(updates=500) as net:
        store.sync(net)
        with replica(net.sandbox, lag=100) as lagging:
            report = store.sync(lf.connect(scan_url=lagging.scan_url))
            assert not report.complete
            assert "lag" in report.left[0]
        net.sandbox.advance(updates=10)
        store.sync(net)
        assert_whole(store, net)


def test_a_foreign_server_is_refused_alone_and_in_a_list(store, net):
    store.sync(net)
    with lf.sandbox(seed=99, updates=50) as other:
        with pytest.raises(lf.errors.StoreError, match="not the network"):
            store.sync(other)
        mixed = lf.connect(scan_url=[net.sandbox.scan_url, other.sandbox.scan_url])
        with pytest.raises(lf.errors.StoreError, match="not the network"):
            store.sync(mixed)
    assert_whole(store, net)


def test_a_page_of_one_item_is_never_taken_for_the_end(store):
    """Whether more updates share its record time cannot be known."""
    with simulated(updates=60, silent_cap=1) as net, pytest.raises(lf.errors.PagingError, match="caps them by items"):
        store.sync(net, workers=1)


@pytest.mark.parametrize("now", ["2020-01-01", "2090-01-01"])
def test_a_wrong_clock_loses_nothing(store, now, caplog):
    with lf.sandbox(updates=300) as net:
        store.sync(net, now=now)
        net.sandbox.advance(updates=30)
        assert store.sync(net, now=now).rows["updates"] == 30
        assert_whole(store, net)
    assert "this machine's clock says" in caplog.text


def test_no_server_is_left_out_for_its_small_pages(store, caplog):
    with simulated(updates=300, page_maximum=40) as net, replica(net.sandbox, page_maximum=30) as other:
        store.sync(lf.connect(scan_url=[net.sandbox.scan_url, other.scan_url]), page_size=15)
        assert_whole(store, net)
    assert "left out" not in caplog.text


def test_an_empty_ledger_makes_no_store(store):
    with lf.sandbox(updates=100) as net, replica(net.sandbox, lag=10_000) as nothing:
        report = store.sync(lf.connect(scan_url=nothing.scan_url))
    assert report.complete
    assert store.coverage().empty
    with pytest.raises(lf.errors.StoreError, match="has no updates"):
        store.load("updates")


def test_a_migration_that_appears_between_two_known_ones_is_read(store):
    with lf.sandbox(updates=300, migrations=3) as net:
        world = net.sandbox.world
        every = list(world.updates)
        later = [one for one in every if one.migration_id == 2]
        world.updates[:] = [*(one for one in every if one.migration_id == 0), *later[:5]]
        store.sync(net)
        assert set(store.load("updates").migration_id) == {0, 2}
        world.updates[:] = every
        store.sync(net)
        assert_whole(store, net)


@pytest.mark.parametrize(
    "target", [7, 30, 60, -1], ids=["on one page", "on the next page", "on a later page", "in another migration"]
)
def test_an_update_id_at_two_places_is_refused(target):
    with lf.sandbox(updates=200, migrations=2) as net:
        updates = net.sandbox.world.updates
        first, other = updates[3], updates[target]
        rendered = other.rendered.replace(other.update_id.encode(), first.update_id.encode())
        updates[target] = other._replace(update_id=first.update_id, rendered=rendered)
        with pytest.raises(lf.errors.PagingError, match="at another cursor") as caught:
            lf.load_history(net, start=BEGIN, page_size=25)
        assert str(caught.value).count(first.update_id) == 1


@pytest.mark.parametrize("target", [7, 30], ids=["on one page", "on the next page"])
def test_a_sync_that_is_shown_an_update_id_at_two_places_by_one_page_or_two_does_not_drop_one(store, target):
    with lf.sandbox(updates=200, migrations=2) as net:
        updates = net.sandbox.world.updates
        first, other = updates[3], updates[target]
        rendered = other.rendered.replace(other.update_id.encode(), first.update_id.encode())
        updates[target] = other._replace(update_id=first.update_id, rendered=rendered)
        with pytest.raises(lf.errors.PagingError, match="at another cursor"):
            store.sync(net, page_size=25)


def test_a_migration_that_begins_later_is_found(store):
    with lf.sandbox(updates=900, migrations=3) as net:
        ids = lf.load_updates(net, start=BEGIN).migration_id
        behind = int((ids == ids.max()).sum()) + 20
        with replica(net.sandbox, lag=behind) as early:
            store.sync(lf.connect(scan_url=early.scan_url))
            assert store.load("updates").migration_id.max() == ids.max() - 1
        store.sync(net)
        assert_whole(store, net)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, "workers=0"),
        ({"page_size": 5000}, "page_size=5000"),
        ({"tables": "updates"}, r'give a list, for example \["updates"\]'),
        ({"tables": []}, "names nothing"),
        ({"tables": ["rejects"]}, "cannot be synced"),
        ({"tables": ["update"]}, "did you mean"),
        ({"tables": ["holdings_summary"]}, "parties"),
        ({"parties": ["alice::12"]}, "parties= is for holdings_summary and transfer_preapprovals"),
        ({"parties": ["alice::12"], "tables": ["updates", "licenses"]}, "read party by party"),
        ({"settle": "soon"}, "settle='soon'"),
        ({"on_error": "skip"}, "on_error='skip'"),
        ({"last": "1h", "start": "2024-01-01"}, "both say where to begin"),
        ({"start": "2024-02-01", "end": "2024-01-01"}, "is not after"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_argument_is_named_and_nothing_is_sent(store, net, arguments, message):
    before = net.stats.requests
    with pytest.raises(lf.errors.InputError, match=message):
        store.sync(net, **arguments)
    assert net.stats.requests == before


def test_the_report_counts_what_was_done(store, net):
    report = store.sync(net)
    assert report.rows == {name: len(store.load(name)) for name in ("events", "reassignments", "updates")}
    assert set(report.stages) == {"fetch", "decode", "commit"}
    assert report.decoder == lf.versions()["decoder"]
    assert report.requests > 0
    assert report.bytes > 1_000
    assert report.commits >= 1
    assert report.sources == (net.sandbox.scan_url,)
    assert "<table>" in report._repr_html_()
    assert report.sync_id in repr(report)
    assert store.syncs().sync_id.tolist() == [report.sync_id]
    assert store.syncs().rows.iloc[0] == report.rows


def test_snapshots_are_appended_with_time_and_source(store, net):
    for _ in range(2):
        store.sync(net, tables=["licenses", "instruments"])
    found = store.load("instruments")
    assert found.loaded_at.nunique() == 2
    assert len(found) == 2 * len(lf.load_instruments(net))
    assert set(found.source) == {net.sandbox.registry_url}
    assert np.array_equal(store.load("licenses").validator.unique(), lf.load_licenses(net).validator.unique())


def test_holdings_are_appended_for_the_parties_named(store, net):
    parties = sorted(lf.load_holdings_summary(net, _owners(net)).party_id)[:3]
    store.sync(net, tables=["holdings_summary"], parties=parties)
    assert store.load("holdings_summary").party_id.tolist() == parties


def _owners(net):
    events = lf.load_events(net, start=BEGIN, as_="arrow").to_pylist()
    return sorted({party for event in events if event["signatories"] for party in event["signatories"]})[:20]


def test_a_sync_that_is_stopped_says_what_is_stored_and_how_to_go_on(store, monkeypatch, caplog):
    add = Committer.add
    pages = []

    def stopped(self, page):
        add(self, page)
        pages.append(page)
        if len(pages) == 3:
            raise KeyboardInterrupt

    with lf.sandbox(updates=600) as net:
        with monkeypatch.context() as patched, caplog.at_level("WARNING", "ledgerframes.store"):
            patched.setattr(Committer, "add", stopped)
            with pytest.raises(KeyboardInterrupt):
                store.sync(net, page_size=50, commit_bytes=1, workers=1, progress=False)
        stored = len(store.load("updates", allow_partial=True))
        assert f"stopped: {stored:,} of its updates are stored" in caplog.text
        assert "The same sync resumes there" in caplog.text
        assert store.sync(net, progress=False).rows["updates"] == 600 - stored < 600


def test_a_sync_says_how_far_it_is_in_percent(store, monkeypatch):
    """By the newest item that servers have shown so far, so the first figures are estimates."""
    shares = []
    shown = "ledgerframes.loaders.progress._Silent.advance"
    monkeypatch.setattr(shown, lambda *given: shares.append(given[-1]))
    with lf.sandbox(updates=600) as net:
        store.sync(net, page_size=50, workers=1, commit_bytes=1, progress=False)
    assert len(shares) > 5
    assert all(0 < share <= 1 for share in shares)
    assert shares[0] < 0.5 < 0.9 < shares[-1]


def test_a_sync_without_a_scan_says_so_once(tmp_path, caplog):
    with lf.sandbox(updates=50) as net:
        store = lf.open_store(tmp_path / "lake")
        store.sync(net, progress=False)
    with (
        lf.connect(ledger_url="http://127.0.0.1:1") as ledger,
        pytest.raises(lf.errors.ConfigurationError, match="no scan server"),
    ):
        store.sync(ledger, progress=False)
    assert caplog.records == []
