"""Whatever of a lake is lost, damaged, cut short or unsound, `check`, reads and syncs say so, and `repair` mends it."""

import json
import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.store.stored_tables import HISTORY, VERDICTS
from tests.store.conftest import LATE, adopt, assert_whole, data_files, flip, smallest
from tests.store.test_rejects import BROKEN, spoil

READ_AGAIN = (*HISTORY.order, *VERDICTS.order)
COMPUTED = ("mint_burn", "coin_history")
#: What only the past had.
SNAPSHOTS = ("licenses", "active_contracts", "rejects")
SHOWN = (*READ_AGAIN, *COMPUTED, *SNAPSHOTS)
ALL = (*SHOWN, "open_contracts", "syncs")


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=5, updates=160) as network:
        updates = network.sandbox.world.updates
        number = next(number for number in range(100, 160) if b'"effective_at"' in updates[number].rendered)
        spoil(network.sandbox.world, number, *BROKEN["a time that is none"])
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
    return store, {name: rows_of(store, name) for name in SHOWN}


@pytest.fixture
def store(whole, tmp_path):
    return lf.open_store(shutil.copytree(whole[0]._lake.folder, tmp_path / "lake"))


def rows_of(store, name):
    """The rows of a table in an order of their own."""
    rows = store.load(name, end=LATE if name in READ_AGAIN else None, allow_partial=True, as_="arrow")
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return rows.replace_schema_metadata().sort_by([(column, "ascending") for column in plain])


def entries(store, name):
    return sorted((store._lake.folder / name / "_delta_log").glob("*.json"))


def damage(store, name):
    entry = entries(store, name)[0]
    entry.write_bytes(entry.read_bytes().replace(b'"', b"#", 1))


def torn(store, name):
    entry = entries(store, name)[-1]
    entry.write_bytes(entry.read_bytes()[:-200])


def empty(store, name):
    """Empty the entry by which the first file came that is still read, as a power cut does."""
    paths = [path.encode() for path in store._lake.table(name).refresh().files.listed]
    adding = (entry for entry in entries(store, name) if any(path in entry.read_bytes() for path in paths))
    next(adding).write_bytes(b"")


def checkpoint(store, name):
    store.compact()
    file = next((store._lake.folder / name / "_delta_log").glob("*.checkpoint.parquet"))
    file.write_bytes(file.read_bytes()[:100])


OF_FILES = {
    "flip": lambda store, name: flip(smallest(store, name)),
    "unlink": lambda store, name: smallest(store, name).unlink(),
}
HARMS = {
    "remove": lambda store, name: shutil.rmtree(store._lake.folder / name),
    "cut": lambda store, name: entries(store, name)[-1].unlink(),
    **{harm.__name__: harm for harm in (damage, torn, empty, checkpoint)},
    **OF_FILES,
}


#: Several at once, of tables that are read again, that are computed and that only the past had; then each alone.
TOGETHER = [
    [("torn", "views"), ("empty", "mint_burn"), ("flip", "coin_history"), ("cut", "licenses"),
     ("unlink", "active_contracts"), ("unlink", "syncs")],
    [("checkpoint", "licenses"), ("flip", "events"), ("remove", "app_activity")],
]  # fmt: skip
CASES = [[(harm, name)] for harm in ("remove", "empty", "flip", "unlink") for name in ALL]
CASES += [[(harm, name)] for harm in ("damage", "cut") for name in ("updates", "views", "coin_history", "syncs")]
CASES.remove([("cut", "updates")])  # which leaves an older state of the whole lake


def assert_said_to_be_lost(store, name, lost, rows, *, part):
    """What cannot be had again is counted, and a table that only had such rows is no snapshot of nothing."""
    assert lost > 0
    if name == "licenses" and lost == len(rows):
        with pytest.raises(lf.errors.StoreError, match="has no licenses; sync it"):
            store.load(name)
    elif name in SNAPSHOTS and name in set(store.tables().table):
        assert len(rows_of(store, name)) == len(rows) - lost
    if name == "active_contracts" and part:
        with pytest.raises(lf.errors.PartialResultError, match="newest snapshot are lost"):
            store.load(name)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("harms", [*TOGETHER, *CASES], ids=lambda harms: ", ".join(map(" ".join, harms)))
