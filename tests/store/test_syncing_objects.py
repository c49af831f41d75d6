"""Stores that are filled from objects equal those that are filled from pages, whatever is wrong with the objects."""

import re
import tempfile
from collections import Counter

import pytest

import ledgerframes as lf
from ledgerframes.objects.segments import Readers
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.objects import segments
from tests.objects.conftest import values_of
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import simulated

TABLES = ("updates", "events", "reassignments")
#: Few enough that a segment of the quiet ledger has several pages.
PAGE = 25


@pytest.fixture(scope="module")
def quiet():
    """Two weeks with a segment of objects per day."""
    with simulated(days=14) as net:
        yield net


@pytest.fixture
def ledger(quiet):
    yield quiet
    quiet.sandbox.object_faults = ObjectFaults()


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Temporary files of a test lie in a folder of its own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def fetched(net):
    return Counter({name: count for name, count in net.sandbox.requests.items() if "/bulk/download/" in name})


def downloads(net):
    return fetched(net).total()


def assert_equal(store, net, *, sound=True):
    """The store holds what the ledger has, each row once, and all of it is covered."""
    loaded = lf.load_history(net, start=(-(2**63), "0001-01-01"), as_="arrow")
    for name in TABLES:
        stored = store.load(name, as_="arrow")
        mine, theirs = (
            sorted(values_of(table), key=lambda row: (row["update_id"], row.get("node_index", 0)))
            for table in (stored, getattr(loaded, name))
        )
        assert mine == theirs, name
    assert not sound or store.check(full=True)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_store_from_objects_is_that_from_pages(store, ledger, workers):
    before = downloads(ledger)
    report = store.sync(ledger, source="objects", page_size=PAGE, workers=workers, progress=False)
    assert (report.complete, report.rows["updates"]) == (True, len(ledger.sandbox.world.updates))
    assert downloads(ledger) - before >= 10
    assert_equal(store, ledger)


def test_it_is_final_up_to_where_it_is_by_pages(store, tmp_path, ledger):
    other = lf.open_store(tmp_path / "other")
    store.sync(ledger, source="auto", page_size=PAGE, progress=False)
    other.sync(ledger, page_size=PAGE, progress=False)
    mine, theirs = store.coverage(), other.coverage()
    assert mine.drop(columns="settled").equals(theirs.drop(columns="settled"))
    # A page proves itself, so where pages end decides to the second, but the same updates are final.
    times = store.load("updates").record_time
    assert [(times <= at).sum() for at in mine.settled] == [(times <= at).sum() for at in theirs.settled]


@pytest.mark.long
@pytest.mark.parametrize("options", [{"hostile": True}, {"synchronizers": 5, "migrations": 4}], ids=str)
def test_other_ledgers_too(store, options):
    with simulated(seed=5, updates=700, **options) as net:
        store.sync(net, source="auto", page_size=40, settle="1s", progress=False)
        store.sync(net, source="auto", page_size=40, settle="1s", progress=False)
        assert_equal(store, net, sound=not options.get("hostile"))


@pytest.mark.long
def test_a_quarter_of_a_year_is_the_same_by_objects_and_by_pages(store, tmp_path):
    other = lf.open_store(tmp_path / "other")
    with lf.sandbox(days=90) as net:
        store.sync(net, source="objects", page_size=100, progress=False)
        other.sync(net, progress=False)
        assert downloads(net) > 60
    for name in TABLES:
        mine, theirs = (values_of(one.load(name, as_="arrow")) for one in (store, other))
        assert mine == theirs, name


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    "faults",
    [
        ObjectFaults(served=False),
        ObjectFaults(wrong_digest=True),
        ObjectFaults(cut=True),
        ObjectFaults(gone=True),
        ObjectFaults(overlap=True),
        ObjectFaults(encodings=("protobuf_json",)),
    ],
    ids=["501", "wrong digest", "cut", "gone", "overlap", "another encoding"],
)
def test_pages_replace_objects_that_cannot_be_read(store, ledger, faults, caplog):
    ledger.sandbox.object_faults = faults
    if not faults.served:
        with pytest.raises(lf.errors.InputError, match="has no objects; give source='auto'"):
            store.sync(ledger, source="objects", progress=False)
    assert store.sync(ledger, source="auto", page_size=PAGE, progress=False).complete
    assert_equal(store, ledger)
    assert not faults.gone or "Pages are read instead." in caplog.text


@pytest.mark.long
def test_an_update_that_appears_after_its_segment_was_written_is_there(store):
    """As the last updates of a segment may: the objects have not got them, and pages give the end of every segment."""
    with lf.sandbox(days=10) as net:
        world = net.sandbox.world
        ends = [segment.end for segment in segments(world, world.updates)]
        for migration_id, instant in ends:
            place(world, migration_id, instant - 10_000_000)
            place(world, migration_id, instant - 5_000_000)
        page = net.scan.update_objects(after="2000-01-01", up_to="2100-01-01")  # the segments are written now
        assert len(page.object_refs) > 5
        for migration_id, instant in ends:
            place(world, migration_id, instant - 30_000_000)
        store.sync(net, source="objects", page_size=PAGE, progress=False)
        assert_equal(store, net)
        assert store.verify(net, sample=None)


def place(world, migration_id, micros):
    """Record a copy of a transaction anew, at another time."""
    model = next(one for one in world.updates if one.migration_id == migration_id and b"events_by_id" in one.rendered)
    update_id = f"{micros:x}".rjust(68, "f")
    text = model.rendered.replace(model.update_id.encode(), update_id.encode())
    stated = b'"record_time":"%s"' % timestamps.exact(micros).encode()
    rendered = re.sub(rb'"record_time":"[^"]+"', stated, text)
    world.record([model._replace(record_time=micros, update_id=update_id, external_hash=None, rendered=rendered)])


def test_a_later_sync_reads_what_is_new(store, ledger):
    store.sync(ledger, end="2025-03-08T10:00:00Z", source="objects", page_size=PAGE, progress=False)
    before = fetched(ledger)
    store.sync(ledger, source="objects", page_size=PAGE, progress=False)
    # Which of them, not how often: workers that need one at different times may each fetch it.
    assert 4 <= len(fetched(ledger) - before) <= 16
    assert_equal(store, ledger)


def test_two_lakes_of_one_name_do_not_share_their_downloads(tmp_path, ledger, own_folder, monkeypatch):
    """The first one ends while the second one has objects on the disk."""
    seen = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        reports = lf.open_store("lake").follow(ledger, source="objects", every="1s", page_size=PAGE, progress=False)
        monkeypatch.setattr(
            Readers, "close", lambda _, *part: part or seen.append({path.name for path in own_folder.iterdir()})
        )
        assert next(reports).complete
    assert len(seen) == 2
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("source", ["object", None])
def test_an_unknown_source_is_refused_by_a_sync(store, ledger, source):
    with pytest.raises(lf.errors.InputError, match="source="):
        store.sync(ledger, source=source)


def test_without_objects_no_list_is_asked_for(store, ledger):
    before = ledger.sandbox.requests.copy()
    store.sync(ledger, progress=False)
    assert not any("bulk" in name for name in ledger.sandbox.requests - before)
