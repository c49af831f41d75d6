"""A disk that is full or closed to this user, two syncs at once: a clear error, nothing lost."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ledgerframes as lf
from tests.store.conftest import assert_whole, data_files

#: A limit on the size of files stands for a full disk.
FULL = """
import resource, signal, sys
import ledgerframes as lf
from ledgerframes.store import store
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    lf.open_store(sys.argv[1]).sync(lf.connect(scan_url=sys.argv[2]), progress=False)
except lf.errors.StoreError as error:
    print(error)
"""
FEW_FILES = """
import resource, sys
import ledgerframes as lf
store = lf.open_store(sys.argv[1])
store.load("updates")
resource.setrlimit(resource.RLIMIT_NOFILE, (14, 4096))
try:
    lf.open_store(sys.argv[1]).load("updates")
except lf.errors.StoreError as error:
    print(error)
"""


def said_by(program, *words):
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        check=True, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    return done.stdout


def test_a_full_disk_is_said_and_the_next_sync_goes_on(store, small):
    store.sync(small, end=(1, "0001-01-01"))
    assert "run sync again" in said_by(FULL, store._lake.url, small.sandbox.scan_url)
    assert set(store.load("updates").migration_id) == {0}
    store.sync(small)
    assert_whole(store, small)


def test_too_many_open_files_are_what_the_error_begins_with(parted):
    """A log without a checkpoint is read by opening all of its entries at once."""
    said = said_by(FEW_FILES, parted._lake.url)
    assert said.startswith("too many open files: raise ulimit -n")
    assert "fix the storage" not in said


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody can write, such as /proc")
def test_a_folder_that_cannot_be_written_is_said(net):
    with pytest.raises(lf.errors.StoreError, match="cannot be"):
        lf.open_store("/proc/lake").sync(net)


@contextlib.contextmanager
def closed_to_us(place: Path):
    """Take away the right to read a file, or to enter a folder."""
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        if os.access(place, os.R_OK):
            pytest.skip("whoever may read everything can read it")
        yield
    finally:
        place.chmod(mode)


@pytest.mark.parametrize("part", [".", "updates", "events", "_coverage"])
def test_a_folder_that_this_user_may_not_enter_is_neither_empty_nor_a_traceback(copied, part):
    place = copied._lake.folder / part
    with closed_to_us(place):
        for read in (lambda store: store.load("events"), lambda store: store.coverage(), lambda store: store.check()):
            with pytest.raises(lf.errors.StoreError, match="check its owner and permissions"):
                read(lf.open_store(copied._lake.url))


def test_a_file_that_this_user_may_not_read_is_not_called_damaged_and_repair_leaves_it(copied, small):
    place = data_files(copied, "events")[0]
    with closed_to_us(place):
        for read in (lambda: copied.load("events"), copied.check, copied.repair):
            with pytest.raises(lf.errors.StoreError, match="check its owner and permissions") as refused:
                read()
            assert "damaged" not in str(refused.value)
    assert_whole(copied, small)


def test_every_file_of_a_lake_has_the_rights_of_the_user_s_mask(parted):
    assert len({path.stat().st_mode for path in parted._lake.folder.rglob("*") if path.is_file()}) == 1


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "lake").write_text("")
    with pytest.raises(lf.errors.StoreError, match="is a file"):
        lf.open_store(tmp_path / "lake")


def test_a_second_sync_is_turned_away(store, small):
    with store._lake.writing(), pytest.raises(lf.errors.StoreError, match="another process writes to it"):
        store.sync(small)
    store.sync(small)
    assert_whole(store, small)
