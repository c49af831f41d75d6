"""A URL behind which another network answers from some request on: never mixed into one store or one load."""

import httpx
import pytest

import ledgerframes as lf
from tests.store.conftest import assert_whole
from tests.transport.hostile_server import HostileServer, Reply

PAGE = 40


class Switching:
    """Passes requests on to one network, and from some request for updates on to another one.

    Args:
        first: answers the first requests.
        other: answers the later ones.
        count: how many requests the first one answers.
    """

    def __init__(self, first, other, count):
        self.networks = (first, other)
        self.left = count

    def __call__(self, heard):
        network = self.networks[self.left <= 0]
        self.left -= heard.target.endswith("/v2/updates")
        found = httpx.request(
            heard.method, network.sandbox.url + heard.target, content=heard.body, trust_env=False, timeout=60,
            headers={"Content-Type": "application/json"},
        )  # fmt: skip
        return Reply(found.status_code, found.content)


@pytest.fixture(scope="module")
def networks():
    with lf.sandbox(seed=1, updates=300) as first, lf.sandbox(seed=2, updates=300) as other:
        yield first, other


def connected(server):
    return lf.connect(scan_url=f"{server.url}/api/scan")


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_url_that_becomes_another_network_is_not_mixed_into_the_first_sync(store, networks, count, workers):
    first, _ = networks
    with (
        HostileServer(Switching(*networks, count)) as server,
        pytest.raises(lf.errors.StoreError, match="not the network"),
    ):
        store.sync(connected(server), page_size=PAGE, workers=workers, commit_bytes=20_000)
    assert not len(store.load("updates", allow_partial=True)) or store.check()
    store.sync(first, page_size=PAGE)
    assert_whole(store, first)


def test_a_url_that_becomes_another_network_while_a_store_catches_up_is_refused(store, networks):
    first, _ = networks
    store.sync(first, end=(1, "0001-01-01"))
    with HostileServer(Switching(*networks, 3)) as server, pytest.raises(lf.errors.StoreError, match="not the network"):
        store.sync(connected(server), page_size=PAGE, workers=1)
    store.sync(first)
    assert_whole(store, first)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("start", ["begin", "2000-01-01"], ids=["from the beginning", "by time"])
@pytest.mark.parametrize("count", [2, 4])
def test_a_url_that_becomes_another_network_is_not_mixed_into_a_load(networks, count, start):
    with (
        HostileServer(Switching(*networks, count)) as server,
        pytest.raises(lf.errors.PagingError, match="another network answers there"),
    ):
        lf.load_history(connected(server), start=start, page_size=PAGE)
