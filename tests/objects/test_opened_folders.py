"""A folder of objects is a network without a server: the same rows, no claim beyond what it holds, clear refusals."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.objects.conftest import object_of, values_of
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import simulated

TABLES = ("updates", "events", "reassignments")
BEGIN = (-(2**63), "0001-01-01")


def download(net, folder, *, flat=False, after="0001-01-01", up_to="2100-01-01"):
    """Keep the objects of a scan in a folder."""
    for ref in net.scan.iter_update_objects(after=after, up_to=up_to):
        name = ref.url.rpartition("/")[2]
        net.scan.download_object(ref, folder / (name if flat else name.replace("%3A", ":").replace("%2F", "/")))
    return folder


@pytest.fixture
def store(tmp_path):
    return lf.open_store(tmp_path / "lake")


def lines_of(folder):
    """How many items the objects of a folder have."""
    import pyarrow as pa

    total = 0
    for path in folder.rglob("*.zstd"):
        with pa.CompressedInputStream(str(path), "zstd") as stream:
            total += stream.read().count(b"\n")
    return total


def equal(one, other):
    for name in TABLES:
        assert values_of(getattr(one, name)) == values_of(getattr(other, name)), name


@pytest.fixture(scope="module")
def ledger():
    with simulated(seed=11, updates=900, synchronizers=4) as net:
        yield net


@pytest.fixture(scope="module")
def days():
    """Twelve days with a segment of objects per day."""
    with lf.sandbox(days=12) as net:
        yield net


@pytest.fixture(scope="module")
def folder(ledger, tmp_path_factory):
    return download(ledger, tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def daily(days, tmp_path_factory):
    return download(days, tmp_path_factory.mktemp("daily"))


@pytest.fixture
def copied(daily, tmp_path):
    """A copy of the daily objects, to be spoiled."""
    target = tmp_path / "copied"
    for path in daily.rglob("*.zstd"):
        file = target / path.relative_to(daily)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.read_bytes())
    return target


def segment(folder, number):
    """One of the folders of segments, by its number in time."""
    return sorted(path for path in folder.iterdir() if path.is_dir())[number]


@pytest.mark.parametrize("flat", [False, True], ids=["nested", "flat"])
def test_a_folder_gives_the_rows_of_the_scan(ledger, tmp_path, flat):
    download(ledger, tmp_path, flat=flat)
    with lf.open_objects(tmp_path) as net:
        held = lf.load_history(net, start=BEGIN, as_="arrow")
    assert held.updates.num_rows == lines_of(tmp_path) > 700
    attrs = json.loads(held.updates.schema.metadata[b"ledgerframes"])
    migration_id, time = attrs["cursor"]
    assert f"https://objects.invalid/{tmp_path.name}" in str(attrs)
    equal(held, lf.load_history(ledger, start=BEGIN, end=(migration_id, time[:-4] + "999Z"), as_="arrow"))


@pytest.mark.parametrize("page_size", [7, 1000])
def test_every_page_size_gives_every_update_once(folder, page_size):
    with lf.open_objects(folder) as net:
        ids = [item.update_id for item in net.scan.iter_updates(page_size=page_size)]
    assert len(ids) == len(set(ids)) == lines_of(folder)


def test_a_page_from_anywhere_is_that_of_the_scan(ledger, folder):
    with lf.open_objects(folder) as net:
        for update in ledger.sandbox.world.updates[:700:37]:
            after = (update.migration_id, timestamps.exact(update.record_time))
            mine, theirs = (one.scan.updates(after=after, page_size=5).page_index.update_ids for one in (net, ledger))
            assert mine == theirs
        assert [one.update_id for one in net.scan.updates(after=(9, "2026-01-01")).items] == []


def test_a_store_from_a_folder_ends_where_the_objects_end(store, days, daily):
    with lf.open_objects(daily) as net:
        report = store.sync(net, workers=3, page_size=40, progress=False)
        again = store.sync(net, progress=False)
    assert report.complete
    assert report.rows["updates"] == lines_of(daily)
    assert again.commits == 0
    loaded = store.load("updates")
    newest = loaded.record_time.max()
    last = store.coverage().iloc[-1]
    # The names claim midnight, and a segment may lack updates less than `settle` before its end.
    assert last.settled == newest - pd.Timedelta("60.000001s")
    assert last.up_to == newest
    assert store.check(full=True)
    # The scan has more, which follows without a gap.
    store.sync(days, progress=False)
    assert len(store.load("updates")) == len(days.sandbox.world.updates)
    assert store.verify(days, sample=None)


@pytest.mark.long
def test_a_store_of_a_server_is_continued_from_a_folder(store, days, daily):
    store.sync(days, end="2025-03-07T10:00:00Z", progress=False)
    with lf.open_objects(daily) as net:
        assert store.sync(net, progress=False).complete
        assert len(store.load("updates")) == lines_of(daily)
        assert store.verify(net, sample=None)
    assert store.verify(days, sample=None)


def test_the_end_that_a_name_claims_is_not_known(daily):
    with lf.open_objects(daily) as net:
        newest = lf.load_history(net).updates.record_time.max()
        claimed = segment(daily, -1).name.partition("~")[2]
        part = lf.load_history(net, start="2025-03-10", end=claimed).updates
    assert not part.attrs["complete"]
    assert part.attrs["known_to"] == part.attrs["cursor"]
    assert part.record_time.max() == newest


def test_a_part_of_a_history_is_read_from_where_it_begins(store, days, copied):
    for number in (0, 0, 0):
        remove(segment(copied, number))
    begins = segment(copied, 0).name.partition("~")[0]
    with lf.open_objects(copied) as net:
        part = lf.load_history(net, start=begins[:-1] + ".000001Z", end="2025-03-10", as_="arrow")
        equal(part, lf.load_history(days, start=begins[:-1] + ".000001Z", end="2025-03-10", as_="arrow"))
        assert store.sync(net, start=begins[:-1] + ".000001Z", end="2025-03-10", progress=False).complete
    # What lies between the beginning of the first segment and its first update is covered too.
    assert len(store.load("updates", start=begins[:-1] + ".000001Z", end="2025-03-10")) == len(part.updates)


@pytest.mark.parametrize("start", [None, "begin", (0, "2025-03-05"), "segment"])
def test_a_part_that_begins_before_the_objects_is_refused(store, copied, start):
    for _ in range(4):
        remove(segment(copied, 0))
    begins = segment(copied, 0).name.partition("~")[0]
    start = begins if start == "segment" else start
    wanted = {None: "ledger begin", "begin": "ledger begin"}.get(start, "2025")
    words = f"has the updates recorded after {begins}, but {wanted}.*give start='{begins[:-1]}.000001Z' or later"
    with lf.open_objects(copied) as net:
        if start is None:
            with pytest.warns(lf.errors.BeginsLateWarning, match="after ledger begin"):
                assert lf.load_history(net).updates.attrs["complete"]
        else:
            with pytest.raises(lf.errors.PartialResultError, match=f"begins at .*{begins[:-1]}.000001Z.* or later"):
                lf.load_history(net, start=start)
        with pytest.raises(lf.errors.InputError, match=words):
            store.sync(net, start=start, progress=False)
    assert store.tables().empty


@pytest.mark.long
def test_a_store_of_a_month_is_filled_and_continued_where_its_objects_overlap(store, days, copied):
    for _ in range(3):
        remove(segment(copied, 0))
    begins = segment(copied, 0).name.partition("~")[0]
    start = begins[:-1] + ".000001Z"
    with lf.open_objects(copied, end="2025-03-10") as first:
        assert store.sync(first, start=start, progress=False).complete
    stored = len(store.load("updates", start=start))
    with lf.open_objects(copied) as both:
        assert store.sync(both, start=start, progress=False).complete
    assert len(store.load("updates", start=start)) == lines_of(copied) > stored
    assert store.verify(days, start=start, sample=None)


def remove(folder):
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_objects_that_are_missing_between_others_are_named(copied):
    gone = segment(copied, 5)
    after, _, up_to = gone.name.partition("~")
    remove(gone)
    with pytest.raises(lf.errors.InputError, match=f"objects from {after} to {up_to} are missing.*end='{after}'"):
        lf.open_objects(copied)
    with lf.open_objects(copied, end=after) as net:
        assert lf.load_history(net).updates.record_time.max().isoformat() < after
    with lf.open_objects(copied, start=up_to[:-1] + ".000001Z") as net:
        assert len(lf.load_history(net, start=up_to[:-1] + ".000001Z").updates) > 0


def test_a_missing_object_of_a_segment_is_named(copied):
    own = segment(copied, 4)
    (own / "updates_compact_json_0.zstd").rename(own / "updates_compact_json_1.zstd")
    with pytest.raises(lf.errors.InputError, match="object 0 is missing and object 1 exists"):
        lf.open_objects(copied)


def test_longer_segments_take_the_place_of_those_in_them(ledger, tmp_path):
    ledger.sandbox.object_faults = ObjectFaults(overlap=True)
    try:
        download(ledger, tmp_path)
    finally:
        ledger.sandbox.object_faults = ObjectFaults()
    with lf.open_objects(tmp_path) as net:
        ids = [item.update_id for item in net.scan.iter_updates()]
    assert len(ids) == len(set(ids)) > 700


def test_segments_that_overlap_in_part_are_refused(copied):
    before, one = segment(copied, 2), segment(copied, 3)
    after, _, up_to = one.name.partition("~")
    one.rename(copied / f"{before.name.partition('T')[0]}T23:00:00Z~{up_to}")
    with pytest.raises(lf.errors.InputError, match=f"begins before {after}, where the one before it ends; keep one"):
        lf.open_objects(copied)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), r"updates_compact_json_0\.zstd cannot be read"),
        (lambda path: path.write_bytes(b""), "the file is empty"),
        (Path.unlink, r"cannot be read.*Is it still there"),
    ],
    ids=["cut", "empty", "gone"],
)
def test_a_damaged_object_is_named_and_leaves_what_lies_before_it(store, copied, harm, words):
    sound = lines_of(segment(copied, 0)) + lines_of(segment(copied, 1))
    path = segment(copied, 2) / "updates_compact_json_0.zstd"
    with lf.open_objects(copied) as net:
        harm(path)
        assert len(lf.load_history(net, limit=10).updates) == 10
        assert lf.load_history(net, end=segment(copied, 1).name.partition("~")[0]).updates.attrs["complete"]
        kept = lf.load_history(net, page_size=1000, allow_partial=True).updates
        for read in (lf.load_history, partial(store.sync, page_size=30, workers=1, progress=False)):
            with pytest.raises(lf.errors.DecodeError, match=words) as caught:
                read(net)
            assert path.parent.name in str(caught.value)
    assert store.coverage().up_to.dropna().max() <= kept.record_time.max()
    # The last record time may go on in the damaged object.
    assert sound - 3 <= len(kept) < sound
    assert not kept.attrs["complete"]


SPOILED = {
    "not JSON": lambda lines: [*lines, b"not JSON"],
    "not an item": lambda lines: [*lines, b"[]"],
    "not in order": lambda lines: [*lines, lines[0]],
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_page_of_several_objects_names_the_one_that_has_the_fault(spoil, copied):
    path = segment(copied, 6) / "updates_compact_json_0.zstd"
    lines = unpacked(path)
    path.write_bytes(object_of(b"\n".join(spoil(lines)) + b"\n"))
    with lf.open_objects(copied) as net, pytest.raises(lf.errors.DecodeError) as caught:
        lf.load_history(net, page_size=1000)
    assert path.parent.name in str(caught.value)
    assert f"line {len(lines) + 1}" in str(caught.value)


def test_a_file_name_that_is_not_utf8_is_named(copied):
    try:
        Path(os.fsdecode(os.fsencode(copied) + b"/\xdcbersicht.txt")).write_text("x")
    except OSError as error:
        pytest.skip(f"no such names here: {error}")
    with pytest.raises(lf.errors.InputError, match=r"b'\\xdcbersicht\.txt'.*not UTF-8; rename or remove"):
        lf.open_objects(copied)


def test_a_renamed_object_is_refused(copied):
    early, late = (segment(copied, number) / "updates_compact_json_0.zstd" for number in (2, 9))
    early.write_bytes(late.read_bytes())
    with lf.open_objects(copied) as net, pytest.raises(lf.errors.DecodeError, match="was it renamed"):
        net.scan.updates(after=(0, "2025-03-05T12:00:00Z"))


def unpacked(path):
    import pyarrow as pa

    with pa.CompressedInputStream(str(path), "zstd") as stream:
        return stream.read().splitlines()


def digests(folder):
    """Write the list of digests."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.rglob("*.zstd"))
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


