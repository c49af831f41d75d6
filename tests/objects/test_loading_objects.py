"""`load_history` by objects gives the rows that it gives by pages, and refuses objects that are not whole."""

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import ledgerframes as lf
from ledgerframes.objects.sources import FileCache
from tests.objects.conftest import assert_same_rows
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import simulated
from tests.store.conftest import BEGIN

#: Each with the least number of updates in its objects: a writer makes none of an empty segment, where a load ends.
LEDGERS = [({}, 700), ({"hostile": True}, 50), ({"synchronizers": 5, "migrations": 5}, 50)]


@pytest.fixture(scope="module", params=LEDGERS, ids=str)
def ledger(request):
    options, least = request.param
    with simulated(seed=11, updates=900, **options) as net:
        yield net, least


def both(net, **options):
    """A part of the history by pages and by objects, as Arrow tables."""
    return (lf.load_history(net, as_="arrow", source=source, **options) for source in ("pages", "objects"))


def until(net):
    """The cursor after the last update that is in an object."""
    attrs = lf.load_history(net, start=BEGIN, source="objects").updates.attrs
    migration_id, time = attrs["cursor"]
    return migration_id, f"{time[:-1]}9Z"


@pytest.mark.long(quick=1)
def test_both_sources_give_equal_rows_also_where_lists_overlap(ledger):
    ledger, least = ledger
    end = until(ledger)
    pages, objects = both(ledger, start=BEGIN, end=end)
    assert len(objects.updates) > least
    ledger.sandbox.object_faults = ObjectFaults(overlap=True)
    overlapping = lf.load_history(ledger, as_="arrow", source="objects", start=BEGIN, end=end)
    ledger.sandbox.object_faults = ObjectFaults()
    assert_same_rows(objects, pages)
    assert overlapping.updates["update_id"].to_pylist() == pages.updates["update_id"].to_pylist()


def test_what_follows_a_missing_object_is_not_read(served, caplog):
    end = until(served)
    whole = lf.load_history(served, start=BEGIN, end=end, source="objects").updates
    served.sandbox.object_faults = ObjectFaults(lacking=4)
    part = lf.load_history(served, start=BEGIN, end=end, source="objects").updates
    assert 0 < len(part) < len(whole)
    assert part.equals(whole.iloc[: len(part)])
    assert not part.attrs["complete"]
    assert "lists none right after" in caplog.text
    open_ended = lf.load_history(served, start=BEGIN, source="objects")
    assert "(the last update before a gap in its objects)" in str(open_ended)
    assert open_ended.updates.attrs["known_to"] == open_ended.updates.attrs["cursor"]
    assert not open_ended.updates.attrs["complete"]
    served.sandbox.object_faults = ObjectFaults(lacking=0)
    with pytest.raises(lf.errors.PartialResultError, match="read another scan, or pass allow_partial=True"):
        lf.load_history(served, source="objects", start="begin")


@pytest.mark.parametrize(
    "part",
    [
        {"start": "2025-03-03T09:05:30Z", "end": "2025-03-03T09:35:30Z"},
        {"start": (1, "2025-03-03T12:25:00Z"), "end": (1, "2025-03-03T13:01:00Z")},
        {"start": (0, "2025-03-03T09:05:00Z"), "end": (2, "2025-03-03T15:20:00Z")},
        {"end": (1, "2025-03-03T12:31:00Z")},
        *({"limit": limit} for limit in (1, 200, 201)),
    ],
    ids=str,
)
def test_a_part_is_the_same_part_by_pages(net, part):
    pages, objects = both(net, **part)
    assert objects.updates["update_id"].to_pylist() == pages.updates["update_id"].to_pylist()
    assert len(objects.updates) >= part.get("limit", 50)
    assert lf.load_history(net, source="objects", **part).updates.attrs["complete"]


