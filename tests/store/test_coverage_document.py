"""Rows and coverage change in one commit, whatever is killed, lost, or written by two at once."""

import shutil

import pytest

import ledgerframes as lf
from ledgerframes.store.coverage_document import Document
from ledgerframes.store.root import Root
from ledgerframes.store.table_sets import KNOWN_BY
from tests.store.conftest import assert_whole


@pytest.fixture(scope="module")
def net(small):
    return small


@pytest.fixture(scope="module")
def lakes(net, tmp_path_factory):
    """Lakes of the first part, of all of it, and of all of it with a computed table and snapshots; to be copied."""
    folder = tmp_path_factory.mktemp("lakes")
    begun, whole, full = (lf.open_store(folder / name) for name in ("begun", "whole", "full"))
    begun.sync(net, end="2025-03-03T09:00:00Z")
    shutil.copytree(folder / "begun", folder / "whole", dirs_exist_ok=True)
    whole.sync(net)
    full.sync(net, derive=["rewards"])
    full.sync(net, tables=["licenses", "active_contracts"], derive=[])
    return folder


@pytest.fixture
def begun(lakes, tmp_path):
    return lf.open_store(shutil.copytree(lakes / "begun", tmp_path / "begun"))


@pytest.fixture
def whole(lakes, tmp_path):
    """Begun, then synced to its end."""
    return lf.open_store(shutil.copytree(lakes / "whole", tmp_path / "whole"))


@pytest.fixture
def full(lakes, tmp_path):
    return lf.open_store(shutil.copytree(lakes / "full", tmp_path / "full"))


def documents(store):
    return sorted((store._lake.folder / "_coverage").glob("*.json"))


@pytest.mark.parametrize("at", [0, 2])
def test_what_a_writer_left_before_its_commit_is_not_there_and_taken_back(begun, net, monkeypatch, at):
    store = begun
    before, tables = store.load("events", allow_partial=True), store.tables()
    commits = []

    def failing(self, *arguments, original=Root.commit, **named):
        if len(commits) == at:
            raise RuntimeError("killed")
        commits.append(original(self, *arguments, **named))
        return commits[-1]

    with monkeypatch.context() as killed:
        killed.setattr(Root, "commit", failing)
        with pytest.raises(RuntimeError):
            store.sync(net, page_size=40, commit_bytes=20_000, workers=1)
    assert store._lake.table("events").refresh().version > store._lake.root().document.tables["events"].version
    if not at:
        assert store.load("events", allow_partial=True).equals(before)
        assert store.tables().equals(tables)
    assert store.check().findings == ()
    store.sync(net)
    assert_whole(store, net)
    assert store.check(full=True).findings == ()


@pytest.mark.parametrize("harm", ["lost", "flipped", "cut"])
def test_a_lost_document_is_said_and_the_one_before_is_gone_back_to(begun, whole, net, harm):
    then, store = begun.coverage(), whole
    file = store._lake.folder / "_coverage" / f"{store._lake.root().document.number}.json"
    content = file.read_bytes()
    if harm == "lost":
        file.unlink()
    else:
        file.write_bytes(content[:-40] if harm == "cut" else content.replace(b'"ended":[', b'"ended":[1', 1))
    for call in (lambda: store.load("updates"), store.check, lambda: store.sync(net), store.coverage):
        with pytest.raises(lf.errors.StoreError, match="records what the lake covers"):
            call()
    store.repair()
    found = store.coverage()
    assert set(found.migration_id) >= set(then.migration_id)
    store.sync(net)
    assert_whole(store, net)
    assert store.check(full=True).findings == ()


def test_of_two_writers_the_second_is_refused(whole, net):
    one, other = lf.open_store(whole._lake.url)._lake.history(), whole._lake.history()
    one.record(one.coverage)
    with pytest.raises(lf.errors.StoreError, match="another writer"):
        other.record(other.coverage.without(other.coverage.common))
    assert whole._lake.root().document.number == one._root.document.number
    assert_whole(whole, net)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("name", ["licenses", "active_contracts", "rewards", "syncs"])
def test_what_a_killed_writer_left_of_any_table_is_not_there_and_taken_back(full, net, name):
    store = full
    shown = store.syncs if name == "syncs" else lambda: store.load(name)
    before, table = shown(), store._lake.table(name).refresh()
    table.append(table.dataset().to_table().cast(table.table.schema.remove_metadata()).to_batches())

    assert shown().equals(before)
    assert store.check().findings == ()
    store.sync(net)
    found = shown()
    assert found.head(len(before)).equals(before)
    assert len(found) == len(before) + (name == "syncs")
    assert store._lake.table(name).refresh().size()["rows"] == len(found)
    assert store.check(full=True).findings == ()


def test_whoever_knows_the_network_is_added_to_those_who_did():
    first = Document().known_as({"network": "one", KNOWN_BY: "b a"})

    both = first.known_as({"network": "one", KNOWN_BY: "c a"})
    assert both.network == {"network": "one", KNOWN_BY: "a b c"}
    assert both.known_as({KNOWN_BY: "c"}) is both


def test_the_number_of_a_document_names_its_state(store):
    with lf.sandbox(updates=100) as net:
        store.sync(net, derive=["rewards"])
        number, rewards = store._lake.root().document.number, store.load("rewards")
        net.sandbox.advance(updates=50)
        store.sync(net)
    assert len(store.load("updates", as_of=number)) == 100
    assert store.load("rewards", as_of=number).equals(rewards)
    assert store.sql("select count(*) as n from updates", as_of=number).n[0] == 100
    with pytest.raises(lf.errors.StoreError, match="never was"):
        store.load("updates", as_of=number + 1)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("left", ["all but the newest", "none"])
def test_a_lost_document_takes_nothing_along_that_cannot_be_had_again(full, net, left):
    store = full
    licenses, contracts, syncs = store.load("licenses"), store.load("active_contracts"), store.syncs()
    lost = documents(store) if left == "none" else documents(store)[-1:]
    for file in lost:
        file.unlink()
    report = store.repair()

    assert "the document of a later one is lost" in str(report)
    assert store.load("licenses").equals(licenses)
    assert list(store.syncs().sync_id) == list(syncs.sync_id)
    kept = len(store.load("active_contracts")) if "active_contracts" in set(store.tables().table) else 0
    assert report.lost.get("active_contracts", 0) == len(contracts) - kept
    store.sync(net, derive=["rewards"])
    assert_whole(store, net)
    assert store.check(full=True).findings == ()
    assert str(store.repair()).endswith("nothing to repair")
