"""How many requests a sync sends at once is what the network was connected with, unless it is told otherwise."""

import threading

import httpx
import pytest

import ledgerframes as lf


class Noting(httpx.HTTPTransport):
    """Sends, and notes the threads that ask."""

    def __init__(self):
        super().__init__()
        self.threads = set()

    def handle_request(self, request):
        self.threads.add(threading.current_thread().name)
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
    assert len({name for name in noting.threads if name.startswith("ledgerframes-fetch-")}) == many
