"""A sync sends as many requests at once as the network was connected with, unless it is told otherwise."""

import threading
from collections import Counter

import httpx
import pytest

import ledgerframes as lf
from tests.benchmarks.servers import bulk_scan


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
