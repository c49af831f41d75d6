"""Files that were changed, cut or lost after they were written: every read says so, none gives wrong rows."""

import random
import shutil

import pytest

import ledgerframes as lf
from ledgerframes.store.history_tables import ORDER
from tests.store.conftest import assert_whole, data_files

READS = {
    "load": lambda store, _: store.load("events"),
    "sql": lambda store, _: store.sql("select * from events"),
    "export": lambda store, folder: store.export(folder, tables=["events"]),
    "dask": lambda store, _: store.dask("events").compute(scheduler="synchronous"),
}


@pytest.fixture
def store(copied):
    return copied


def flip(file, rng):
    """Turn one bit over."""
    raw = bytearray(file.read_bytes())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    file.write_bytes(raw)


@pytest.mark.long
def test_no_flipped_bit_gives_a_wrong_row(parted, copied):
    rng = random.Random(4)
    store, wanted = copied, {name: parted.load(name, as_="arrow") for name in (*ORDER, "instruments")}
    said = []
    for _ in range(120):
        file = rng.choice(data_files(store, *ORDER, "instruments"))
        name = file.relative_to(store._lake.folder).parts[0]
        sound = file.read_bytes()
        flip(file, rng)
        try:
            assert store.load(name, as_="arrow").equals(wanted[name])
        except lf.errors.StoreError as error:
            said.append(file.name in str(error) and "store.repair()" in str(error))
        file.write_bytes(sound)
    assert len(said) > 110
    assert all(said)


@pytest.mark.parametrize("harm", ["flipped", "gone", "cut", "emptied", "another file"])
def test_every_read_names_the_damaged_file(store, small, tmp_path, harm):
    file = data_files(store, "events")[1]
    raw = bytearray(file.read_bytes())
    if harm == "gone":
        file.unlink()
    else:
        raw[500] ^= 4
        other = data_files(store, "updates")[0].read_bytes()
        file.write_bytes({"flipped": raw, "cut": raw[:-40], "emptied": b"", "another file": other}[harm])
    for call in (*READS.values(), lambda store, _: store.verify(small, sample=None)):
        with pytest.raises(lf.errors.StoreError) as raised:
            call(store, tmp_path / "out")
        said = str(raised.value)
        assert all(word in said for word in (file.name, "events", "of migration", "store.repair()")), said
        assert not {"Rust", "panicked", "Traceback"} & set(said.split())
    assert ("files that the log names are gone" in str(store.check())) == (harm == "gone")
    assert "nothing stored" not in str(store.check())


@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_a_derive_and_a_sync_go_on_beside_a_damaged_file_of_a_computed_table(copied, small, harm):
    """They count the rows by the log; who reads the table is told."""
    copied.derive(["rewards"])
    file = data_files(copied, "rewards")[0]
    kept = len(copied.load("rewards"))
    file.write_bytes(file.read_bytes()[:-40]) if harm == "cut" else file.unlink()
    assert copied.derive().rows["rewards"] == kept
    assert copied.sync(small, progress=False).complete
    with pytest.raises(lf.errors.StoreError, match=file.name):
        copied.load("rewards")
    copied.repair()
    copied.sync(small, progress=False)
    assert len(copied.load("rewards")) == kept


def test_a_whole_file_is_looked_at_where_asked(store):
    """A bit of a column that is not read is found only with verify="files"."""
    file = data_files(store, "events")[0]
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    store.load("events", columns=["node_index"])
    with pytest.raises(lf.errors.StoreError, match=file.name):
        lf.open_store(store._lake.folder, verify="files").load("events", columns=["node_index"])
    with pytest.raises(lf.errors.InputError, match="verify='all' is not valid"):
        lf.open_store(store._lake.folder, verify="all")


def test_compacted_files_are_checked_too_and_damage_is_not_copied(store, small):
    files = data_files(store, "events")
    store.compact()
    assert_whole(store, small)
    assert store._lake.table("events").refresh().size()["files"] < len(files)
    joined = next(file for file in data_files(store, "events") if file not in files)
    flip(joined, random.Random(1))
    with pytest.raises(lf.errors.StoreError, match=joined.name):
        store.load("events")


def test_compacting_stops_at_a_damaged_file(store):
    file = data_files(store, "events")[0]
    flip(file, random.Random(2))
    with pytest.raises(lf.errors.StoreError, match=file.name):
        store.compact()


def test_a_lost_table_is_said_wherever_a_store_is_used(store, small, tmp_path):
    net, name = small, "events"
    shutil.rmtree(store._lake.folder / name)
    calls = [
        lambda: store.sync(net), lambda: store.load("updates"), lambda: store.scan("events"),
        lambda: store.sql("select 1"), lambda: store.export(tmp_path / "out"), lambda: store.verify(net),
        lambda: store.dask("events"), store.coverage,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(lf.errors.StoreError, match=rf"{name}.*store\.repair\(\)"):
            call()
    assert not store.check()
    assert f"{name}: the table is missing" in str(store.check())


@pytest.mark.parametrize("there", [False, True], ids=["no folder", "an empty folder"])
def test_a_place_without_a_store_is_an_error(tmp_path, small, there):
    if there:
        (tmp_path / "nothing").mkdir()
    net, store = small, lf.open_store(tmp_path / "nothing")
    calls = [
        lambda: store.load("updates"), lambda: store.load("licenses"), lambda: store.scan("events"), store.check,
        lambda: store.sql("select 1"), lambda: store.export(tmp_path / "out"), lambda: store.verify(net),
        lambda: store.dask("events"), store.repair,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(lf.errors.StoreError, match=r"no store here.*store\.sync"):
            call()
    assert (tmp_path / "nothing").exists() is there
    for frame in (store.tables(), store.syncs(), store.coverage()):
        assert frame.empty


def test_a_first_sync_that_was_killed_while_it_made_the_tables_goes_on(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with store._lake.writing():
        store._lake.root().own("events").create()
        store._lake._root._changed.clear()  # killed before any commit
    with lf.sandbox(updates=20) as other:
        store.sync(other)
        assert_whole(store, other)
