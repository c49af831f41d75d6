"""Rows and coverage change in one commit, whatever is killed, lost, or written by two at once."""

import shutil

import pytest

import ledgerframes as lf
from ledgerframes.store.documents import Document
from ledgerframes.store.stored_tables import KNOWN_BY
from tests.store.conftest import assert_whole


@pytest.fixture(scope="module")
def made(small, tmp_path_factory):
    """A lake with a computed table and snapshots, synced in two parts, and what the first part covered."""
    store = lf.open_store(tmp_path_factory.mktemp("lakes") / "full")
    store.sync(small, end="2025-03-03T09:00:00Z")
    then = store.coverage()
    store.sync(small, derive=["mint_burn"])
    store.sync(small, tables=["licenses", "active_contracts"], derive=[])
    return store, then


@pytest.fixture
def store(made, tmp_path):
    return lf.open_store(shutil.copytree(made[0]._lake.folder, tmp_path / "full"))


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("harm", ["flipped", "all lost", "lost", "cut"])
def test_a_lost_document_is_said_and_an_older_one_is_gone_back_to_with_all_that_can_be_kept(store, made, small, harm):
    licenses, contracts, syncs = store.load("licenses"), store.load("active_contracts"), store.syncs()
    files = sorted((store._lake.folder / "_coverage").glob("*.json"))
    newest = store._lake.folder / "_coverage" / f"{store._lake.root().document.number}.json"
    content = newest.read_bytes()
    for file in files if harm == "all lost" else [newest]:
        file.unlink()
    if harm in {"flipped", "cut"}:
        newest.write_bytes(content[:-40] if harm == "cut" else content.replace(b'"ended":[', b'"ended":[1', 1))
    for call in (lambda: store.load("updates"), store.check, lambda: store.sync(small), store.coverage):
        with pytest.raises(lf.errors.StoreError, match="records what the lake covers"):
            call()

    report = store.repair()

    assert "the document of a later one is lost" in str(report)
    assert harm == "all lost" or set(store.coverage().migration_id) >= set(made[1].migration_id)
    assert store.load("licenses").equals(licenses)
    assert list(store.syncs().sync_id) == list(syncs.sync_id)
    kept = len(store.load("active_contracts")) if "active_contracts" in set(store.tables().table) else 0
    assert report.lost.get("active_contracts", 0) == len(contracts) - kept
    store.sync(small, derive=["mint_burn"])
    assert_whole(store, small)
    assert store.check(full=True).findings == ()
    assert str(store.repair()).endswith("nothing to repair")


def test_of_two_writers_the_second_is_refused(store, small):
    one, other = lf.open_store(store._lake.url)._lake.history(), store._lake.history()
    one.record(one.coverage)
    with pytest.raises(lf.errors.StoreError, match="another writer"):
        other.record(other.coverage.without(other.coverage.common))
    assert store._lake.root().document.number == one._root.document.number
    assert_whole(store, small)


def test_what_a_killed_writer_left_of_any_table_is_not_there_and_taken_back(store, small):
    names, before = ("events", "licenses", "active_contracts", "mint_burn", "syncs"), {}
    for name in names:
        before[name], table = shown(store, name), store._lake.table(name).refresh()
        table.append(table.dataset().to_table().cast(table.table.schema.remove_metadata()).to_batches())

    assert all(shown(store, name).equals(before[name]) for name in names)
    assert store.check().findings == ()
    store.sync(small, derive=["mint_burn"])
    store.sync(small, tables=["licenses", "active_contracts"])
    for name in names:
        found = shown(store, name)
        assert found.head(len(before[name])).equals(before[name])
        assert store._lake.table(name).refresh().size()["rows"] == len(found)
        assert len(found) == len(before[name]) or name in {"licenses", "syncs"}
    assert store.check(full=True).findings == ()


def shown(store, name):
    return store.syncs() if name == "syncs" else store.load(name)


def test_whoever_knows_the_network_is_added_to_those_who_did():
    first = Document().known_as({"network": "one", KNOWN_BY: "b a"})

    both = first.known_as({"network": "one", KNOWN_BY: "c a"})
    assert both.network == {"network": "one", KNOWN_BY: "a b c"}
    assert both.known_as({KNOWN_BY: "c"}) is both
