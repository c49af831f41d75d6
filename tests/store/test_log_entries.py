"""The newest entry of a table's log lost or emptied: `check` tells it, `repair` and a sync mend it."""

import shutil

import pytest

import ledgerframes as lf
from ledgerframes.store.history_tables import ORDER
from tests.store.conftest import assert_whole


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=5, updates=240) as network:
        yield network


@pytest.fixture(scope="module")
def whole(net, tmp_path_factory):
    store = lf.open_store(tmp_path_factory.mktemp("whole") / "lake")
    store.sync(net, page_size=40, commit_bytes=60_000, workers=1)
    store.sync(net, tables=["licenses"])
    return store


@pytest.fixture
def store(whole, tmp_path):
    shutil.copytree(whole._lake.folder, tmp_path / "lake")
    return lf.open_store(tmp_path / "lake")


HARMS = {"lost": lambda entry: entry.unlink(), "emptied": lambda entry: entry.write_bytes(b"")}


@pytest.mark.long
@pytest.mark.parametrize("name", [*ORDER, "licenses"])
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_the_newest_entry_of_a_log_is_missed(store, net, name, harm):
    assert store.check()
    harm(sorted((store._lake.folder / name / "_delta_log").glob("*.json"))[-1])
    found = store.check()
    assert not found
    assert f"{name}: entries of its log" in str(found)
    assert "repair" in str(found)
    assert store.repair().entries == {name: 1}
    assert store.check()
    store.sync(net)
    assert_whole(store, net)
    assert store.check()


@pytest.mark.long
def test_an_emptied_entry_of_the_list_of_syncs_is_missed(store):
    sorted((store._lake.folder / "syncs" / "_delta_log").glob("*.json"))[-1].write_bytes(b"")
    assert "syncs: entries of its log" in str(store.check())
    store.repair()
    assert store.check()


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("name", ["events", "updates", "reassignments"])
@pytest.mark.parametrize("part", [3, 2])
def test_an_emptied_entry_in_the_middle_of_a_log_is_missed(store, net, name, part):
    log = sorted((store._lake.folder / name / "_delta_log").glob("*.json"))
    log[len(log) // part].write_bytes(b"")
    assert f"{name}: entries of its log" in str(store.check())
    assert store.repair().entries == {name: 1}
    store.sync(net)
    assert_whole(store, net)
    assert store.check()
