"""A sync sends as many requests at once as the network was connected with, workers share, and commits run in order."""

import threading
from collections import Counter
from types import SimpleNamespace

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.store.coverage import Interval
from ledgerframes.store.history_tables import Fetched
from ledgerframes.store.sync.committing import CommitSize, Committer
from ledgerframes.store.sync.scheduling import ThreadScheduler
from ledgerframes.threads import ended, spawn
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


class Blocking:
    """Tables whose commit waits for a go, and fails."""

    def __init__(self):
        self.begun, self.go, self.commits = threading.Event(), threading.Event(), 0

    def commit(self, _pages):
        self.commits += 1
        self.begun.set()
        assert self.go.wait(20)
        raise KeyError("disk")


def test_commits_run_one_at_a_time_and_none_after_one_that_failed():
    tables, page = Blocking(), Fetched(0, Interval(0, 0, 1), 0, Interval(0, 0, 1))
    takes_all = SimpleNamespace(history=tables, judged=lambda page: page, confirm=list)
    committer = Committer(takes_all, ThreadScheduler(), CommitSize(0))
    committer.add(page)
    assert tables.begun.wait(20)
    waiting = spawn(lambda: committer.add(page), "waiting")
    assert not ended(waiting, 0.05)
    tables.go.set()
    assert ended(waiting, 20)
    for call in (waiting.result, committer.finish, lambda: committer.add(page)):
        with pytest.raises(KeyError, match="disk"):
            call()
    assert tables.commits == 1
