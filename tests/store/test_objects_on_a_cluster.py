"""Objects read by the workers of a cluster: the same store as without one, whatever happens to a worker."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.objects.sources import read_name
from ledgerframes.sandbox.faults import Faults
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.dask_fetching import plain_settings
from ledgerframes.store.sync.segment_work import RowFiles, SegmentTask, read_segment
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import simulated
from tests.store.conftest import assert_whole, by_value

pytestmark = pytest.mark.filterwarnings("default")  # the cluster's own libraries warn
#: Few enough that a segment has several pages.
PAGE = 25


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def quiet():
    """Two weeks with a segment of objects per day."""
    with simulated(days=14) as net:
        yield net


@pytest.fixture
def ledger(quiet):
    yield quiet
    quiet.sandbox.object_faults = ObjectFaults()


def downloads(net):
    return sum(count for name, count in net.sandbox.requests.items() if "/bulk/download/" in name)


def stray_files(store):
    """The files below the tables that no commit has added."""
    found = set()
    for name, table in store._lake.at().stored.items():
        listed = {Path(table.url, path) for path in table.files.listed}
        found |= {path for path in (store._lake.folder / name).rglob("*.parquet") if "_delta_log" not in path.parts}
        found -= listed
    return {path for path in found if "_sync" not in path.as_posix()}


def assert_sound(store, net):
    assert_whole(store, net, form=by_value)
    assert store.check(full=True)


@pytest.mark.long
def test_a_store_from_objects_on_a_cluster_is_that_without_one(store, ledger, cluster, tmp_path):
    before = downloads(ledger)
    report = store.sync(ledger, source="objects", engine=cluster, page_size=PAGE, progress=False)
    assert (report.complete, report.rows["updates"]) == (True, len(ledger.sandbox.world.updates))
    assert downloads(ledger) - before >= 10
    assert_sound(store, ledger)
    assert not stray_files(store)
    before = downloads(ledger)
    again = store.sync(ledger, source="auto", engine=cluster, page_size=PAGE, progress=False)
    assert (again.rows["updates"], downloads(ledger)) == (0, before)
    other = lf.open_store(tmp_path / "other")
    other.sync(ledger, source="objects", page_size=PAGE, progress=False)
    mine, theirs = store.coverage(), other.coverage()
    assert mine.drop(columns="settled").equals(theirs.drop(columns="settled"))
    # A page proves itself, so where pages end decides to the second, but the same updates are final.
    times = store.load("updates").record_time
    assert [(times <= at).sum() for at in mine.settled] == [(times <= at).sum() for at in theirs.settled]


@pytest.mark.long
def test_what_a_store_has_in_part_is_not_stored_twice(store, cluster):
    """Workers read what no table has; this process reads the end that was not final again, row by row."""
    with lf.sandbox(seed=3, days=6) as net:
        updates = lf.load_updates(net)
        end = updates.record_time.iloc[len(updates) // 2 + 7]
        stored = store.sync(net, end=end, settle="20h", page_size=PAGE, progress=False).rows["updates"]
        report = store.sync(net, source="objects", engine=cluster, settle="1s", page_size=PAGE, progress=False)
        assert 0 < report.rows["updates"] == len(net.sandbox.world.updates) - stored
        assert_sound(store, net)
        assert not stray_files(store)


@pytest.mark.long
def test_workers_do_not_ask_a_server_that_the_sync_has_left_out(store, cluster):
    """It may be of another network: it gave no answer while the sync looked, and answers by the time workers read."""
    with lf.sandbox(seed=3, days=6) as own, lf.sandbox(seed=4, days=6) as other:
        updates = lf.load_updates(own)
        store.sync(own, end=updates.record_time.iloc[len(updates) // 3], progress=False)
        with lf.connect(scan_url=[other.sandbox.scan_url, own.sandbox.scan_url], attempts=1) as both:
            other.sandbox.faults = Faults(sequence=("503",) * 2)  # for the list of objects, and to look
            store.sync(both, source="auto", engine=cluster, page_size=PAGE, progress=False)
        assert_sound(store, own)


@pytest.mark.long
@pytest.mark.parametrize(
    "faults",
    [ObjectFaults(cut=True), ObjectFaults(gone=True), ObjectFaults(overlap=True)],
    ids=["cut", "gone", "overlap"],
)
def test_pages_replace_objects_that_a_worker_cannot_read(store, ledger, cluster, faults, caplog):
    ledger.sandbox.object_faults = faults
    assert store.sync(ledger, source="auto", engine=cluster, page_size=PAGE, progress=False).complete
    assert_sound(store, ledger)
    assert ("could not read the objects" in caplog.text) is not faults.overlap


@pytest.mark.long
def test_a_worker_that_dies_while_it_reads_objects_loses_and_doubles_nothing(store, cluster):
    with lf.sandbox(days=14, latency=0.01) as net:

        def kill():
            deadline = time.monotonic() + 60
            while not downloads(net) and time.monotonic() < deadline:
                time.sleep(0.02)
            pids = cluster.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        store.sync(net, source="objects", engine=cluster, page_size=PAGE, progress=False)
        killer.join()
        assert_sound(store, net)


def task_of(store, net, **changes):
    """The task of one segment, which is a day."""
    settings = plain_settings(net.settings, workers=1)
    ref = next(iter(net.scan.iter_update_objects(after="2025-03-06T12:00:00Z", up_to="2025-03-07")))
    name = read_name(ref.url)
    interval = Interval(0, name.after, name.up_to - 60_000_001)
    task = {"interval": interval, "lake": store._lake.base, **changes}
    return SegmentTask(settings, (name.after, name.up_to), settle=60_000_000, **task)


def test_no_rows_travel(store, ledger):
    store.sync(ledger, end="2000-01-01", progress=False)
    task = task_of(store, ledger)
    result = read_segment(task)
    (_, lo, hi), updates = task.interval, ledger.sandbox.world.updates
    inside = [update for update in updates if update.migration_id == 0 and lo < update.record_time <= hi]
    assert sum(file.rows for file in result.files["updates"]) == len(inside) > 10
    assert result.first == inside[0].record_time
    assert len(pickle.dumps(result)) < 10_000


def test_a_task_that_fails_leaves_no_file(store, ledger, monkeypatch):
    store.sync(ledger, end="2000-01-01", progress=False)
    before = stray_files(store)
    stored = RowFiles.store

    def failing(self):
        stored(self)
        raise lf.errors.StoreError("the disk is full")

    monkeypatch.setattr(RowFiles, "store", failing)
    with pytest.raises(lf.errors.StoreError, match="the disk is full"):
        read_segment(task_of(store, ledger))
    assert stray_files(store) == before


def test_a_worker_that_does_not_see_the_store_says_so(store, ledger, tmp_path):
    store.sync(ledger, end="2000-01-01", progress=False)
    task = task_of(store, ledger)
    (tmp_path / "lake").rename(tmp_path / "elsewhere")
    with pytest.raises(lf.errors.StoreError, match=r"does not exist on a worker.*same path"):
        read_segment(task)


class Client:
    """What looks like a client of a cluster."""

    submit = cancel = None

    def scheduler_info(self, **_):
        return {"workers": {}}


def test_the_request_budget_is_shared_out():
    settings = lf.connect(scan_url="https://scan.example.com/api/scan", rate=8.0).settings
    share = plain_settings(settings, workers=4)
    assert (share["rate"] * 4, share["burst"] * 4, share["parallel"] * 4) == (8.0, 8, 4)


def test_a_token_never_goes_along():
    net = lf.connect(scan_url="https://scan.example.com/api/scan", scan_token="sesame-53ab10")
    with pytest.raises(lf.errors.ConfigurationError, match="not sent to the workers") as refused:
        plain_settings(net.settings, workers=2)
    assert "sesame" not in str(refused.value)
    ledger = lf.connect(scan_url="https://scan.example.com/api/scan", token="sesame-53ab10")
    assert b"sesame" not in pickle.dumps(plain_settings(ledger.settings, workers=2))


def test_pages_are_not_read_on_a_cluster(store, net):
    with pytest.raises(lf.errors.InputError, match=r"limits how many pages one client gets.*source='objects'"):
        store.sync(net, engine=Client())
    with pytest.raises(lf.errors.InputError, match="engine=str"):
        store.sync(net, engine="cluster")
    assert store.tables().empty


def test_a_store_with_credentials_is_refused_unsent(tmp_path, net):
    secret = lf.open_store(tmp_path / "lake", storage_options={"aws_secret_access_key": "sesame-7"})
    before = net.stats.requests
    with pytest.raises(lf.errors.InputError, match="storage_options are not sent to them") as refused:
        secret.sync(net, source="objects", engine=Client(), progress=False)
    assert "sesame-7" not in str(refused.value)
    assert net.stats.requests == before
