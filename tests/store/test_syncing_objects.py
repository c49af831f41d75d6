"""Stores that are filled from objects, also by the workers of a cluster, equal those from pages, whatever happens."""

import os
import pickle
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.objects.names import read_name
from ledgerframes.objects.readers import Readers
from ledgerframes.sandbox.faults import Faults
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.sync.cluster import plain_settings, read_segment
from tests.objects.test_opened_folders import download
from tests.rigs.object_faults import ObjectFaults
from tests.store.conftest import assert_covered_alike, assert_whole, by_value, downloads

#: Few enough that a segment of the quiet ledger has several pages.
PAGE = 60
ON_A_CLUSTER = [pytest.mark.long, pytest.mark.filterwarnings("default")]  # its own libraries warn


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        yield client


@pytest.fixture(params=["threads", pytest.param("cluster", marks=ON_A_CLUSTER)])
def way(request):
    """How objects are read."""
    return {"engine": request.getfixturevalue("cluster")} if request.param == "cluster" else {"workers": 4}


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Temporary files of a test lie in a folder of its own, and none is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def stray_files(store):
    """The files below the tables that no commit has added."""
    found = set()
    for name, table in store._lake.at().stored.items():
        listed = {Path(table.url, path) for path in table.files.listed}
        found |= {path for path in (store._lake.folder / name).rglob("*.parquet") if "_delta_log" not in path.parts}
        found -= listed
    return {path for path in found if "_sync" not in path.as_posix()}


def assert_equal(store, net):
    assert_whole(store, net, form=by_value)
    assert store.check(full=True)
    assert not stray_files(store)


def test_a_store_from_objects_is_that_from_pages_and_covers_as_much(store, tmp_path, ledger, way):
    before = downloads(ledger)
    report = store.sync(ledger, source="objects", page_size=PAGE, progress=False, **way)
    assert (report.complete, report.rows["updates"]) == (True, len(ledger.sandbox.world.updates))
    assert (downloads(ledger) - before).total() >= 10
    assert_equal(store, ledger)
    before = downloads(ledger)
    again = store.sync(ledger, source="auto", page_size=PAGE, progress=False, **way)
    assert (again.rows["updates"], downloads(ledger)) == (0, before)
    other, asked = lf.open_store(tmp_path / "other"), ledger.sandbox.requests.copy()
    other.sync(ledger, page_size=PAGE, progress=False)
    assert not any("bulk" in name for name in ledger.sandbox.requests - asked)
    assert_covered_alike(store, other)


