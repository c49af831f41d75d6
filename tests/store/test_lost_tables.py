"""Whichever table of a lake is lost, damaged or cut short, `check`, reads and syncs say so, and `repair` mends it."""

import json
import shutil

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.table_sets import HISTORY, VERDICTS
from tests.store.conftest import LATE

READ_AGAIN = (*HISTORY.order, *VERDICTS.order)
COMPUTED = ("rewards", "coin_history")
#: What only the past had.
SNAPSHOTS = ("licenses", "active_contracts", "rejects")
SHOWN = (*READ_AGAIN, *COMPUTED, *SNAPSHOTS)
ALL = (*SHOWN, "open_contracts", "syncs")


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=5, updates=240) as network:
        update = network.sandbox.world.updates[100]
        item = json.loads(update.rendered)
        item["effective_at"] = "tomorrow"
        network.sandbox.world.updates[100] = update._replace(rendered=json.dumps(item).encode())
        yield network


@pytest.fixture(scope="module")
def whole(net, tmp_path_factory):
    """A lake with every kind of table, in several commits each, and what it shows."""
    store = lf.open_store(tmp_path_factory.mktemp("whole") / "lake")
    store.sync(net, end="2025-03-03T09:00:00Z", on_error="reject", derive=COMPUTED, workers=1)
    store.sync(net, page_size=40, commit_bytes=60_000, workers=1, on_error="reject")
    store.sync(net, tables=["verdicts"], page_size=40, commit_bytes=20_000, workers=1)
    for _ in range(2):
        store.sync(net, tables=["licenses", "active_contracts"], page_size=20, commit_bytes=40_000)
    assert store.check(full=True)
    return store, {name: rows_of(store, name) for name in SHOWN}


@pytest.fixture
def store(whole, tmp_path):
    shutil.copytree(whole[0]._lake.folder, tmp_path / "lake")
    return lf.open_store(tmp_path / "lake")


def rows_of(store, name):
    """The rows of a table in an order of their own."""
    rows = store.load(name, end=LATE if name in READ_AGAIN else None, allow_partial=True)
    return rows.sort_values([*rows.columns], key=lambda column: column.astype(str), ignore_index=True)


def entries(store, name):
    return sorted((store._lake.folder / name / "_delta_log").glob("*.json"))


def remove(store, name):
    shutil.rmtree(store._lake.folder / name)


def damage(store, name):
    entry = entries(store, name)[0]
    content = bytearray(entry.read_bytes())
    content[content.index(b'"')] = ord("#")
    entry.write_bytes(content)


def cut(store, name):
    entries(store, name)[-1].unlink()


def empty(store, name):
    """Empty the entry by which the first file came that is still read, as a power cut does."""
    paths = [path.encode() for path in store._lake.table(name).refresh().files.listed]
    adding = (entry for entry in entries(store, name) if any(path in entry.read_bytes() for path in paths))
    next(adding).write_bytes(b"")


HARMS = {harm.__name__: harm for harm in (remove, damage, cut, empty)}


#: One table that is read again, one that is computed and one that only the past had, first; then all tables.
FIRST = [("remove", "events"), ("empty", "rewards"), ("cut", "licenses")]
CASES = [*FIRST, *((harm, name) for harm in ("remove", "empty") for name in ALL if (harm, name) not in FIRST)]
CASES += [(harm, name) for harm in ("damage", "cut") for name in ("updates", "views", "coin_history", "syncs")]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(("harm", "name"), CASES)
def test_a_table_that_is_lost_or_damaged_is_missed_and_mended(store, whole, net, harm, name):
    HARMS[harm](store, name)

    assert_missed(store, net, name)
    report = store.repair()
    assert name in str(report)
    if name in (*SNAPSHOTS, "syncs"):
        assert report.lost[name] > 0, report
    store.sync(net, tables=["updates", "events", "reassignments", "verdicts"], on_error="reject")
    assert store.check(full=True)
    assert not store.repair().remade
    for kept in SHOWN:
        if kept != name or name not in SNAPSHOTS:
            pd.testing.assert_frame_equal(rows_of(store, kept), whole[1][kept])


def assert_missed(store, net, name):
    """`check` says no, and neither a read of the table nor a sync goes on as if nothing were."""
    try:
        found = store.check()
    except lf.errors.StoreError as error:
        found, said = False, str(error)
    else:
        said = str(found)
    assert not found
    assert name in said
    reads = [lambda: store.load(name, allow_partial=True), lambda: store.sql(f"select * from {name}")]
    calls = [lambda: store.sync(net, on_error="reject")] * (name != "syncs") + reads * (name in SHOWN)
    for call in calls:
        with pytest.raises(lf.errors.StoreError, match=name):
            call()


def test_a_damaged_checkpoint_is_said_with_what_repairs_it(copied, parted, small):
    store = copied
    store.compact()
    checkpoint = next((store._lake.folder / "events" / "_delta_log").glob("*.checkpoint.parquet"))
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    for use in (store.check, lambda: lf.open_store(store._lake.url).load("events"), lambda: store.sync(small)):
        with pytest.raises(lf.errors.StoreError, match=r"store\.repair\(\)"):
            use()
    store.repair()
    store.sync(small)

    pd.testing.assert_frame_equal(rows_of(store, "events"), rows_of(parted, "events"))


@pytest.mark.parametrize("content", [None, b"", b'{"content":{"format":4},"crc32":1}'], ids=["gone", "empty", "other"])
def test_a_lost_list_of_tables_is_said_and_made_again(store, net, content):
    place = store._lake.folder / "lake.json"
    before = place.read_bytes()
    if content is None:
        place.unlink()
    else:
        place.write_bytes(content)
    for call in (lambda: store.load("updates"), lambda: store.sync(net), store.check):
        with pytest.raises(lf.errors.StoreError, match=r"lake\.json"):
            call()
    assert "lake.json" in str(store.repair())
    assert place.read_bytes() == before
    assert store.check()


def test_a_lake_of_an_older_version_is_refused(store):
    for name in ALL:
        if name != "updates":
            remove(store, name)
    (store._lake.folder / "lake.json").unlink()
    with pytest.raises(lf.errors.StoreError, match=r"0\.1 or 0\.2"):
        store.load("updates")


def test_a_sync_opens_no_table_that_is_not_there_and_a_first_one_the_others_twice(tmp_path, monkeypatch):
    opened = []

    def counting(self, version, original=DeltaStoreTable._open):
        opened.append(self.name)
        return original(self, version)

    monkeypatch.setattr(DeltaStoreTable, "_open", counting)
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=60) as net:
        store.sync(net)
        assert set(opened) == {*HISTORY.order}
        assert max(map(opened.count, opened)) <= 2, opened
        opened.clear()
        versions = dict(store.tables().set_index("table").version)
        opened.clear()
        store.sync(net)
        assert max(map(opened.count, opened)) <= 4, opened
        assert dict(store.tables().set_index("table").version) == versions
        store.load("events")
        opened.clear()
        store.load("events")
        assert opened == ["updates"]  # which says that the state is the same
