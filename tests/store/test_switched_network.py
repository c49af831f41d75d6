"""Another network, from the beginning or from some request on: never mixed into one store or one load."""

import re
from dataclasses import replace
from itertools import product

import pytest

import ledgerframes as lf
from tests.asking import asking, forwarded
from tests.moving_window import place
from tests.rigs.servers import connected, replica
from tests.store.conftest import assert_whole
from tests.transport.hostile_server import HostileServer, Reply, answer

PAGE = 20
pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")


def switching(first, other, count):
    """A server of one network, and of another one from the first request after so many for updates."""
    left = [count]

    def by(heard):
        network = (first, other)[left[0] <= 0]
        left[0] -= heard.target.endswith("/v2/updates")
        return forwarded(network.sandbox.url, heard)

    return HostileServer(by)


@pytest.fixture(scope="module")
def networks():
    with lf.sandbox(seed=1, updates=150) as first, lf.sandbox(seed=2, updates=150) as other:
        yield first, other


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("stored", ["updates", "licenses", "verdicts"])
def test_another_network_is_refused_whatever_is_stored_and_asked_for(store, networks, stored):
    own, other = networks
    store.sync(own, tables=[stored])
    before = store.tables()[["table", "rows"]]
    both = lf.connect(scan_url=[own.sandbox.scan_url, other.sandbox.scan_url])
    refused = pytest.raises(lf.errors.StoreError, match=r"the store's .*with (update )?12|two networks")
    with connected(replica(other.sandbox, prune_before=place(other, 75))) as pruned:
        for net, table in [*product((other,), ("updates", "verdicts", "licenses", "instruments")), (pruned, "updates")]:
            with refused:
                store.sync(net, tables=[table])
    with refused:
        store.sync(both)
    assert store.tables()[["table", "rows"]].equals(before)

    with connected(replica(own.sandbox, prune_before=place(own, 1))) as begins_late:
        store.sync(begins_late, tables=["licenses"])
    store.sync(own, tables=["licenses", "updates"])
    assert store.load("licenses").loaded_at.nunique() == 2 + (stored == "licenses")
    assert_whole(store, own)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("held", "count", "workers"), [(False, 2, 1), (True, 3, 1), (False, 1, 4), (False, 6, 4)],
    ids=["a first sync", "one that catches up", "several workers", "later"],
)  # fmt: skip
def test_a_url_that_becomes_another_network_is_not_mixed_into_a_sync(store, networks, held, count, workers):
    first, _ = networks
    if held:
        store.sync(first, end=(1, "0001-01-01"))
    with (
        switching(*networks, count) as server,
        pytest.raises(lf.errors.StoreError, match="not the network"),
    ):
        store.sync(asking(server, attempts=2), page_size=PAGE, workers=workers, commit_bytes=10_000)
    assert not len(store.load("updates", allow_partial=True)) or store.check()
    store.sync(first, page_size=PAGE)
    assert_whole(store, first)


@pytest.mark.parametrize(("start", "count"), [("begin", 2), ("2000-01-01", 4)])
def test_a_url_that_becomes_another_network_is_not_mixed_into_a_load(networks, count, start):
    with (
        switching(*networks, count) as server,
        pytest.raises(lf.errors.PagingError, match="another network answers there"),
    ):
        lf.load_history(asking(server, attempts=2), start=start, page_size=PAGE)


@pytest.mark.parametrize("part", [{}, {"start": "2025-03-03T09:05"}, {"last": "1h"}], ids=["all", "range", "last"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_load_from_scans_of_two_networks_is_refused(networks, turned, part):
    left = [3]  # a scan that fails then leaves the rest to the other one

    def by(heard):
        left[0] -= heard.target.endswith("/v2/updates") and b"after" in heard.body
        return forwarded(networks[turned].sandbox.url, heard) if left[0] >= 0 else Reply(503)

    with (
        HostileServer(by) as server,
        asking(server, networks[not turned].sandbox, attempts=2) as both,
        pytest.raises(lf.errors.PagingError, match="belong to two networks"),
    ):
        lf.load_history(both, page_size=PAGE, **part)
    with asking(*(net.sandbox for net in networks)) as both, pytest.raises(lf.errors.PagingError, match="two networks"):
        lf.load_verdicts(both)


def test_objects_of_the_network_before_a_reset_are_not_mixed_with_pages_of_the_one_after_it(store, networks, caplog):
    before, after = networks
    old = {update.update_id for update in before.sandbox.world.updates}

    def by(heard):
        there = (before if "/bulk/" in heard.target else pruned).sandbox.url
        sent = forwarded(there, heard)
        return replace(sent, body=sent.body.replace(there.encode(), server.url.encode()))

    with connected(replica(after.sandbox, prune_before=place(after, 100))) as pruned, HostileServer(by) as server:
        store.sync(asking(server, attempts=2), source="objects")
    held = set(store.load("updates", allow_partial=True).update_id)
    assert held
    assert not held & old
    assert "its objects are of another network than its pages" in caplog.text


@pytest.mark.parametrize("failing", [0, 1], ids=["the older one", "the newer one"])
def test_of_two_scans_that_show_nothing_in_common_yet_one_that_fails_is_left_out(networks, store, failing):
    own = networks[0].sandbox
    lagging, pruned = replica(own, lag=80), connected(replica(own, prune_before=place(networks[0], 75)))

    def of(number, url):
        def by(heard):
            if number == failing and b'"after":' in heard.body and b'"page_size":50' in heard.body:
                return answer({"error": "broken"}, 500)
            reply = forwarded(url, heard)
            # The newer one names other synchronizers and no DSO in what both show.
            return reply if number == 0 else replace(reply, body=re.sub(rb"DSO::|::12", b"None::1", reply.body))

        return HostileServer(by)

    with lagging, pruned, of(0, lagging.url) as older, of(1, pruned.sandbox.url) as newer:
        net = lf.connect(scan_url=[f"{older.url}/api/scan", f"{newer.url}/api/scan"], attempts=2)
        assert store.sync(net, progress=False).rows["updates"] == (75, 70)[failing]
