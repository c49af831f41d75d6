"""A folder or bucket of objects is a network without a server: the same rows, no claim beyond it, clear refusals."""

import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.moving_window import place
from tests.objects.conftest import assert_same_rows, object_of
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import connected, replica, simulated
from tests.store.conftest import BEGIN
from tests.store.test_object_store import SECRET
from tests.store.test_object_store import options as options  # noqa: PLC0414 - a fixture


def download(net, folder, *, flat=False, after="0001-01-01", up_to="2100-01-01"):
    """Keep the objects of a scan in a folder."""
    for ref in net.scan.iter_update_objects(after=after, up_to=up_to):
        name = ref.url.rpartition("/")[2]
        net.scan.download_object(ref, folder / (name if flat else name.replace("%3A", ":").replace("%2F", "/")))
    return folder


def unpacked(path):
    with pa.CompressedInputStream(str(path), "zstd") as stream:
        return stream.read().splitlines()


def lines_of(folder):
    """How many items the objects of a folder have."""
    return sum(len(unpacked(path)) for path in folder.rglob("*.zstd"))


@pytest.fixture(scope="module")
def ledger():
    with simulated(seed=11, updates=900, synchronizers=4) as net:
        yield net


@pytest.fixture(scope="module")
def days():
    """Twelve days with a segment of objects per day."""
    with lf.sandbox(days=12, rounds_per_day=2) as net:
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
    return Path(shutil.copytree(daily, tmp_path / "copied"))


def segment(folder, number):
    """One of the folders of segments, by its number in time."""
    return sorted(path for path in folder.iterdir() if path.is_dir())[number]


@pytest.mark.parametrize("form", ["nested", "flat", "longer segments too"])
def test_a_folder_gives_the_rows_of_the_scan(ledger, tmp_path, form):
    ledger.sandbox.object_faults = ObjectFaults(overlap=form == "longer segments too")
    download(ledger, tmp_path, flat=form == "flat")
    ledger.sandbox.object_faults = ObjectFaults()
    with lf.open_objects(tmp_path) as net:
        held = lf.load_history(net, start=BEGIN, as_="arrow")
    assert 700 < held.updates.num_rows <= lines_of(tmp_path)
    assert (held.updates.num_rows == lines_of(tmp_path)) == (form in {"nested", "flat"})
    attrs = json.loads(held.updates.schema.metadata[b"ledgerframes"])
    migration_id, time = attrs["cursor"]
    assert f"https://objects.invalid/{tmp_path.name}" in str(attrs)
    assert_same_rows(held, lf.load_history(ledger, start=BEGIN, end=(migration_id, time[:-4] + "999Z"), as_="arrow"))


@pytest.mark.parametrize("page_size", [7, 1000])
def test_every_page_size_gives_every_update_once_and_a_page_from_anywhere_is_that_of_the_scan(
    ledger, folder, page_size
):
    with lf.open_objects(folder) as net:
        ids = [item.update_id for item in net.scan.iter_updates(page_size=page_size)]
        assert len(ids) == len(set(ids)) == lines_of(folder)
        for update in ledger.sandbox.world.updates[:700:37]:
            after = (update.migration_id, timestamps.exact(update.record_time))
            mine, theirs = (
                one.scan.updates(after=after, page_size=page_size).page_index.update_ids[:5] for one in (net, ledger)
            )
            assert mine == theirs
        assert [one.update_id for one in net.scan.updates(after=(9, "2026-01-01")).items] == []


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")
def test_a_store_from_a_folder_ends_where_the_objects_end_and_goes_on_with_a_pruned_scan(
    store, days, daily, tmp_path, monkeypatch
):
    temporary, before = tmp_path / "temporary", sorted(Path(daily).rglob("*"))
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with lf.open_objects(daily) as net:
        report = store.sync(net, workers=3, page_size=150, progress=False)
        again = store.sync(net, source="objects", progress=False)
    assert list(temporary.iterdir()) == []
    assert sorted(Path(daily).rglob("*")) == before
    assert report.complete
    assert report.rows["updates"] == lines_of(daily)
    assert again.commits == 0
    newest = store.load("updates").record_time.max()
    last = store.coverage().iloc[-1]
    # The names claim midnight, and a segment may lack updates less than `settle` before its end.
    assert last.settled == newest - pd.Timedelta("60.000001s")
    assert last.up_to == newest
    assert store.check(full=True)
    # The scan has more, which follows without a gap.
    with connected(replica(days.sandbox, prune_before=place(days, report.rows["updates"] - 20))) as pruned:
        store.sync(pruned, progress=False)
    assert len(store.load("updates", start="begin")) == len(days.sandbox.world.updates)
    assert store.verify(days, sample=None)


