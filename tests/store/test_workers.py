"""A sync sends as many requests at once as the network was connected with, workers share, and commits run in order."""

import threading
from collections import Counter

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.store.sync.scheduling import ThreadScheduler
from tests.benchmarks.servers import bulk_scan

PAGE = 1_000_000  # microseconds that a page spans


class Noting(httpx.HTTPTransport):
    """Sends, and counts the requests of each worker."""

    def __init__(self):
        super().__init__()
        self.sent = Counter()

    def handle_request(self, request):
        name = threading.current_thread().name
        self.sent[name] += name.startswith("ledgerframes-fetch-")
        return super().handle_request(request)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("parallel", "workers", "many"), [(1, None, 1), (6, None, 6), (6, 2, 2)])
def test_a_sync_sends_as_many_requests_at_once_as_the_network_allows(parallel, workers, many, store):
    noting = Noting()
    with (
        lf.sandbox(updates=400, latency=0.01) as sandbox,
        lf.connect(scan_url=sandbox.sandbox.scan_url, parallel=parallel, transport=noting) as net,
    ):
        store.sync(net, page_size=10, workers=workers, progress=False)
    assert len(+noting.sent) == many


def test_workers_share_what_is_dense_in_a_few_places(store):
    """The history is two days of a few busy hours, so most parts of equal length are empty."""
    noting = Noting()
    with bulk_scan(2_500, latency=0.01) as url, lf.connect(scan_url=url, transport=noting) as net:
        store.sync(net, page_size=10, workers=4, progress=False)
    assert max(noting.sent.values()) < 1.4 * noting.sent.total() / 4


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
