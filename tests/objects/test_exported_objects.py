"""A lake's settled history as objects: read back they give equal rows, and an export that was killed continues."""

import json
import shutil

import pyarrow.compute as pc
import pytest
from filelock import FileLock

import ledgerframes as lf
from tests.objects.conftest import values_of
from tests.objects.test_opened_folders import lines_of

TABLES = ("updates", "events", "reassignments")


@pytest.fixture
def store(tmp_path):
    return lf.open_store(tmp_path / "lake")


@pytest.fixture
def days():
    """Two weeks, with room for more."""
    with lf.sandbox(days=14) as net:
        yield net


def rows_of(folder, store):
    """The rows that a new lake gets from objects, as far as the old one is settled, and the old one's."""
    other = lf.open_store(str(folder) + "-lake")
    with lf.open_objects(folder) as net:
        report = other.sync(net, progress=False, settle=0)
    assert report.complete
    found = {name: other.load(name, as_="arrow").replace_schema_metadata(None) for name in TABLES}
    ids = pc.unique(found["updates"]["update_id"])
    stored = {name: store.load(name, as_="arrow").replace_schema_metadata(None) for name in TABLES}
    return found, {name: table.filter(pc.is_in(table["update_id"], ids)) for name, table in stored.items()}, other


@pytest.mark.parametrize("options", [{"updates": 900}, {"updates": 900, "synchronizers": 5, "migrations": 5}], ids=str)
def test_rows_are_the_same_to_the_last_character(store, tmp_path, options):
    with lf.sandbox(seed=5, **options) as net:
        store.sync(net, progress=False)
    written = store.export_objects(tmp_path / "objects")
    found, wanted, _ = rows_of(tmp_path / "objects", store)
    for name in TABLES:
        assert found[name].equals(wanted[name]), name
    assert written.updates == len(found["updates"]) == lines_of(tmp_path / "objects") > 100


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 4, 8])
def test_hostile_rows_have_the_same_values(store, tmp_path, seed):
    with lf.sandbox(seed=seed, updates=300, hostile=True) as net:
        store.sync(net, progress=False, settle=0)
    written = store.export_objects(tmp_path / "objects", object_bytes=65_536)
    found, wanted, _ = rows_of(tmp_path / "objects", store)
    # A line has no line breaks, which are between values of hostile items.
    for name in TABLES:
        assert values_of(found[name]) == values_of(wanted[name]), name
    assert written.updates == len(found["updates"]) > 20


@pytest.mark.long
def test_a_quarter_of_a_year_comes_back(store, tmp_path):
    with lf.sandbox(days=90) as net:
        store.sync(net, progress=False)
    written = store.export_objects(tmp_path / "objects")
    found, wanted, other = rows_of(tmp_path / "objects", store)
    for name in TABLES:
        assert found[name].equals(wanted[name]), name
    assert written.segments > 60
    assert other.check(full=True)


def test_only_what_is_settled_is_written(store, tmp_path, days):
    store.sync(days, progress=False)
    written = store.export_objects(tmp_path / "objects")
    settled = store.load("updates").attrs["settled"]
    times = store.load("updates").record_time
    assert written.updates == (times <= settled[1]).sum() < len(times)
    assert written.up_to[1] <= settled[1]


@pytest.mark.long
def test_a_second_export_adds_what_is_new(store, tmp_path, days):
    store.sync(days, end="2025-03-09T10:00:00Z", progress=False)
    first = store.export_objects(tmp_path / "objects")
    before = {path: path.read_bytes() for path in (tmp_path / "objects").rglob("*.zstd")}
    assert store.export_objects(tmp_path / "objects").updates == 0
    store.sync(days, progress=False)
    second = store.export_objects(tmp_path / "objects")
    assert first.updates > 0 < second.updates
    assert all(path.read_bytes() == data for path, data in before.items())
    found, wanted, _ = rows_of(tmp_path / "objects", store)
    assert len(found["updates"]) == first.updates + second.updates
    for name in TABLES:
        assert found[name].equals(wanted[name]), name


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("kept", [0, 1, 5])
def test_an_export_that_was_killed_continues(store, tmp_path, days, kept):
    store.sync(days, progress=False)
    folder = tmp_path / "objects"
    store.export_objects(folder)
    whole = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    lines = (folder / "SHA256SUMS").read_text().splitlines(keepends=True)
    listed = {line.split()[1].partition("/")[0] for line in lines[:kept]}
    # As a kill leaves it: a segment that is whole and not listed, a half one beside, and the rest is not there.
    for number, path in enumerate(sorted(path for path in folder.iterdir() if path.is_dir())):
        if path.name not in listed and number > kept:
            shutil.rmtree(path)
    half = folder / ".objects-abcdef"
    half.mkdir()
    (half / "updates_compact_json_0.zstd").write_bytes(b"half")
    (folder / ".objects-SHA256SUMS").write_text("half")
    (folder / "SHA256SUMS").write_text("".join(lines[:kept]))
    store.export_objects(folder)
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == whole


