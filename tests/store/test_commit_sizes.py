"""Commits are small at first and grow in a long sync; a size that the caller names stays; partitions keep few files."""

import threading
from collections import Counter
from types import SimpleNamespace

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_document import Document
from ledgerframes.store.delta.commit_parts import parted
from ledgerframes.store.delta.data_files import NewFile
from ledgerframes.store.fetched import Fetched
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.committing import FIRST, LARGEST, STEP, CommitSize, Committer
from ledgerframes.store.sync.scheduling import ThreadScheduler


class Noting:
    """Tables that note how many bytes each commit has."""

    def __init__(self):
        self.sizes, self.written = [], 0

    def commit(self, pages):
        self.sizes.append(sum(page.bytes for page in pages))
        self.written += 1
        return Counter()


ROWS = pa.record_batch({name: pa.array([0] * 500_000, pa.int64()) for name in ("template_name", "choice")})  # 8 MB
PAGE = Fetched(0, Interval(0, 0, 1), 0, Interval(0, 0, 1), {"events": ROWS})


def committed(pages, size, clock=lambda: 0.0):
    tables = Noting()
    committer = Committer(tables, ThreadScheduler(), size, clock)
    for _ in range(pages):
        committer.add(PAGE)
    committer.finish()
    assert sum(tables.sizes) == pages * ROWS.nbytes
    return tables.sizes


def test_commits_grow_slowly_until_they_are_large():
    size = CommitSize()
    assert committed(106, size) == [FIRST, *[9 * ROWS.nbytes] * 10, 8 * ROWS.nbytes]  # whole pages
    assert size.bytes == FIRST + 11 * STEP
    for _ in range(1000):
        size.grow()
    assert size.bytes == LARGEST


def test_the_size_that_the_caller_names_stays():
    assert set(committed(100, CommitSize(2 * ROWS.nbytes))) == {2 * ROWS.nbytes}


def test_commits_by_the_minute_do_not_grow():
    times = iter(range(0, 10_000_000, 61))
    assert set(committed(20, CommitSize(), clock=lambda: next(times))) == {ROWS.nbytes}


def test_jobs_run_in_order_one_at_a_time_and_none_after_one_that_failed():
    commits, done = ThreadScheduler().background("commit"), []
    for last in (3, 2):
        for number in range(last):
            commits.put(lambda number=number: done.append(number))
        commits.wait()
    assert done == [0, 1, 2, 0, 1]
    begun, go = threading.Event(), threading.Event()
    commits.put(lambda: begun.set() or go.wait(20))
    assert begun.wait(20)
    waiting = threading.Thread(target=commits.put, args=(lambda: {}["disk"],), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    go.set()
    waiting.join(20)
    for call in (lambda: commits.put(lambda: done.append("never")), commits.wait):
        with pytest.raises(KeyError, match="disk"):
            call()
    assert done == [0, 1, 2, 0, 1]


class Endless(ThreadScheduler):
    """Its jobs end only when they are waited for."""

    def background(self, name):
        del name
        self.job = None
        return self

    def put(self, job):
        self.wait()
        self.job = job

    def wait(self):
        if self.job is not None:
            job, self.job = self.job, None
            job()


def test_beside_a_large_commit_no_more_is_collected_than_a_first_commit_has():
    scheduler = Endless()
    committer = Committer(Noting(), scheduler, CommitSize(), lambda: 0.0)
    beside = []
    for _ in range(130):
        committer.add(PAGE)
        beside.append(committer._bytes if scheduler.job is not None else 0)
    committer.finish()
    assert FIRST < committer.history.sizes[2] <= LARGEST
    assert FIRST / 2 < max(beside) <= FIRST


def test_rows_are_parted_in_their_order_and_those_of_one_partition_are_not_copied():
    names = ["migration_id", "record_month"]
    schema = pa.schema({"migration_id": pa.int64(), "record_month": pa.string(), "n": pa.int64()})
    batches = [
        pa.record_batch([[1, 1], ["2026-01", "2026-01"], [0, 1]], schema=schema),
        pa.record_batch([[1, 1, 1], ["2026-02", "2026-01", "2026-02"], [2, 3, 4]], schema=schema),
        pa.record_batch([[], [], []], schema=schema),
        pa.record_batch([[2], ["2026-02"], [5]], schema=schema),
    ]
    parts = [(values, part["n"].to_pylist(), part) for values, part in parted(pa.Table.from_batches(batches), names)]
    assert [(tuple(values.values()), rows) for values, rows, _ in parts] == [
        ((1, "2026-01"), [0, 1, 3]), ((1, "2026-02"), [2, 4]), ((2, "2026-02"), [5]),
    ]  # fmt: skip
    assert parts[0][2]["n"].chunk(0).buffers()[1].address == batches[0]["n"].buffers()[1].address
    assert list(parted(schema.empty_table(), names)) == []
    assert next(parted(pa.Table.from_batches(batches), []))[1].num_rows == 6


class Crowded:
    """A table with one partition, which counts its files and how often they were joined."""

    name = "events"

    def __init__(self, large, small):
        self.large, self.small, self.joined = large, small, 0

    def partition_files(self, *, small=False):
        return Counter({("1", "2026-01"): self.small + (0 if small else self.large)})

    def compact(self, partition):
        assert partition == [("migration_id", "=", "1"), ("record_month", "=", "2026-01")]
        self.joined += 1
        self.large, self.small = self.large + 1, 0

    def commit(self, tables):
        self.small += 1
        tables._compact_crowded(self, [NewFile("", 0, {"migration_id": "1", "record_month": "2026-01"}, "")])


@pytest.mark.parametrize(
    ("large", "small", "joined"), [(0, 0, 10), (60, 0, 47), (600, 0, 91), (600, 50, 91)],
    ids=["small files only", "many large ones", "large ones alone are too many", "and small ones from before"],
)  # fmt: skip
def test_small_files_are_joined_as_large_ones_leave_room_and_ten_at_least(large, small, joined):
    table = Crowded(large, small)
    tables = HistoryTables(SimpleNamespace(table=table, document=Document(), own=lambda _name: table))
    tables._count_files(table)
    for _ in range(1_000):
        table.commit(tables)
        assert table.small <= max(10, 100 - table.large)
    assert table.joined == pytest.approx(joined, abs=2)


@pytest.mark.long
def test_a_long_sync_of_tiny_commits_leaves_few_files_in_each_partition(store):
    with lf.sandbox(updates=2_600, migrations=1) as net:
        report = store.sync(net, page_size=20, commit_bytes=1, workers=1, progress=False)
        assert report.commits > 120
        for name in ("events", "reassignments", "updates"):
            counts = store._lake.table(name).refresh().partition_files()
            assert max(counts.values()) <= 100, counts
        assert len(store.load("updates")) == 2_600
        assert store.check()