def test_a_part_of_a_history_is_read_from_where_it_begins(store, days, copied):
    for number in (0, 0, 0):
        shutil.rmtree(segment(copied, number))
    begins = segment(copied, 0).name.partition("~")[0]
    with lf.open_objects(copied) as net:
        part = lf.load_history(net, start=begins[:-1] + ".000001Z", end="2025-03-10", as_="arrow")
        assert_same_rows(part, lf.load_history(days, start=begins[:-1] + ".000001Z", end="2025-03-10", as_="arrow"))
        assert store.sync(net, start=begins[:-1] + ".000001Z", end="2025-03-10", progress=False).complete
        claimed = segment(copied, -1).name.partition("~")[2]
        last = lf.load_history(net, start="2025-03-10", end=claimed).updates
        newest = lf.load_history(net, start="2025-03-10").updates.record_time.max()
    # What lies between the beginning of the first segment and its first update is covered too.
    assert len(store.load("updates", start=begins[:-1] + ".000001Z", end="2025-03-10")) == len(part.updates)
    assert not last.attrs["complete"]  # the end that a name claims is not known
    assert last.attrs["known_to"] == last.attrs["cursor"]
    assert last.record_time.max() == newest


@pytest.mark.parametrize("start", ["begin", (0, "2025-03-05"), "segment"])
def test_a_part_that_begins_before_the_objects_is_refused(store, copied, start):
    for _ in range(4):
        shutil.rmtree(segment(copied, 0))
    begins = segment(copied, 0).name.partition("~")[0]
    words = f"begins at .*{begins[:-1]}.000001Z"
    with lf.open_objects(copied) as net:
        for read in (partial(store.sync, progress=False), lf.load_history):
            with pytest.raises(lf.errors.PartialResultError, match=words):
                read(net, start=begins if start == "segment" else start)
        assert store.tables().empty
        with pytest.warns(lf.errors.BeginsLateWarning, match="after ledger begin"):
            held = lf.load_history(net).updates
        with pytest.warns(lf.errors.BeginsLateWarning, match="after ledger begin"):
            assert store.sync(net, progress=False).complete
    assert held.attrs["complete"]
    assert str(store.coverage().begins_late[0])[:26] == f"{begins[:10]} 00:00:00.000001"
    assert store.load("updates").update_id.equals(held.update_id)


def test_objects_that_are_missing_between_others_are_named(copied):
    gone = segment(copied, 5)
    after, _, up_to = gone.name.partition("~")
    shutil.rmtree(gone)
    with pytest.raises(lf.errors.InputError, match=f"objects from {after} to {up_to} are missing.*end='{after}'"):
        lf.open_objects(copied)
    with lf.open_objects(copied, end=after) as net:
        assert lf.load_history(net).updates.record_time.max().isoformat() < after
    with lf.open_objects(copied, start=up_to[:-1] + ".000001Z") as net:
        assert len(lf.load_history(net, start=up_to[:-1] + ".000001Z").updates) > 0


def not_utf8(parent, name, make=Path.touch):
    """A file or folder whose name is not UTF-8, where the system has such names."""
    path = Path(os.fsdecode(os.fsencode(parent) + name))
    try:
        make(path)
    except OSError as error:
        pytest.skip(f"no such names here: {error}")
    return path


def harmed(folder, harm):
    own = segment(folder, 4)
    match harm:
        case "a missing object":
            (own / "updates_compact_json_0.zstd").rename(own / "updates_compact_json_1.zstd")
        case "overlapping segments":
            own.rename(folder / f"{segment(folder, 3).name[:10]}T23:00:00Z~{own.name.partition('~')[2]}")
        case "another name":
            not_utf8(folder, b"/\xdcbersicht")
        case "no objects" | "links alone":
            elsewhere = folder.rename(folder.parent / "elsewhere")
            first, *others = elsewhere.iterdir()
            (folder / first.name).mkdir(parents=True)
            (folder / "readme.txt").write_text("nothing")
            for path in [*others, *first.iterdir()] if harm == "links alone" else ():
                (folder / path.relative_to(elsewhere)).symlink_to(path)


REFUSED = {
    "a missing object": "object 0 is missing and object 1 exists",
    "overlapping segments": "begins before .*, where the one before it ends; keep one",
    "another name": r"b'\\xdcbersicht'.*not UTF-8; rename or remove",
    "no objects": "no objects of updates here; they have names such as",
    "links alone": "no objects of updates here.*links are not followed",
}


@pytest.mark.parametrize("harm", REFUSED)
def test_a_folder_that_is_not_whole_is_refused_by_name(copied, harm):
    harmed(copied, harm)
    with pytest.raises(lf.errors.InputError, match=REFUSED[harm]):
        lf.open_objects(copied)


def appended(line=None):
    """An object with a further line, or its first one again."""
    return lambda path: object_of(b"\n".join([*unpacked(path), line or unpacked(path)[0]]) + b"\n")


#: What an object has once its folder was opened, and what is said of it; {} is the number of the further line.
SPOILED = {
    "cut": (lambda path: path.read_bytes()[:-40], r"updates_compact_json_0\.zstd cannot be read"),
    "empty": (lambda _: b"", "the file is empty"),
    "gone": (None, "cannot be read.*Is it still there"),
    "not JSON": (appended(b"not JSON"), "line {}"),
    "not an item": (appended(b"[]"), "line {}"),
    "not in order": (appended(), "line {}"),
}