def test_objects_are_split_at_their_size_and_listed_with_their_digests(store, tmp_path, days):
    store.sync(days, progress=False)
    written = store.export_objects(tmp_path / "objects", object_bytes=65_536)
    lengths = [path.stat().st_size for path in (tmp_path / "objects").rglob("*.zstd")]
    assert len(lengths) == written.objects == len((tmp_path / "objects" / "SHA256SUMS").read_text().splitlines())
    assert sum(lengths) == written.bytes
    assert written.objects > written.segments
    assert max(lengths) < 131_072
    with lf.open_objects(tmp_path / "objects") as net:
        assert len(lf.load_updates(net)) == written.updates
    assert "objects of" in str(written)
    assert json.loads(written.to_json())["updates"] == written.updates


def test_a_part_of_a_history_is_exported_as_a_part(store, tmp_path, days):
    store.sync(days, start="2025-03-06", progress=False)
    store.export_objects(tmp_path / "objects")
    with lf.open_objects(tmp_path / "objects") as net:
        with pytest.raises(lf.PartialResultError, match=r"'2025-03-06T00:00:00.000000Z'\) or later"):
            lf.load_history(net, start="begin")
        found = lf.load_updates(net, start="2025-03-06")
    wanted = store.load("updates", start="2025-03-06")
    assert found.update_id.tolist() == wanted.update_id.tolist()[: len(found)]
    assert len(found) > 1_000


def test_a_hole_ends_an_export(store, tmp_path, days):
    store.sync(days, end="2025-03-05", progress=False)
    store.sync(days, start="2025-03-09", progress=False)
    store.export_objects(tmp_path / "objects")
    with lf.open_objects(tmp_path / "objects") as net:
        assert lf.load_updates(net).record_time.max().isoformat() < "2025-03-05"


def test_a_lake_in_which_nothing_is_settled_gives_an_empty_list(store, tmp_path):
    with lf.sandbox(updates=30) as net:
        store.sync(net, settle="30 days", progress=False)
    written = store.export_objects(tmp_path / "objects")
    assert (written.updates, written.up_to) == (0, None)
    assert "nothing is settled yet" in str(written)


def test_a_folder_of_something_else_is_refused(store, tmp_path, days):
    store.sync(days, end="2025-03-05", progress=False)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "thesis.tex").write_text("years of work")
    with pytest.raises(lf.InputError, match=r"holds 'thesis.tex' and no SHA256SUMS"):
        store.export_objects(tmp_path / "objects")
    assert [path.name for path in (tmp_path / "objects").iterdir()] == ["thesis.tex"]


def test_the_objects_of_another_history_are_refused(store, tmp_path, days):
    store.sync(days, progress=False)
    with lf.sandbox(seed=99, updates=700) as net:
        other = lf.open_store(tmp_path / "other")
        other.sync(net, progress=False)
        other.export_objects(tmp_path / "objects")
    with pytest.raises(lf.InputError, match="which is not settled in this store; name a new folder"):
        store.export_objects(tmp_path / "objects")


def test_two_exports_into_one_folder_are_refused(store, tmp_path, days):
    store.sync(days, end="2025-03-05", progress=False)
    (tmp_path / "objects").mkdir()
    with FileLock(tmp_path / "objects" / ".export.lock"), pytest.raises(lf.StoreError, match="another export writes"):
        store.export_objects(tmp_path / "objects")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folder": 3}, "folder=3"),
        ({"folder": ""}, "folder=''"),
        ({"folder": "a\0b"}, "folder="),
        ({"folder": "s3://bucket/objects"}, "give a folder of this machine"),
        ({"object_bytes": 999}, "object_bytes=999"),
        ({"object_bytes": "128 MB"}, "object_bytes="),
    ],
    ids=str,
)
def test_wrong_arguments_of_an_export_are_refused(store, tmp_path, days, options, words):
    store.sync(days, end="2025-03-04", progress=False)
    with pytest.raises(lf.InputError, match=words):
        store.export_objects(**{"folder": tmp_path / "objects", **options})


def test_a_location_without_a_store_is_refused(store, tmp_path):
    with pytest.raises(lf.StoreError, match="there is no store here"):
        store.export_objects(tmp_path / "objects")
    assert not (tmp_path / "objects").exists()


def test_a_lake_with_rejected_items_is_refused(store, tmp_path):
    with lf.sandbox(updates=200) as net:
        world = net.sandbox.world
        update = next(one for one in world.updates if b"events_by_id" in one.rendered)
        broken = update.rendered.replace(b'"events_by_id":{', b'"events_by_id":{"x":{"event_type":7},', 1)
        world.updates[world.updates.index(update)] = update._replace(rendered=broken)
        report = store.sync(net, on_error="reject", settle=0, progress=False)
        assert report.rejected == 1
    with pytest.raises(lf.InputError, match="keeps 1 rejected items, which objects would lack"):
        store.export_objects(tmp_path / "objects")


def test_a_lake_without_personal_data_is_refused_where_some_was_left_out(tmp_path):
    store = lf.open_store(tmp_path / "lake", personal=False)
    with lf.sandbox(updates=500) as net:
        store.sync(net, settle=0, progress=False)
    with pytest.raises(lf.InputError, match="was left out of a row, for it holds personal data"):
        store.export_objects(tmp_path / "objects")
    assert not list((tmp_path / "objects").rglob("*.zstd"))
