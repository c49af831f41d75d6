"""`repair` removes what is damaged, lost or unsound; readers never see a wrong row, and a sync makes it whole."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.store.history_tables import ORDER
from tests.store.conftest import KEYS, adopt, assert_whole, data_files
from tests.store.test_trust import HARMS


@pytest.fixture
def net(small):
    return small


@pytest.fixture
def store(copied):
    return copied


def spoil(file):
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 16  # among its rows: bits of pages that nobody reads harm nobody, and have no checksum
    file.write_bytes(raw)


def assert_true_but_not_whole(store, whole):
    """What readers see is part of the truth, each update with all that belongs to it."""
    with pytest.raises(lf.errors.PartialResultError):
        store.load("updates")
    seen = set(store.load("updates", allow_partial=True).update_id)
    assert seen
    for name, key in KEYS.items():
        found = store.load(name, allow_partial=True).set_index(key)
        truth = whole.load(name)
        assert found.index.is_unique
        assert set(found.index) == set(truth[truth.update_id.isin(seen)].set_index(key).index)
    assert store.check(full=True)


def mend(store, net):
    store.sync(net)
    assert_whole(store, net)
    assert store.check(full=True).findings == ()
    assert str(store.repair()).endswith("nothing to repair")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    ("names", "harm"),
    [(["events"], spoil), (["updates"], Path.unlink), (["reassignments"], Path.unlink), (ORDER, spoil)],
    ids=["flipped", "an index gone", "gone", "of every table"],
)
def test_a_damaged_file_is_taken_out_and_read_again(store, parted, net, names, harm):
    for name in names:
        harm(data_files(store, name)[0])
    assert not store.check(full=True)
    report = store.repair()
    assert len(report.damaged) == len(names)
    assert report.stretches
    assert "run sync" in str(report)
    assert_true_but_not_whole(store, parted)
    mend(store, net)


def test_every_file_of_every_table_may_be_damaged(store, net):
    for name in ORDER:
        for file in data_files(store, name):
            spoil(file)
    store.repair()
    assert store.load("updates", allow_partial=True).empty
    mend(store, net)


@pytest.mark.parametrize("harm", ["garbage", "torn", "gap"])
def test_a_log_that_cannot_be_read_is_set_aside(store, net, harm):
    logs = sorted((store._lake.folder / "events" / "_delta_log").glob("*.json"))
    if harm == "garbage":
        logs[0].write_text("not json")
    elif harm == "torn":
        logs[-1].write_bytes(logs[-1].read_bytes()[:-200])
    else:
        logs[1].unlink()
    for call in (lambda: store.load("events"), lambda: store.sync(net)):
        with pytest.raises(lf.errors.StoreError, match="events"):
            call()
    assert store.repair().remade == ("events",)
    assert list((store._lake.folder / "events").glob("_delta_log.damaged.*"))
    mend(store, net)


def other_counter(rows):
    """The rows, one assignment whose unassignment is there with another counter."""
    places = [n for n, kind in enumerate(rows["kind"].to_pylist()) if kind == "assignment"]
    pairs = rows["unassign_id"].to_pylist()
    place = next(n for n in places if pairs.count(pairs[n]) == 2)
    counters = rows["reassignment_counter"].to_pylist()
    counters[place] += 50
    column = rows.column_names.index("reassignment_counter")
    return rows.set_column(column, rows.schema.field(column), pa.array(counters, pa.int64()))


UNSOUND = HARMS | {"a counter": ("reassignments", other_counter, "counter differs")}


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("name", "harm", "said"), UNSOUND.values(), ids=UNSOUND)
def test_what_check_proves_wrong_is_read_again(store, net, name, harm, said):
    table = store._lake.table(name).refresh()
    write_deltalake(DeltaTable(table.url), harm(table.handle.to_pyarrow_dataset().to_table()), mode="overwrite")
    adopt(store)
    assert any(said in one for one in store.repair().unsound)
    assert store.check()
    store.sync(net)
    assert_whole(store, net)
    assert store.check()


def test_a_damaged_snapshot_is_taken_out_and_reported(store, net):
    for _ in range(2):
        store.sync(net, tables=["licenses"])
    count = len(store.load("licenses"))
    spoil(data_files(store, "licenses")[0])
    report = store.repair()
    assert report.lost == {"licenses": count / 2}
    assert report.stretches == ()
    assert len(store.load("licenses")) == count / 2
    assert store.check(full=True)


def test_a_sound_store_is_left_as_it_is(store):
    before = store.tables()
    assert str(store.repair()).endswith("nothing to repair")
    assert store.tables().equals(before)


@pytest.mark.long
def test_older_states_stay(store, net):
    first = store.syncs().sync_id[0]
    before = store.load("events", as_of=first)
    rows = store.load("updates", as_="arrow")
    twice = pa.concat_tables([rows, rows.slice(0, 20)])
    write_deltalake(DeltaTable(store._lake.table("updates").url), twice, mode="overwrite")
    store.repair()
    store.sync(net)
    assert store.load("events", as_of=first).equals(before)
