"""Commits are small at first and grow in a long sync; partitions keep few files; old states are forgotten if asked."""

import secrets
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.paging.cursor import Window
from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta import stored_files, table
from ledgerframes.store.history_tables import Fetched
from ledgerframes.store.read.reading import Part
from ledgerframes.store.sync.committing import FIRST, LARGEST, STEP, CommitSize, Committer
from ledgerframes.store.sync.scheduling import ThreadScheduler
from tests.store.conftest import assert_whole

ROWS = pa.record_batch({name: pa.array([0] * 500_000, pa.int64()) for name in ("template_name", "choice")})  # 8 MB
PAGE = Fetched(0, Interval(0, 0, 1), 0, Interval(0, 0, 1), {"events": ROWS})


class Noting:
    """Tables that note how many bytes each commit has."""

    def __init__(self):
        self.sizes, self.written = [], 0

    def commit(self, pages):
        self.sizes.append(sum(page.bytes for page in pages))
        self.written += 1
        return {}


def committed(pages, size, seconds=0):
    """The sizes of the commits of pages that arrive so many seconds after each other."""
    tables, times = Noting(), iter(range(0, 10**9, seconds) if seconds else [0] * 10**4)
    takes_all = SimpleNamespace(history=tables, judged=lambda page: page, confirm=list)
    committer = Committer(takes_all, ThreadScheduler(), size, lambda: next(times))
    for _ in range(pages):
        committer.add(PAGE)
    committer.finish()
    assert sum(tables.sizes) == pages * ROWS.nbytes
    return tables.sizes


def test_commits_grow_slowly_until_they_are_large_and_those_by_the_minute_do_not():
    size = CommitSize()
    assert committed(106, size) == [FIRST, *[9 * ROWS.nbytes] * 10, 8 * ROWS.nbytes]  # whole pages
    assert size.bytes == FIRST + 11 * STEP
    for _ in range(1000):
        size.grow()
    assert size.bytes == LARGEST
    assert set(committed(100, CommitSize(2 * ROWS.nbytes))) == {2 * ROWS.nbytes}
    assert set(committed(20, CommitSize(), seconds=61)) == {ROWS.nbytes}


def test_a_long_sync_of_tiny_commits_leaves_few_files_in_each_partition(store, monkeypatch):
    monkeypatch.setattr(table, "_FILES", 6)
    monkeypatch.setattr(table, "_WORTH_JOINING", 2)
    monkeypatch.setattr(stored_files, "_TARGET", 30_000)  # joined files are large ones
    with lf.sandbox(updates=280, migrations=1) as net:
        report = store.sync(net, page_size=20, commit_bytes=1, workers=1, progress=False)
    assert report.commits >= 14
    for name in ("events", "reassignments", "updates"):
        own = store._lake.table(name).refresh()
        [small], [files] = own.partition_files(small=True).values(), own.partition_files().values()
        assert small <= max(2, 6 - (files - small)), name
    assert len(store.load("updates")) == 280
    assert store.check()


def test_files_are_joined_only_once_there_are_enough_small_ones(store, monkeypatch):
    monkeypatch.setattr(table, "_FILES", 4)
    monkeypatch.setattr(table, "_WORTH_JOINING", 2)
    monkeypatch.setattr(stored_files, "_TARGET", 30_000)
    own = store._lake.table("rejects")
    own.create()
    for size in (*[40_000] * 5, *[10] * 6):
        item = dict.fromkeys(own.table.names, "") | {"raw": secrets.token_hex(size)}
        own.append([pa.RecordBatch.from_pylist([item], own.table.schema)])
        own.compact_crowded()
    [small], [files] = own.partition_files(small=True).values(), own.partition_files().values()
    assert (small, files) == (2, 7)
    assert own.version == 11 + 2  # what was appended, and joined twice


def log_files(store, name):
    return sorted((store._lake.folder / name / "_delta_log").glob("*.json"))


def test_forgetting_shortens_the_log_and_keeps_the_newest_state(store, monkeypatch):
    monkeypatch.setattr(table, "_FILES", 2)
    monkeypatch.setattr(table, "_WORTH_JOINING", 2)
    with lf.sandbox(updates=100) as net:
        for _ in range(4):
            net.sandbox.advance(updates=20)
            store.sync(net)
        assert store._lake.root().own("syncs").size()["files"] == 2
        before = {name: len(log_files(store, name)) for name in ("events", "updates", "syncs")}
        first, document = store.syncs().sync_id[0], sorted((store._lake.folder / "_coverage").glob("*.json"))[0]
        (reader := store._lake.existing()).shown("events")
        store.compact(forget_before=store.syncs().finished_at.iloc[-2])
        assert not document.exists()
        assert [len(store.load("updates", as_of=kept)) for kept in store.syncs().sync_id] == [160, 180]
        store.compact(forget_before=pd.Timestamp.now("UTC"))
        for name, count in before.items():
            assert len(log_files(store, name)) < count
        assert_whole(store, net)
        with pytest.raises(lf.errors.StoreError, match="forgotten"):
            store.load("updates", as_of=first)
        with pytest.raises(lf.errors.StoreError, match="read again"):  # who was reading what is forgotten
            Part.of(reader, "events", Window(), allow_partial=False).load(["update_id"])
        net.sandbox.advance(updates=20)
        store.sync(net)
        assert_whole(store, net)
    assert store.check(full=True).findings == ()