@pytest.mark.long
def test_what_a_store_has_in_part_is_not_stored_twice(store, way):
    """Workers read what no table has; this process reads the end that was not final again, row by row."""
    with lf.sandbox(seed=3, days=6) as net:
        updates = lf.load_updates(net)
        end = updates.record_time.iloc[len(updates) // 2 + 7]
        stored = store.sync(net, end=end, settle="20h", page_size=PAGE, progress=False).rows["updates"]
        report = store.sync(net, source="objects", settle="1s", page_size=PAGE, progress=False, **way)
        assert 0 < report.rows["updates"] == len(net.sandbox.world.updates) - stored
        assert_equal(store, net)


FAULTS = {
    "gone": ObjectFaults(gone=True),
    "501": ObjectFaults(served=False),
    "wrong digest": ObjectFaults(wrong_digest=True),
    "cut": ObjectFaults(cut=True),
    "overlap": ObjectFaults(overlap=True),
    "another encoding": ObjectFaults(encodings=("protobuf_json",)),
}


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("fault", FAULTS)
def test_pages_replace_objects_that_cannot_be_read(store, ledger, way, fault, caplog):
    ledger.sandbox.object_faults = FAULTS[fault]
    if fault == "501":
        with pytest.raises(lf.errors.InputError, match="has no objects; give source='auto'"):
            store.sync(ledger, source="objects", progress=False)
    assert store.sync(ledger, source="auto", page_size=PAGE, progress=False, **way).complete
    assert_equal(store, ledger)
    said = "could not read the objects" if "engine" in way else "Pages are read instead"
    assert fault not in {"gone", "cut"} or said in caplog.text


@pytest.mark.usefixtures("own_folder")
def test_a_later_sync_reads_what_is_new(store, ledger):
    store.sync(ledger, end="2025-03-08T10:00:00Z", source="objects", page_size=PAGE, progress=False)
    before = downloads(ledger)
    store.sync(ledger, source="objects", page_size=PAGE, progress=False)
    # Which of them, not how often: workers that need one at different times may each fetch it.
    assert 4 <= len(downloads(ledger) - before) <= 16
    assert_equal(store, ledger)


def test_two_lakes_of_one_name_do_not_share_their_downloads(tmp_path, ledger, own_folder, monkeypatch):
    """The first one ends while the second one has objects on the disk."""
    seen = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        reports = lf.open_store("lake").follow(ledger, source="objects", every="1s", page_size=PAGE, progress=False)
        monkeypatch.setattr(Readers, "close", lambda _: seen.append({path.name for path in own_folder.iterdir()}))
        assert next(reports).complete
    assert len(seen) == 2
    assert not seen[0] & seen[1]


@pytest.mark.long
def test_workers_do_not_ask_a_server_that_the_sync_has_left_out(store, cluster):
    """It may be of another network: it gave no answer while the sync looked, and answers by the time workers read."""
    with lf.sandbox(seed=3, days=6) as own, lf.sandbox(seed=4, days=6) as other:
        updates = lf.load_updates(own)
        store.sync(own, end=updates.record_time.iloc[len(updates) // 3], progress=False)
        with lf.connect(scan_url=[other.sandbox.scan_url, own.sandbox.scan_url], attempts=1) as both:
            other.sandbox.faults = Faults(sequence=("503",) * 2)  # for the list of objects, and to look
            store.sync(both, source="auto", engine=cluster, page_size=PAGE, progress=False)
        assert_equal(store, own)


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
        assert_equal(store, net)


def task_of(store, net):
    """The task of one segment, which is a day."""
    settings = plain_settings(net.settings, workers=1)
    ref = next(iter(net.scan.iter_update_objects(after="2025-03-06T12:00:00Z", up_to="2025-03-07")))
    name = read_name(ref.url)
    interval = Interval(0, name.after, name.up_to - 60_000_001)
    return settings, (name.after, name.up_to), interval, store._lake.base


def test_no_rows_travel_from_a_worker_that_sees_the_store(store, ledger, tmp_path, monkeypatch):
    store.sync(ledger, end="2000-01-01", progress=False)
    task = task_of(store, ledger)
    result = read_segment(*task)
    (_, lo, hi), updates = task[2], ledger.sandbox.world.updates
    inside = [update for update in updates if update.migration_id == 0 and lo < update.record_time <= hi]
    assert sum(file.rows for file in result.files["updates"]) == len(inside) > 10
    assert result.first == inside[0].record_time
    assert len(pickle.dumps(result)) < 10_000
    before, stored = stray_files(store), DeltaStoreTable.store

    def failing(self, batches):
        if self.name == "updates":
            raise lf.errors.StoreError("the disk is full")
        return stored(self, batches)

    with monkeypatch.context() as patched:
        patched.setattr(DeltaStoreTable, "store", failing)
        with pytest.raises(lf.errors.StoreError, match="the disk is full"):
            read_segment(*task)
    assert stray_files(store) == before  # one that fails leaves no file
    (tmp_path / "lake").rename(tmp_path / "elsewhere")
    with pytest.raises(lf.errors.StoreError, match=r"does not exist on a worker.*same path"):
        read_segment(*task)


class Client:
    """What looks like a client of a cluster."""

    submit = cancel = None

    def scheduler_info(self, **_):
        return {"workers": {}}


def test_the_request_budget_is_shared_out_and_a_token_never_goes_along():
    url = "https://scan.example.com/api/scan"
    share = plain_settings(lf.connect(scan_url=url, rate=8.0, token="sesame-53ab10").settings, workers=4)
    assert (share["rate"] * 4, share["burst"] * 4, share["parallel"] * 4) == (8.0, 8, 4)
    assert b"sesame" not in pickle.dumps(share)
    with pytest.raises(lf.errors.ConfigurationError, match="not sent to the workers") as refused:
        plain_settings(lf.connect(scan_url=url, scan_token="sesame-53ab10").settings, workers=2)
    assert "sesame" not in str(refused.value)


def test_pages_opened_folders_and_stores_with_credentials_are_not_read_on_a_cluster(tmp_path, store, net):
    secret = lf.open_store(tmp_path / "other", storage_options={"aws_secret_access_key": "sesame-7"})
    download(net, tmp_path / "objects", up_to="2025-03-03T09:30:00Z")
    asked = net.stats.requests
    with lf.open_objects(tmp_path / "objects") as folder:
        for call, said in (
            (lambda: store.sync(net, engine=Client()), r"limits how many pages one client gets.*source='objects'"),
            (lambda: store.sync(net, engine="cluster"), "engine=str"),
            (lambda: store.sync(folder, engine=Client()), "does not go together with open_objects"),
            (lambda: secret.sync(net, source="objects", engine=Client()), "storage_options are not sent to them"),
        ):
            with pytest.raises(lf.errors.InputError, match=said) as refused:
                call()
            assert "sesame-7" not in str(refused.value)
    assert net.stats.requests == asked
    assert store.tables().empty