def test_digests_are_checked_before_an_object_is_read(store, copied):
    digests(copied)
    with lf.open_objects(copied) as net:
        assert len(lf.load_history(net).updates) == lines_of(copied)
    path = segment(copied, 6) / "updates_compact_json_0.zstd"
    path.write_bytes(object_of(b"\n".join(unpacked(path)[1:]) + b"\n"))
    with lf.open_objects(copied) as net, pytest.raises(lf.errors.DecodeError, match="does not match its digest"):
        store.sync(net, page_size=30, workers=1, progress=False)
    assert (store.load("updates", allow_partial=True).record_time < segment(copied, 7).name[:20]).all()


def test_an_object_of_the_list_that_is_not_there_is_named(copied):
    digests(copied)
    remove(segment(copied, -1))
    with pytest.raises(lf.errors.InputError, match=r"SHA256SUMS lists .* which does not exist"):
        lf.open_objects(copied)


def test_a_list_of_digests_that_is_not_one_is_refused(copied):
    (copied / "SHA256SUMS").write_text("yesterday's objects\n")
    with pytest.raises(lf.errors.InputError, match="line 1 of SHA256SUMS is not valid"):
        lf.open_objects(copied)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "no such folder"}, "is not a folder"),
        ({"path": "a\0b"}, "path="),
        ({"start": "2025-03-08", "end": "2025-03-08"}, "is not after start"),
        ({"start": "2030-01-01"}, "has no objects from start='2030-01-01'"),
        ({"start": "yesterday"}, "start='yesterday'"),
        ({"path": "s3://me:secret@bucket/objects"}, "contains a user or password"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(daily, options, words):
    with pytest.raises(lf.errors.InputError, match=words) as refused:
        lf.open_objects(**{"path": daily, **options})
    assert "secret" not in str(refused.value)


def test_a_folder_whose_name_is_not_utf8_is_refused(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no such names here: {error}")
    with pytest.raises(lf.errors.InputError, match="not UTF-8; rename the folder"):
        lf.open_objects(folder)


def test_a_folder_without_objects_is_refused(tmp_path):
    (tmp_path / "readme.txt").write_text("nothing")
    with pytest.raises(lf.errors.InputError, match="no objects of updates here; they have names such as"):
        lf.open_objects(tmp_path)


def test_what_objects_do_not_hold_is_refused_with_what_to_do(folder):
    with lf.open_objects(folder) as net:
        with pytest.raises(lf.errors.StatusError, match="objects hold the history of updates and nothing else"):
            lf.load_licenses(net)
        with pytest.raises(lf.errors.StatusError, match="objects are compact_json, not protobuf_json"):
            net.scan.updates(value_encoding="protobuf_json")


def test_the_source_of_an_opened_folder_is_objects_whatever_is_asked_for(store, folder):
    with lf.open_objects(folder) as net:
        assert len(lf.load_history(net, source="objects").updates) == lines_of(folder)
        assert store.sync(net, source="objects", progress=False).complete


def test_a_cluster_cannot_read_opened_objects(store, folder):
    class Client:
        submit = scheduler_info = cancel = None

    with (
        lf.open_objects(folder) as net,
        pytest.raises(lf.errors.InputError, match="does not go together with open_objects"),
    ):
        store.sync(net, engine=Client())


def test_nothing_is_left_on_the_disk(daily, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(Path(daily).rglob("*"))
    with lf.open_objects(daily) as net:
        lf.load_history(net, limit=300)
    assert list(tmp_path.iterdir()) == []
    assert sorted(Path(daily).rglob("*")) == before


def links(folder, to):
    """Two links in a folder of objects, and in one of its folders."""
    for at in (folder, next(path for path in folder.iterdir() if path.is_dir())):
        for name in ("a", "b"):
            (at / name).symlink_to(to, target_is_directory=True)


def test_links_in_a_folder_of_objects_are_not_followed(days, tmp_path):
    download(days, tmp_path / "objects")
    with lf.open_objects(tmp_path / "objects") as net:
        wanted = lf.load_updates(net, limit=20)
    links(tmp_path / "objects", "/")
    program = (
        "import sys, ledgerframes as lf\n"
        "with lf.open_objects(sys.argv[1]) as net:\n"
        "    print(','.join(lf.load_updates(net, limit=20).update_id))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "objects"], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip().split(",") == wanted.update_id.to_list()


def test_a_folder_that_holds_only_links_says_that_they_are_not_followed(days, tmp_path):
    download(days, tmp_path / "objects")
    (tmp_path / "links").mkdir()
    for path in (tmp_path / "objects").iterdir():
        (tmp_path / "links" / path.name).symlink_to(path)
    with pytest.raises(lf.errors.InputError, match=r"no objects of updates here.*links are not followed"):
        lf.open_objects(tmp_path / "links")
