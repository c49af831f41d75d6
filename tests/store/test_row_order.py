"""Files hold events by template within a slab of time, so that one template is read without the rest."""

import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.store.delta import data_files
from ledgerframes.store.delta.checked_rows import checked_rows
from ledgerframes.store.delta.data_files import FileWriter
from ledgerframes.tables.history import REASSIGNMENTS

READ = Path("/proc/self/io")  # the second word is what this process has read
RARE = "Splice.Round:OpenMiningRound"


@pytest.fixture(scope="module", autouse=True)
def small_slabs():
    """Row groups of 50 events, 10 of them to a slab."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(data_files, "SLAB", 500)
        patched.setattr(data_files, "_SORTED_GROUP", 50)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A lake of many small commits to one partition; to be copied."""
    store = lf.open_store(tmp_path_factory.mktemp("whole") / "lake")
    with lf.sandbox(seed=4, updates=400, migrations=1) as net:
        store.sync(net, commit_bytes=60_000, page_size=50, workers=1, progress=False)
    return store


@pytest.fixture
def lake(whole, tmp_path):
    return lf.open_store(shutil.copytree(whole._lake.folder, tmp_path / "lake"))


def groups_read(store, where):
    """How many row groups a filter leaves, of how many."""
    data = store._lake.table("events").refresh().dataset()
    every = [fragment.row_groups for fragment in data.get_fragments()]
    left = [fragment.subset(filter=where).row_groups for fragment in data.get_fragments()]
    return sum(map(len, left)), sum(map(len, every))


def test_row_groups_of_other_templates_are_not_read_before_and_after_files_are_joined(lake, tmp_path):
    rows = lake.load("events")
    for _ in range(2):
        left, every = groups_read(lake, ds.field("template_name") == RARE)
        assert 0 < left < every / 3
        pd.testing.assert_frame_equal(lake.load("events"), rows)
        lake.compact()
    assert len(lake._lake.table("events").refresh().files.listed) < 6
    for name in sorted(rows.template_name.unique())[::6]:
        wanted = rows[rows.template_name == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            lake.load("events", where={"template_name": name}), wanted, check_frame_type=False
        )
    lake.export(tmp_path / "out", tables=["events"], format="csv")
    assert pd.read_csv(tmp_path / "out" / "events.csv").event_id.tolist() == rows.event_id.tolist()


def test_a_short_range_is_read_without_the_rest_of_a_joined_file(lake):
    lake.compact()
    times = lake.load("events", columns=["record_time"]).record_time
    middle = times.iloc[len(times) // 2]
    left, every = groups_read(lake, (ds.field("record_time") >= middle) & (ds.field("record_time") <= middle))
    assert 0 < left <= 2 * data_files.SLAB // 50 < every


@pytest.mark.skipif(not READ.exists(), reason="only Linux counts what a process reads")
def test_rows_that_nobody_takes_are_not_decoded_nor_read_once_a_scan_is_left(tmp_path):
    """As by a LIMIT or Ctrl-C; without threads, Arrow would read all the rest first."""
    texts = pa.table({"text": [os.urandom(25).hex() for _ in range(1_280_000)]})
    pq.write_table(texts, tmp_path / "rows.parquet", row_group_size=data_files.ROWS_PER_GROUP)
    files = SimpleNamespace(local=True, filesystem=pa_fs.LocalFileSystem())
    read = int(READ.read_text().split()[1])
    rows = checked_rows(ds.dataset(tmp_path), files, texts.schema).scanner().to_reader()
    rows.read_next_batch()
    before, begun, most = pa.total_allocated_bytes(), time.thread_time(), 0
    while time.thread_time() - begun < 0.2:  # in which threads that decode ahead are done
        most = max(most, pa.total_allocated_bytes() - before)
    del rows
    assert most < texts.nbytes / 2
    assert int(READ.read_text().split()[1]) - read < texts.nbytes / 2


def test_a_file_has_no_extremes_of_a_column_with_a_text_too_long_for_those_of_a_row_group(tmp_path):
    """Those of the other row groups would hide its rows from filters."""
    rows = pa.table({"update_id": ["a"] * 20_000 + ["z" * 5_000], "contract_id": ["b"] * 20_000 + [None]})
    writer = FileWriter(REASSIGNMENTS, rows.schema)
    writer.write(rows)
    statistics = json.loads(writer.store(str(tmp_path), {}, {}).statistics)
    assert statistics["maxValues"] == {"contract_id": "b"}
    assert statistics["nullCount"] == {"update_id": 0, "contract_id": 1}