def test_a_part_is_complete_where_its_migration_had_no_updates_and_not_where_no_object_has_passed_its_end(net):
    first = lf.load_updates(net, start=(2, "0001-01-01"), limit=1).record_time.iloc[0]
    part = {"start": (2, first - timedelta(minutes=30)), "end": (2, first - timedelta(minutes=20))}
    for rows in both(net, **part):
        assert not len(rows.updates)
    assert lf.load_history(net, source="objects", **part).updates.attrs["complete"]
    updates = lf.load_history(net, start="2025-03-03T09:40:00Z", end="2025-03-04", source="objects").updates
    assert not updates.attrs["complete"]
    assert updates.attrs["known_to"] == updates.attrs["cursor"]


def test_only_the_objects_of_the_range_are_downloaded(net):
    before = net.sandbox.requests.copy()
    lf.load_history(net, start="2025-03-03T09:10:00Z", end="2025-03-03T09:22:30Z", source="objects")
    asked = net.sandbox.requests - before
    assert 2 <= sum(count for name, count in asked.items() if "/bulk/download/" in name) <= 5


@pytest.mark.parametrize("part", [{}, {"start": "begin"}, {"limit": 5}, {"end": "2025-03-03T09:10"}], ids=str)
def test_a_scan_that_has_written_no_objects_yet_is_no_empty_history(part):
    with lf.sandbox(updates=3) as young:
        with pytest.raises(lf.errors.PartialResultError, match=r"lists no objects of its history yet.*source='pages'"):
            lf.load_history(young, source="objects", **part)
        none = lf.load_history(young, source="objects", allow_partial=True, **part).updates
    assert (len(none), none.attrs["complete"]) == (0, False)


LOADS = {
    "history": lambda net, **options: lf.load_history(net, source="objects", **options).updates,
    "snapshot": lambda net, **options: lf.load_active_contracts(net, source="objects", **options),
}
every_load = pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)


@every_load
def test_items_of_another_encoding_are_skipped_and_nothing_is_left_on_the_disk(served, load, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    whole = load(served)
    load(served, limit=300)
    served.sandbox.object_faults = ObjectFaults(encodings=("compact_json", "protobuf_json", "compact_cbor"))
    assert load(served).equals(whole)
    assert list(tmp_path.iterdir()) == []


@every_load
def test_a_scan_without_objects_is_named_with_what_to_do(served, load):
    served.sandbox.object_faults = ObjectFaults(served=False)
    with pytest.raises(lf.errors.InputError, match="has no objects; give source='pages'"):
        load(served)
    served.sandbox.object_faults = ObjectFaults(encodings=("protobuf_json",))  # which are none that can be read
    with pytest.raises((lf.errors.InputError, lf.errors.PartialResultError), match=r"objects.*source='pages'"):
        load(served)
    with lf.sandbox(updates=20, release="0.5") as older, pytest.raises(lf.errors.InputError, match="has no objects"):
        load(older)


@every_load
@pytest.mark.parametrize(
    ("faults", "error", "words"),
    [
        (ObjectFaults(wrong_digest=True), lf.errors.DecodeError, "does not have the digest"),
        (ObjectFaults(cut=True), lf.errors.DecodeError, "(updates|ACS)_compact_json_0.zstd cannot be read"),
        (ObjectFaults(gone=True), lf.errors.NotFoundError, "not found.*the object is gone: list the objects again"),
    ],
    ids=["wrong digest", "cut", "gone"],
)
def test_objects_that_are_not_whole_are_refused_and_what_was_read_before_can_be_kept(
    served, load, faults, error, words
):
    served.sandbox.object_faults = faults
    with pytest.raises(error, match=words):
        load(served)
    part = load(served, allow_partial=True)
    assert (part.attrs["complete"], len(part) < 200) == (False, True)


def test_many_threads_may_fetch_and_read_the_same_files_at_once(tmp_path):
    cache, interval = FileCache(tmp_path), sys.getswitchinterval()

    def read(first):
        for number in range(first, first + 200):
            name = str(number % 20)
            with cache.opened(name, lambda target: target.write_bytes(b"whole")) as file:
                assert file.read() == b"whole"

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert len([*threads.map(read, range(8))]) == 8
    finally:
        sys.setswitchinterval(interval)
