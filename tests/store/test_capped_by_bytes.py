"""A server whose pages end at a number of bytes, after a single item: an error, never the end of the history."""

import json
from itertools import groupby

import httpx
import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN, assert_whole
from tests.transport.hostile_server import HostileServer, Reply


class CappedByBytes:
    """Passes requests on, and cuts pages of updates after a number of bytes; one item is always sent.

    Args:
        network: answers the requests.
        most: bytes of a page.
    """

    def __init__(self, network, most):
        self.network, self.most, self.cut = network, most, 0

    def __call__(self, heard):
        answer = httpx.request(
            heard.method, self.network.sandbox.url + heard.target, content=heard.body, trust_env=False, timeout=60,
            headers={"Content-Type": "application/json"},
        )  # fmt: skip
        if not heard.target.endswith("/v2/updates") or answer.status_code != 200:
            return Reply(answer.status_code, answer.content)
        page = answer.json()
        items, size = [], 0
        for item in page["transactions"]:
            size += len(json.dumps(item))
            if items and size > self.most:
                break
            items.append(item)
        self.cut += len(items) < len(page["transactions"])
        return Reply(
            200, json.dumps({**page, "transactions": items}, separators=(",", ":"), ensure_ascii=False).encode()
        )


@pytest.fixture(scope="module")
def network():
    """No two updates at one record time, so that a page of one item cuts no tie."""
    with lf.sandbox(seed=3, updates=120) as net:
        updates = net.sandbox.world.updates
        updates[:] = [next(tied) for _, tied in groupby(list(updates), key=lambda u: (u.migration_id, u.record_time))]
        yield net


@pytest.mark.long
def test_a_page_of_one_item_is_never_taken_for_the_end(store, network):
    """Whether more updates share its record time cannot be known, so it is an error and not the end."""
    capped = CappedByBytes(network, 1)
    with HostileServer(capped) as server:
        net = lf.connect(scan_url=f"{server.url}/api/scan")
        for read in (lambda: lf.load_updates(net, start=BEGIN), lambda: store.sync(net, workers=1)):
            with pytest.raises(lf.errors.PagingError, match="caps them by items or bytes"):
                read()
    assert capped.cut
    store.sync(network)
    assert_whole(store, network)
