"""A disk that is full, read-only or corrupt, two syncs at once, other versions: a clear error, nothing lost."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.store.lake import Lake
from tests.store.conftest import assert_whole, data_files

LIMITED = """
import resource, sys
import ledgerframes as lf
from ledgerframes.store import store
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    lf.open_store(sys.argv[1]).sync(lf.connect(scan_url=sys.argv[2]), progress=False)
except lf.errors.StoreError as error:
    print(error)
"""


def test_a_full_disk_is_said_and_the_next_sync_goes_on(store, net):
    """A limit on the size of files stands for the full disk."""
    store.sync(net, end=(1, "0001-01-01"))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, store._lake.url, net.sandbox.scan_url],
        check=True, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert "run sync again" in done.stdout
    assert set(store.load("updates").migration_id) == {0}
    store.sync(net)
    assert_whole(store, net)


FEW_FILES = """
import resource, sys
import ledgerframes as lf
store = lf.open_store(sys.argv[1])
store.load("updates")
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), 4096))
try:
    lf.open_store(sys.argv[1]).load("updates")
except lf.errors.StoreError as error:
    print(error)
"""


def test_too_many_open_files_are_what_the_error_begins_with(store, small):
    """A log without a checkpoint is read by opening all of its entries at once."""
    store.sync(small, progress=False, commit_bytes=1, page_size=12)
    done = subprocess.run(
        [sys.executable, "-c", FEW_FILES, store._lake.url, "14"],
        check=True, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert done.stdout.startswith("too many open files: raise ulimit -n")
    assert "fix the storage" not in done.stdout


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


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "lake").write_text("")
    with pytest.raises(lf.errors.StoreError, match="is a file"):
        lf.open_store(tmp_path / "lake")


def test_a_second_sync_is_turned_away(store, small):
    net = small
    with store._lake.writing(), pytest.raises(lf.errors.StoreError, match="another sync is running"):
        store.sync(net)
    store.sync(net)
    assert_whole(store, net)


@pytest.mark.long
def test_two_syncs_without_a_lock_lose_nothing_and_double_nothing(store, net, monkeypatch):
    """As on object storage, where nobody can be kept out: one of them is told."""
    monkeypatch.setattr(Lake, "_locked", contextlib.nullcontext)
    errors = []

    def run():
        try:
            lf.open_store(store._lake.url).sync(net, page_size=30, commit_bytes=30_000, progress=False)
        except lf.errors.StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.sync(net)
    assert_whole(store, net)
    assert errors


def test_an_older_store_without_a_column_is_read_and_extended(store, small):
    net = small
    store.sync(net, end=(1, "0001-01-01"))
    _rewrite(store, "updates", lambda table: table.drop_columns(["external_transaction_hash"]))
    assert store.load("updates").external_transaction_hash.isna().all()
    store.sync(net)
    found = store.load("updates")
    later = found[found.migration_id > 0].external_transaction_hash
    assert later.notna().any()
    assert len(found) == 240


def test_a_store_with_another_type_is_refused_with_what_to_do(store, small):
    net = small
    store.sync(net, end=(1, "0001-01-01"))
    _rewrite(store, "updates", lambda table: table.set_column(
        table.column_names.index("event_count"), "event_count", table["event_count"].cast(pa.string())
    ))  # fmt: skip
    with pytest.raises(lf.errors.StoreError, match=r"event_count.*new store"):
        store.sync(net)


def test_a_store_of_a_newer_version_with_a_further_column_goes_on(store, small):
    net = small
    store.sync(net, end=(1, "0001-01-01"))
    _rewrite(store, "updates", lambda table: table.append_column("later", pa.nulls(len(table), pa.string())))
    store.sync(net)
    assert_whole(store, net)


def _rewrite(store, name, change):
    """Write a table again with other columns, its coverage and properties kept."""
    table = store._lake.table(name).refresh()
    changed = change(table.handle.to_pyarrow_dataset().to_table())
    write_deltalake(DeltaTable(table.url), changed, mode="overwrite", schema_mode="overwrite")
