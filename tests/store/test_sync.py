"""A store is brought up to date, once or as a live tail: everything once, whatever there was before."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.committing import Committer
from tests.rigs.servers import replica, simulated
from tests.store.conftest import BEGIN, LATE, assert_whole

WORLDS = {"usual": {"updates": 600}, "the nastiest": {"seed": 11, "updates": 120, "hostile": True}}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("world", "workers", "page_size"),
    [("usual", 4, 20), ("the nastiest", 4, 50), ("usual", 1, 1000), ("usual", 16, 20), ("the nastiest", 1, 50)],
)
def test_a_history_is_kept_whole(store, world, workers, page_size):
    with simulated(**WORLDS[world]) as net:
        options = {"now": LATE, "settle": "0s"} if world == "the nastiest" else {}
        report = store.sync(net, workers=workers, page_size=page_size, **options)
        assert_whole(store, net)
    assert report.complete
    assert report.rows["updates"] == WORLDS[world]["updates"]
    assert report.left == ()


@pytest.mark.parametrize(("migrations", "servers", "requests"), [(3, 1, 3), (1, 3, 3)])
def test_without_news_a_sync_asks_every_server_once_per_open_migration_and_writes_nothing(
    store, migrations, servers, requests
):
    """The world is an hour long, so each of its migrations is still open."""
    with (
        lf.sandbox(updates=120, migrations=migrations) as base,
        base.sandbox.replica() as second,
        base.sandbox.replica() as third,
    ):
        net = lf.connect(scan_url=[base.sandbox.scan_url, second.scan_url, third.scan_url][:servers])
        store.sync(net)
        files, before = set(store._lake.folder.rglob("*")), net.stats.requests
        report = store.sync(net)
        assert report.requests == net.stats.requests - before == requests
        assert_whole(store, net)
    assert (report.complete, sum(report.rows.values())) == (True, 0)
    assert set(store._lake.folder.rglob("*")) == files
    assert len(store.syncs()) == 1


def test_without_news_a_sync_opens_a_long_table_once_and_reads_its_last_hour(store, monkeypatch):
    opened, read, dataset, reads = [], [], DeltaStoreTable.dataset, HistoryTables._read
    with lf.sandbox(days=1, migrations=1) as net:
        store.sync(net)
        monkeypatch.setattr(DeltaStoreTable, "dataset", lambda self: opened.append(self.name) or dataset(self))
        monkeypatch.setattr(HistoryTables, "_read", lambda *asked: read.append(rows := reads(*asked)) or rows)
        store.sync(net)
    assert opened.count("updates") == 1
    assert 0 < max(map(len, read)) < len(store.load("updates")) / 10


def test_workers_share_the_proof_that_was_found_where_a_history_ends(store):
    with lf.sandbox(updates=1_000, migrations=1) as net:
        assert store.sync(net, page_size=50).requests < 50  # 20 pages, and as many to find the end and to cut


def test_rows_are_final_up_to_the_newest_one_less_settle(store, small):
    newest = lf.load_updates(small).record_time.max()
    store.sync(small, settle="60s")
    assert_whole(store, small)
    last = store.coverage().iloc[-1]
    assert last.settled == newest - pd.Timedelta("60s") - pd.Timedelta("1us")
    assert last.up_to == newest
    attrs = store.load("updates").attrs
    assert attrs["complete"]
    assert attrs["settled"] == [2, f"{last.settled:%Y-%m-%dT%H:%M:%S.%f}Z"]
    store.sync(small, settle="0s")
    assert store.coverage().iloc[-1].settled == newest - pd.Timedelta("1us")


def test_a_server_that_lags_after_a_failover_loses_nothing_and_is_named(store):
    with lf.sandbox(updates=200) as net:
        store.sync(net)
        with replica(net.sandbox, lag=100) as lagging:
            report = store.sync(lf.connect(scan_url=lagging.scan_url))
            assert not report.complete
            assert "lag" in report.left[0]
        net.sandbox.advance(updates=10)
        store.sync(net)
        assert_whole(store, net)


def test_a_lake_of_an_empty_ledger_is_sound_and_has_nothing_to_show(store, tmp_path):
    with lf.sandbox(updates=0) as net:
        assert store.sync(net, progress=False).complete
    assert store.check()
    assert store.tables().empty
    assert store.coverage().empty
    for ask, said in (
        (lambda: store.load("updates"), "has no updates"),
        (lambda: store.sql("select count(*) as rows from updates"), "has no updates"),
        (lambda: store.export(tmp_path / "out"), "there is no table to export; sync it first"),
    ):
        with pytest.raises(lf.errors.StoreError, match=said):
            ask()


@pytest.mark.parametrize("target", [7, 30, 60, -1], ids=["one page", "the next", "a later one", "another migration"])
def test_an_update_id_at_two_places_is_refused(store, target):
    with lf.sandbox(updates=200, migrations=2) as net:
        updates = net.sandbox.world.updates
        first, other = updates[3], updates[target]
        rendered = other.rendered.replace(other.update_id.encode(), first.update_id.encode())
        updates[target] = other._replace(update_id=first.update_id, rendered=rendered)
        near = target in {7, 30}  # a sync compares a page with the one before
        for read in [partial(lf.load_history, net, start=BEGIN), *[partial(store.sync, net)] * near]:
            with pytest.raises(lf.errors.PagingError, match="at another cursor") as caught:
                read(page_size=25)
            assert str(caught.value).count(first.update_id) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"page_size": 5000}, "page_size=5000"),
        ({"tables": "updates"}, r'give a list, for example \["updates"\]'),
        ({"tables": []}, "names nothing"),
        ({"tables": ["rejects"]}, "cannot be synced"),
        ({"tables": ["update"]}, "did you mean"),
        ({"tables": ["holdings_summary"]}, "parties"),
        ({"parties": ["alice::12"]}, "parties= is for holdings_summary and transfer_preapprovals"),
        ({"parties": ["alice::12"], "tables": ["updates", "licenses"]}, "read party by party"),
        ({"last": "1h", "start": "2024-01-01"}, "both say where to begin"),
        ({"start": "2024-02-01", "end": "2024-01-01"}, "is not after"),
        ({"source": "object"}, "source="),
        ({"source": "objects", "tables": ["active_contracts"]}, "is for the update history.*active_contracts"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_argument_is_named_and_nothing_is_sent(store, net, arguments, message):
    before = net.stats.requests
    with pytest.raises(lf.errors.InputError, match=message):
        store.sync(net, **arguments)
    assert net.stats.requests == before


def test_the_report_counts_what_was_done(store, small):
    report = store.sync(small)
    assert report.rows == {name: len(store.load(name)) for name in ("events", "reassignments", "updates")}
    assert report.decoder == lf.versions()["decoder"]
    assert report.requests > 0
    assert report.bytes > 1_000
    assert report.commits >= 1
    assert report.sources == (small.sandbox.scan_url,)
    assert "<table>" in report._repr_html_()
    assert report.sync_id in repr(report)
    assert store.syncs().sync_id.tolist() == [report.sync_id]
    assert store.syncs().rows.iloc[0] == report.rows


def test_snapshots_are_appended_with_time_and_source_and_holdings_for_the_parties_named(store, net):
    for _ in range(2):
        store.sync(net, tables=["licenses", "instruments"])
    found = store.load("instruments")
    assert found.loaded_at.nunique() == 2
    assert len(found) == 2 * len(lf.load_instruments(net))
    assert set(found.source) == {net.sandbox.registry_url}
    assert np.array_equal(store.load("licenses").validator.unique(), lf.load_licenses(net).validator.unique())
    coins = lf.load_active_contracts(net, templates=["splice-amulet:Splice.Amulet:Amulet"]).signatories
    parties = sorted({party for one in coins for party in one})[:3]
    store.sync(net, tables=["holdings_summary"], parties=parties)
    assert store.load("holdings_summary").party_id.tolist() == parties


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


def test_a_sync_without_a_scan_says_so_once(store, small, caplog):
    store.sync(small, progress=False)
    with (
        lf.connect(ledger_url="http://127.0.0.1:1") as ledger,
        pytest.raises(lf.errors.ConfigurationError, match="no scan server"),
    ):
        store.sync(ledger, progress=False)
    assert caplog.records == []


def test_a_plan_counts_the_migrations_before_a_lake_and_no_more_than_is_wanted(tmp_path):
    with lf.sandbox(updates=120) as net:
        times = lf.load_updates(net).groupby("migration_id").record_time
        late, early = lf.open_store(tmp_path / "late"), lf.open_store(tmp_path / "early")
        late.sync(net, start=(1, times.min()[1]), progress=False)
        early.sync(net, end=(1, times.min()[1]), progress=False)

        assert late.plan(net).rows == 40
        assert early.plan(net, start=(2, times.min()[2])).rows == 40
        assert early.sync(net, progress=False).complete
        assert (found := early.plan(net)).range.startswith("all that there is of it is in the lake")
        assert found.sync_requests <= 4


def test_a_tail_outlives_a_server_that_is_away_and_another_writer_and_ends_when_told(store, caplog):
    stop = threading.Event()
    with lf.sandbox(updates=50) as base:
        net = lf.connect(scan_url=base.sandbox.scan_url, attempts=1)
        reports = store.follow(net, every="0.2s", stop=stop)
        assert next(reports).rows["updates"] == 50
        for failures in (0, 2):
            base.sandbox.advance(updates=7)
            base.sandbox.faults = Faults(sequence=("503",) * failures)
            assert next(reports).rows["updates"] == 7
        assert_whole(store, net)
    with store._lake.writing():  # as a nightly compact does
        threading.Timer(0.5, stop.set).start()
        assert list(reports) == []
    assert "starts in 0.2 s: " in caplog.text  # a short wait is written in full
    assert "another process writes to it" in caplog.text


def test_a_fork_in_the_unsettled_tail_is_left_by_repair(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        store.sync(net)
        gone = net.sandbox.world.updates.pop(-2)
        net.sandbox.advance(updates=60)
        with pytest.raises(lf.errors.StoreError, match=r"repair\(unsettled=True\)"):
            store.sync(net)
        settled = store.coverage().settled.iloc[0]
        assert "nothing to repair" in str(store.repair())
        with pytest.raises(lf.errors.InputError, match="unsettled='yes'"):
            store.repair(unsettled="yes")
        assert gone.update_id in set(store.load("updates").update_id)
        report = store.repair(unsettled=True)
        assert report.stretches
        assert gone.update_id not in set(store.load("updates").update_id)
        assert store.coverage().settled.iloc[0] == settled
        assert store.check()
        store.sync(net)
        assert_whole(store, net)


def test_a_fork_in_the_settled_part_needs_a_new_store(store):
    with lf.sandbox(updates=200, migrations=1) as net:
        updates = net.sandbox.world.updates
        store.sync(net, end=lf.load_updates(net).record_time[100])
        count = len(store.load("updates"))
        updates.pop(count - 1)
        for _ in range(2):
            with pytest.raises(lf.errors.StoreError, match=r"store is final: sync into a new store"):
                store.sync(net)
            store.repair(unsettled=True)
        assert len(store.load("updates")) == count
