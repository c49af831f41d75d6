"""A sync on the workers of a cluster: the same lake, the budget shared, no token on the way, dead workers survived."""

import os
import pickle
import signal
import threading
import time

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.errors import ConfigurationError
from ledgerframes.paging.proofs import OVERLAP, Proofs
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval
from ledgerframes.store.sync.dask_fetching import plain_settings
from ledgerframes.store.sync.worker_shard import ShardTask, read_shard, worker_secret
from tests.store.conftest import assert_whole

pytestmark = pytest.mark.filterwarnings("default")  # the cluster's own libraries warn
TOKEN = "sesame-53ab10"


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        yield client


def test_a_cluster_makes_the_same_lake(store, cluster):
    with lf.sandbox(updates=900) as net:
        report = store.sync(net, engine=cluster, page_size=30)
        assert_whole(store, net)
        assert report.complete
        net.sandbox.advance(updates=50)
        store.sync(net, engine=cluster)
        assert_whole(store, net)
        assert store.check()


@pytest.mark.long
def test_a_worker_that_dies_loses_and_doubles_nothing(store, cluster):
    with lf.sandbox(updates=1200, latency=0.01) as net:

        def kill():
            time.sleep(0.3)
            pids = cluster.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        store.sync(net, engine=cluster, page_size=10)
        killer.join()
        assert_whole(store, net)


def test_the_request_budget_is_shared_out():
    settings = lf.connect(scan_url="https://scan.example.com/api/scan", rate=8.0).settings
    share = plain_settings(settings, workers=4, worker_token=None)
    assert (share["rate"] * 4, share["burst"] * 4, share["parallel"] * 4) == (8.0, 8, 4)


def test_a_token_never_goes_along():
    net = lf.connect(scan_url="https://scan.example.com/api/scan", scan_token=TOKEN)
    with pytest.raises(ConfigurationError, match="worker_token="):
        plain_settings(net.settings, workers=2, worker_token=None)
    settings = plain_settings(net.settings, workers=2, worker_token="env:SCAN_TOKEN")
    assert TOKEN.encode() not in pickle.dumps(
        ShardTask(
            settings=settings,
            worker_token="env:SCAN_TOKEN",
            interval=None,
            page_size=10,
            proof=None,
            overlap=0,
            replicas=False,
        )
    )


def test_a_worker_finds_its_token_in_a_variable_a_file_or_by_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("SCAN_TOKEN", TOKEN)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert worker_secret("env:SCAN_TOKEN") == TOKEN
    assert worker_secret(f"file:{tmp_path / 'token'}") == TOKEN
    assert worker_secret(f"command:cat {tmp_path / 'token'}")() == TOKEN
    for place in ("env:NOTHING_THERE", "SCAN_TOKEN", "file:/nowhere/token", "command: "):
        with pytest.raises(ConfigurationError, match="worker_token="):
            worker_secret(place)


def test_what_is_no_cluster_is_refused(store, net):
    with pytest.raises(lf.errors.InputError, match="engine=str"):
        store.sync(net, engine="cluster")


@pytest.mark.long
def test_a_result_of_a_worker_holds_no_update_twice():
    """The end that is not settled is read again once it is proven how far the server has got."""
    with lf.sandbox(updates=150, migrations=1) as net:
        settings = plain_settings(net.settings, workers=1, worker_token=None)
        interval = Interval(int(lf.migrations(net).migration_id[0]), BEGINNING, CLOSED)
        task = ShardTask(settings, None, interval, 30, Proofs(60_000_000).now(), OVERLAP, replicas=False)
        result = read_shard(task)
    ids = pa.ipc.open_stream(result.batches["updates"]).read_all()["update_id"].to_pylist()

    assert result.ended
    assert len(ids) == len(set(ids)) == 150