@pytest.mark.parametrize(("content", "said"), SPOILED.values(), ids=SPOILED)
def test_an_object_with_a_fault_is_named_and_leaves_what_lies_before_it(store, copied, content, said):
    sound = sum(lines_of(segment(copied, number)) for number in range(6))
    with lf.open_objects(copied) as net:
        path = segment(copied, 6) / "updates_compact_json_0.zstd"
        said = f"{path.parent.name}.*{said.format(len(unpacked(path)) + 1)}"
        path.unlink() if content is None else path.write_bytes(content(path))
        assert len(lf.load_history(net, limit=10).updates) == 10
        before = lf.load_history(net, end=segment(copied, 5).name.partition("~")[0], page_size=100)
        assert before.updates.attrs["complete"]
        for read in (partial(store.sync, page_size=100, workers=1, progress=False), lf.load_history):
            with pytest.raises(lf.errors.DecodeError, match=said):
                read(net)
        kept = lf.load_history(net, page_size=100, allow_partial=True).updates
    assert not kept.attrs["complete"]
    assert sound - 3 <= len(kept)  # the last record time may go on in the damaged object
    assert (kept.record_time < segment(copied, 7).name[:20]).all()
    assert store.coverage().up_to.dropna().max() <= kept.record_time.max()


@pytest.mark.parametrize(("lost", "put"), [(2, 9), (7, 9), (5, 4), (4, 5)])
def test_an_object_in_the_place_of_another_one_is_refused_each_time(store, copied, lost, put):
    shutil.copy(*(segment(copied, number) / "updates_compact_json_0.zstd" for number in (put, lost)))
    with lf.open_objects(copied) as net:
        for read in (lf.load_history, lf.load_history, partial(store.sync, page_size=100, progress=False)):
            with pytest.raises(lf.errors.DecodeError, match="renamed"):
                read(net)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "no such folder"}, "is not a folder"),
        ({"path": "a\0b"}, "path="),
        ({"start": "2025-03-08", "end": "2025-03-08"}, "is not after start"),
        ({"start": "2030-01-01"}, "has no objects from start='2030-01-01'"),
        ({"start": "yesterday"}, "start='yesterday'"),
        ({"path": "s3://me:secret@bucket/objects"}, "contains a user, a password"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(daily, options, words):
    with pytest.raises(lf.errors.InputError, match=words) as refused:
        lf.open_objects(**{"path": daily, **options})
    assert "secret" not in str(refused.value)


def test_what_objects_do_not_hold_is_refused_with_what_to_do(folder, tmp_path):
    with lf.open_objects(folder) as net:
        with pytest.raises(lf.errors.StatusError, match="objects hold the history of updates and nothing else"):
            lf.load_licenses(net)
        with pytest.raises(lf.errors.StatusError, match="objects are compact_json, not protobuf_json"):
            net.scan.updates(value_encoding="protobuf_json")
        with pytest.raises(lf.errors.InputError, match=r"opened folder.*lf\.active_contracts"):
            lf.load_active_contracts(net, source="objects")
        assert len(lf.load_history(net, source="objects").updates) == lines_of(folder)
    with pytest.raises(lf.errors.InputError, match="not UTF-8; rename the folder"):
        lf.open_objects(not_utf8(tmp_path, b"/\xff", Path.mkdir))


def upload(folder, url, options):
    from deltalake._internal import DeltaFileSystemHandler

    handler = DeltaFileSystemHandler(url, options)
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        stream = handler.open_output_stream(path.relative_to(folder).as_posix())
        stream.write(path.read_bytes())
        stream.close()


@pytest.mark.long
def test_a_bucket_gives_the_rows_of_the_scan(options, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with lf.sandbox(days=10) as scan:
        upload(download(scan, tmp_path / "objects"), "s3://lakes/objects", options)
        with lf.open_objects("s3://lakes/objects", storage_options=options) as net:
            mine = lf.load_history(net, end="2025-03-09", as_="arrow")
            store = lf.open_store(tmp_path / "lake")
            assert store.sync(net, workers=2, page_size=40, progress=False).complete
        theirs = lf.load_history(scan, end="2025-03-09", as_="arrow")
        assert_same_rows(mine, theirs)
        assert store.verify(scan, sample=None)
    assert b"objects.invalid/lakes/objects" in mine.updates.schema.metadata[b"ledgerframes"]
    assert list(temporary.iterdir()) == []


@pytest.mark.long
def test_a_bucket_that_refuses_says_so_without_the_secret(options):
    wrong = {**options, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    with pytest.raises(lf.errors.StoreError, match="cannot be listed") as refused:
        lf.open_objects("s3://lakes/objects", storage_options=wrong | {"timeout": "1s", "max_retries": "0"})
    assert SECRET not in str(refused.value)


@pytest.mark.long
def test_an_empty_bucket_is_refused(options):
    with pytest.raises(lf.errors.InputError, match="no objects of updates here"):
        lf.open_objects("s3://lakes/none", storage_options=options)
