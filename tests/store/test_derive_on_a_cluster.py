"""Tables computed by the workers of a cluster: the same as in one go, dead workers and dead clients survived."""

import os
import pickle
import signal

import pytest

import ledgerframes as lf
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive import chunks, kept
from ledgerframes.store.derive.dask_work import source_of
from tests.hostile.serving import simulated
from tests.store.test_derived import NAMES, assert_equal_to_one_go
from tests.store.test_partial_rebuild import Killed, retry_as
from tests.store.test_rejects import BREAKS, spoil

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]  # the cluster's own libraries warn


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", 150)


@pytest.mark.parametrize("hostile", [False, True])
def test_a_cluster_computes_the_same_tables(store, cluster, hostile):
    with simulated(updates=200, hostile=hostile) as net:
        store.sync(net, progress=False, derive=[])
    report = store.derive(NAMES, engine=cluster)

    assert report.commits > 3 * len(NAMES)
    assert_equal_to_one_go(store)
    assert store.derive(engine=cluster).commits == 0


def test_a_sync_on_a_cluster_computes_what_is_new_there(store, cluster, monkeypatch):
    with lf.sandbox(updates=300, migrations=1) as net:
        every = list(net.sandbox.world.updates)
        for count in (120, 300):
            net.sandbox.world.updates[:] = every[:count]
            with monkeypatch.context() as here:
                # Nothing is computed in this process.
                here.setattr("ledgerframes.store.derive.deriving.work_here", None)
                assert store.sync(net, engine=cluster, progress=False, derive=NAMES).complete
            assert_equal_to_one_go(store)
    assert store.check(full=True)


def test_what_follows_a_change_is_computed_again_on_a_cluster(store, cluster):
    with lf.sandbox(updates=300, migrations=1) as net:
        world = net.sandbox.world
        place = next(n for n in range(220, 300) if b"AmuletRules_Transfer" in world.updates[n].rendered)
        good = spoil(world, place, BREAKS["no template"])
        store.sync(net, progress=False, on_error="reject", derive=NAMES)
    retry_as(store, good)

    assert "mint_burn" in store.derive(engine=cluster).kept
    assert_equal_to_one_go(store)


def test_a_worker_that_dies_loses_and_doubles_nothing(store, cluster):
    with lf.sandbox(updates=600, migrations=1) as net:
        store.sync(net, progress=False, derive=[])
    commit, commits, victim = DeltaStoreTable._commit, 0, []

    def killing(self, actions, numbers):
        nonlocal commits
        commit(self, actions, numbers)
        commits += 1
        if commits == 5:
            victim.append(next(iter(cluster.run(os.getpid).values())))
            os.kill(victim[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeltaStoreTable, "_commit", killing)
        store.derive(NAMES, engine=cluster)

    assert victim
    assert commits > 50
    assert_equal_to_one_go(store)
    assert store.check(full=True)


@pytest.mark.parametrize("instant", [5, 13])
def test_killed_at_its_commits_tables_equal_those_in_one_go(store, cluster, instant):
    with lf.sandbox(updates=200, migrations=1) as net:
        store.sync(net, progress=False, derive=[])
    commit = DeltaStoreTable._commit
    left = 0

    def dying(self, actions, numbers):
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        commit(self, actions, numbers)

    for _ in range(40):
        left = instant
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DeltaStoreTable, "_commit", dying)
            try:
                lf.open_store(store._lake.folder).derive(NAMES, engine=cluster)
                break
            except Killed:
                pass
    else:
        raise AssertionError("it never came to an end")
    assert_equal_to_one_go(store)


def test_a_derive_that_fails_leaves_no_task_on_the_cluster(store, cluster, monkeypatch):
    with lf.sandbox(updates=300) as net:
        store.sync(net, progress=False, derive=[])
    monkeypatch.setattr(DeltaStoreTable, "change", lambda *_, **__: (_ for _ in ()).throw(lf.errors.StoreError("full")))
    with pytest.raises(lf.errors.StoreError, match="full"):
        store.derive(NAMES, engine=cluster)

    ours = {"contracts_in", "rows_for"}
    for _ in range(2_000):  # the scheduler is told in the background
        known = cluster.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        if not [key for key in known if key.split("-")[0] in ours]:
            return
    raise AssertionError(known)


def test_a_worker_of_another_version_is_refused(store, cluster, monkeypatch):
    with lf.sandbox(updates=60) as net:
        store.sync(net, progress=False, derive=[])
    monkeypatch.setitem(kept.VERSIONS, "transfers", kept.VERSIONS["transfers"] + 1)
    with pytest.raises(lf.errors.StoreError, match="a worker of the cluster has another version of ledgerframes"):
        store.derive(["transfers"], engine=cluster)


def test_a_worker_without_the_store_is_refused(store, net, tmp_path):
    store.sync(net, progress=False)
    source = source_of(store._lake, store._lake.view())
    elsewhere = pickle.loads(pickle.dumps(source).replace(b"/lake", b"/loch"))
    assert elsewhere.url == str(tmp_path / "loch")
    with pytest.raises(lf.errors.StoreError, match="a worker of the cluster finds no store here; all workers need it"):
        elsewhere.reader()


def test_what_cannot_compute_is_refused(store, net):
    store.sync(net, progress=False)
    with pytest.raises(lf.errors.InputError, match="engine=str is not a dask"):
        store.derive(["rewards"], engine="cluster")
    secret = lf.open_store(store._lake.folder, storage_options={"aws_secret_access_key": "sesame"})
    with pytest.raises(lf.errors.InputError, match="engine= and storage_options= do not go together") as refused:
        secret.derive(["rewards"], engine=type("Client", (), dict.fromkeys(("submit", "scheduler_info", "cancel")))())
    assert "sesame" not in str(refused.value)
