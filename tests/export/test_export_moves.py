"""An export killed while its files move to their places: the next export into the folder finishes the move."""

import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf

ROOT = Path(__file__).parents[2]
FORMS = {
    "hive": {"layout": "hive", "tables": ["updates", "events"]}, "parquet": {"format": "parquet"},
    "csv": {"format": "csv"}, "star": {"model": "star"}, "star as csv": {"model": "star", "format": "csv"},
}  # fmt: skip
#: Exports a lake, and is killed before the rename of that number; Python reports renames itself: nothing is replaced.
KILLED = """
    import os, signal, sys
    import ledgerframes as lf
    renames = 0
    def heard(event, arguments):
        global renames
        renames += event == "os.rename"
        if event == "os.rename" and renames == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
    store = lf.open_store(sys.argv[1])
    store.tables()
    sys.addaudithook(heard)
    store.export(sys.argv[2], overwrite=True, **eval(sys.argv[4]))
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A lake that was synced twice."""
    place = tmp_path_factory.mktemp("lake")
    store = lf.open_store(place)
    with lf.sandbox(updates=80) as net:
        times = lf.load_updates(net, progress=False)["record_time"]
        store.sync(net, start="begin", end=times[40], progress=False)
        store.sync(net, progress=False)
    return place, store


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_an_export_killed_at_any_rename_is_all_old_or_all_new(lake, tmp_path, form):
    (place, store), options = lake, FORMS[form]
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "out"
    # A star in another format goes as a whole.
    first = {"model": "star"} if form == "star as csv" else options
    store.export(old, as_of=store.syncs()["sync_id"].iloc[0], **first)
    store.export(new, **options)
    assert content(old) != content(new)
    seen = []

    for rename in range(1, 100):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(old, out)
        killed = [sys.executable, "-c", textwrap.dedent(KILLED), place, out, str(rename), repr(options)]
        ended = subprocess.run(killed, check=False, cwd=ROOT)
        lf.export({"another": pa.table({"a": [1]})}, out, overwrite=True)
        (out / "another.parquet").unlink()
        left = content(out)
        assert left in (content(old), content(new)), f"killed before rename {rename}: {left.keys()}"
        seen.append(left == content(new))
        if ended.returncode != -signal.SIGKILL:
            break

    assert ended.returncode == 0
    assert len(seen) > (3 if "model" in options else 2)
    assert seen == sorted(seen)


def content(folder):
    """What every file of an export holds, without the folder that a star's expressions name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = re.compile(re.escape(str(folder.parent)) + "/(old|new|out)")
    return {
        str(path.relative_to(folder)): pq.ParquetFile(path).read().to_pylist()
        if path.suffix == ".parquet"
        else named.sub("", path.read_text(encoding="utf-8"))
        for path in files
    }
