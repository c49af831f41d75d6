"""Files that were changed, cut or lost after they were written: every read says so, none gives wrong rows."""

import random
import shutil

import pytest

import ledgerframes as lf
from ledgerframes.store.history_tables import ORDER
from tests.store.conftest import assert_whole, data_files, flip

READS = [
    lambda store, *_: store.load("events"),
    lambda store, *_: store.sql("select * from events"),
    lambda store, _, folder: store.export(folder, tables=["events"]),
    lambda store, *_: store.dask("events").compute(scheduler="synchronous"),
    lambda store, net, _: store.verify(net, sample=None),
]


@pytest.mark.long
def test_no_flipped_bit_gives_a_wrong_row(parted, copied):
    rng = random.Random(4)
    store, wanted = copied, {name: parted.load(name, as_="arrow") for name in (*ORDER, "instruments")}
    said = []
    for _ in range(120):
        file = rng.choice(data_files(store, *ORDER, "instruments"))
        name = file.relative_to(store._lake.folder).parts[0]
        sound = file.read_bytes()
        flip(file, rng.randrange(8 * len(sound)))
        try:
            assert store.load(name, as_="arrow").equals(wanted[name])
        except lf.errors.StoreError as error:
            said.append(file.name in str(error) and "store.repair()" in str(error))
        file.write_bytes(sound)
    assert len(said) > 110
    assert all(said)


@pytest.mark.parametrize("harm", ["flipped", "gone", "cut", "emptied", "another file"])
def test_every_read_names_the_damaged_file(copied, small, tmp_path, harm):
    file = data_files(copied, "events")[1]
    raw = bytearray(file.read_bytes())
    if harm == "gone":
        file.unlink()
    else:
        raw[500] ^= 4
        other = data_files(copied, "updates")[0].read_bytes()
        file.write_bytes({"flipped": raw, "cut": raw[:-40], "emptied": b"", "another file": other}[harm])
    for read in READS:
        with pytest.raises(lf.errors.StoreError) as raised:
            read(copied, small, tmp_path / "out")
        said = str(raised.value)
        assert all(word in said for word in (file.name, "events", "of migration", "store.repair()")), said
        assert not {"Rust", "panicked", "Traceback"} & set(said.split())
    assert ("files that the log names are gone" in str(copied.check())) == (harm == "gone")
    assert "nothing stored" not in str(copied.check())


def test_compacted_files_are_checked_too_and_damage_is_not_copied(copied, small):
    files = data_files(copied, "events")
    sound = files[0].read_bytes()
    flip(files[0])
    with pytest.raises(lf.errors.StoreError, match=files[0].name):
        copied.compact()
    files[0].write_bytes(sound)
    copied.compact()
    assert_whole(copied, small)
    assert copied._lake.table("events").refresh().size()["files"] < len(files)
    joined = next(file for file in data_files(copied, "events") if file not in files)
    flip(joined)
    with pytest.raises(lf.errors.StoreError, match=joined.name):
        copied.load("events")


@pytest.mark.parametrize("there", ["no folder", "an empty folder", "no table of events"])
def test_a_place_without_a_store_or_without_one_of_its_tables_is_an_error(copied, tmp_path, small, there):
    calls = [*READS, lambda store, *_: store.scan("events")]
    if there == "no table of events":
        store, said = copied, r"events.*store\.repair\(\)"
        shutil.rmtree(store._lake.folder / "events")
        assert "events: the table is missing" in str(store.check())
        calls += [lambda store, net, _: store.sync(net), lambda store, *_: store.coverage()]
    else:
        store, said = lf.open_store(tmp_path / "nothing"), r"no store here.*store\.sync"
        if there == "an empty folder":
            (tmp_path / "nothing").mkdir()
        assert all(frame.empty for frame in (store.tables(), store.syncs(), store.coverage()))
        calls += [lambda store, *_: store.check(), lambda store, *_: store.repair()]
    for call in calls:
        with pytest.raises(lf.errors.StoreError, match=said):
            call(store, small, tmp_path / "out")
    assert (tmp_path / "nothing").exists() is (there == "an empty folder")