def test_what_is_lost_or_damaged_is_missed_and_mended(store, whole, net, harms, tmp_path):
    for harm, name in harms:
        alone = lf.open_store(shutil.copytree(whole[0]._lake.folder, tmp_path / name))
        for harmed in (alone, store):
            HARMS[harm](harmed, name)
        assert_missed(alone._lake.url, net, name, of_file=harm in OF_FILES)
    store, names = lf.open_store(store._lake.url), [name for _, name in harms]

    report = store.repair()

    assert harms[0][0] != "checkpoint" or list((store._lake.folder / names[0]).glob("_delta_log.damaged.*"))
    for harm, name in harms:
        assert name in str(report)
        if name in (*SNAPSHOTS, "syncs"):
            assert_said_to_be_lost(store, name, report.lost[name], whole[1].get(name, ()), part=harm in OF_FILES)
    if set(names) & set(HISTORY.order):
        # What readers see is part of the truth, each update with all that belongs to it.
        with pytest.raises(lf.errors.PartialResultError):
            store.load("updates")
        assert store.check(full=True)
        seen = store.load("updates", allow_partial=True, as_="arrow")["update_id"].combine_chunks()
        for of_seen in HISTORY.order:
            assert rows_of(store, of_seen).equals(whole[1][of_seen].filter(pc.field("update_id").isin(seen))), of_seen
    if "active_contracts" in names:
        store.sync(net, tables=["active_contracts"])
        ids = store.load("active_contracts", as_="arrow")["contract_id"].to_pylist()
        assert sorted(ids) == sorted(whole[1]["active_contracts"]["contract_id"].to_pylist())
    store.sync(net, tables=["updates", "events", "reassignments", "verdicts"], on_error="reject")
    assert store.check(full=True)
    assert str(store.repair()).endswith("nothing to repair")
    for kept in SHOWN:
        if kept not in names or kept not in SNAPSHOTS:
            assert rows_of(store, kept).equals(whole[1][kept]), kept


def assert_missed(url, net, name, *, of_file):
    """`check` says no, and neither a read of the table nor, if its log is harmed, a sync goes on as if nothing were."""
    store = lf.open_store(url)  # which reads the logs
    try:
        found = store.check(full=of_file)
    except lf.errors.StoreError as error:
        found, said = False, str(error)
    else:
        said = str(found)
    assert not found
    assert name in said
    reads = [lambda: store.load(name, allow_partial=True), lambda: store.sql(f"select * from {name}")]
    calls = [lambda: store.sync(net, on_error="reject")] * (name != "syncs" and not of_file) + reads * (name in SHOWN)
    for call in calls:
        with pytest.raises(lf.errors.StoreError, match=name):
            call()
    if of_file and name in COMPUTED:  # syncs count its rows by the log; who reads the table is told
        assert store.sync(net, on_error="reject").complete
        assert store.derive().rows[name] > 0


def test_every_file_of_every_table_may_be_damaged(copied, small):
    for name in HISTORY.order:
        for file in data_files(copied, name):
            file.write_bytes(file.read_bytes()[:-40])
    report = copied.repair()
    assert len(report.damaged) > 6
    assert "run sync" in str(report)
    assert copied.load("updates", allow_partial=True).empty
    copied.sync(small)
    assert_whole(copied, small)


def test_a_lost_list_of_tables_is_said_and_made_again(copied, small):
    place = copied._lake.folder / "lake.json"
    before = place.read_bytes()
    for content in (None, b"", b'{"content":{"format":4},"crc32":1}'):
        place.unlink() if content is None else place.write_bytes(content)
        for call in (lambda: copied.load("updates"), lambda: copied.sync(small), copied.check):
            with pytest.raises(lf.errors.StoreError, match=r"lake\.json"):
                call()
        assert "lake.json" in str(copied.repair())
        assert place.read_bytes() == before
    assert copied.check()


#: What is wrong with some tables at once, and what `check` says of each.
UNSOUND = {
    "rows of every table": {
        "updates": (lambda rows: rows.slice(1), "their update is missing"),
        "events": (lambda rows: pa.concat_tables([rows, rows.slice(7, 1)]), "events: the key"),
        "reassignments": (lambda rows: rows.slice(1), "row is missing"),
    },
    "others": {
        "updates": (lambda rows: pa.concat_tables([rows, rows.slice(7, 1)]), "updates: the key"),
        "events": (lambda rows: rows.slice(1), "number of events"),
    },
}


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("harms", UNSOUND.values(), ids=UNSOUND)
def test_what_check_proves_wrong_is_read_again_and_older_states_stay(copied, small, harms):
    first = copied.syncs().sync_id[0]
    before = {name: copied.load(name, as_of=first) for name in harms}
    for name, (harm, _) in harms.items():
        table = copied._lake.table(name).refresh()
        write_deltalake(DeltaTable(table.url), harm(table.handle.to_pyarrow_dataset().to_table()), mode="overwrite")
    adopt(copied)
    found = copied.check()
    assert not found
    assert all(one.count and one.example and one.advice for one in found.findings)
    unsound = copied.repair().unsound
    for _, said in harms.values():
        assert any(said in one.name for one in found.findings), str(found)
        assert any(said in one for one in unsound)
    assert copied.check()
    copied.sync(small)
    assert_whole(copied, small)
    assert copied.check(full=True).findings == ()
    for name, rows in before.items():
        assert copied.load(name, as_of=first).equals(rows)


def test_a_sound_store_is_left_as_it_is(copied, small):
    copied.sync(small, tables=["licenses"])
    before, found = copied.tables(), copied.check()
    assert (bool(found), found.findings, found.rows["updates"]) == (True, (), 240)
    assert "is sound" in str(found)
    assert json.loads(found.to_json())["sound"] is True
    assert str(copied.repair()).endswith("nothing to repair")
    assert copied.tables().equals(before)
