"""Nothing is written through a link: where one lies in a file's place, it is refused or replaced, never followed."""

import os

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.cli.output import write_files

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")

ONE = pa.table({"a": ["x"]})
#: Exported tables have a test of their own, by each form.
FILES = {
    "a loaded file": ("t.json", lambda _net, folder: write_files({"t": ONE}, folder / "t.json")),
    "a report": (
        "r.html",
        lambda net, folder: lf.report(
            lf.load_history(net, limit=3), folder / "r.html", sections=["provenance"], overwrite=True
        ),
    ),
    "the lock of a store": (".sync.lock", lambda net, folder: lf.open_store(folder).sync(net, tables=["instruments"])),
}
REPLACED = {
    "a ledger": ("world.json", lambda net, folder: net.sandbox.save(folder / "world.json")),
    "a recording": ("recording.json", lambda net, folder: lf.record(folder, net=net).close()),
}


@pytest.fixture
def elsewhere(tmp_path):
    """Something of somebody's that a link may point to."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "kept").write_text("kept")
    return place


@pytest.mark.parametrize(("name", "write"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("target", ["elsewhere/kept", "elsewhere/new", "nowhere/new"], ids=["file", "free", "dangling"])
def test_a_link_in_the_place_of_a_file_is_refused(net, tmp_path, elsewhere, name, write, target):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(tmp_path / target)

    with pytest.raises(lf.LedgerframesError):
        write(net, out)

    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"kept": "kept"}
    assert (out / name).is_symlink()
    assert [path.name for path in out.iterdir()] == [name]


@pytest.mark.parametrize(("name", "write"), REPLACED.values(), ids=REPLACED)
def test_a_dangling_link_is_replaced_and_not_followed(net, tmp_path, elsewhere, name, write):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(elsewhere / "new")

    try:
        write(net, out)
    except lf.errors.InputError:
        assert (out / name).is_symlink()
    else:
        assert not (out / name).is_symlink()

    assert {path.name for path in elsewhere.iterdir()} == {"kept"}


WRITING = FILES | {"a recording": REPLACED["a recording"]}


@pytest.mark.parametrize(("name", "write"), WRITING.values(), ids=WRITING)
def test_a_folder_may_be_a_link_as_people_arrange_their_disks(net, tmp_path, name, write):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")

    write(net, tmp_path / "out")

    assert (tmp_path / "disk" / name).exists()
    assert (tmp_path / "out").is_symlink()


def test_a_link_that_appears_while_an_export_runs_is_not_followed(tmp_path, elsewhere):
    out = tmp_path / "out"

    def meanwhile():
        (out / "t.parquet").symlink_to(elsewhere / "kept")
        yield from ONE.to_batches()

    with pytest.raises(lf.errors.InputError, match="is a link"):
        lf.export({"t": meanwhile}, out, overwrite=True)
    assert (elsewhere / "kept").read_text() == "kept"
