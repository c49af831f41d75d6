"""What a gateway or a slow server manages at a time is found out, kept, and tried again with more later."""

import msgspec
import pytest

import ledgerframes as lf
from tests.asking import forwarded
from tests.clocks import SkippingClock
from tests.transport.hostile_server import HostileServer, Reply, answer, text

MANAGED = 100
GATEWAY = {
    "504": text("upstream request timeout", 504),
    "413": text("too large", 413),
    "503": answer({"error": "busy"}, 503),
    "no answer in time": Reply(drip=60.0, drip_head=True),
}


@pytest.fixture(scope="module")
def behind():
    """The ledger that the gateway stands before."""
    with lf.sandbox(seed=7, updates=1500, migrations=1) as net:
        yield net


def gateway(net, refusal, sizes, most=MANAGED):
    """Passes on what asks for few enough items, and keeps the sizes that were asked for."""

    def by(heard):
        size = msgspec.json.decode(heard.body).get("page_size", 0) if heard.body else 0
        sizes.append(size)
        return refusal if size > most else forwarded(net.sandbox.url, heard)

    return HostileServer(by)


def through(server, **options):
    return lf.types.Network(
        lf.connect(server.url + "/api/scan", **options).settings, clock=SkippingClock()
    )  # waits take no time


@pytest.mark.parametrize("refusal", ["504", "413", "503"])
def test_a_page_that_is_too_much_is_halved_and_the_size_that_worked_is_kept(behind, refusal):
    sizes = []
    with gateway(behind, GATEWAY[refusal], sizes) as server, through(server) as net:
        assert len(lf.load_updates(net)) == 1500
        first = sum(size > MANAGED for size in sizes)
        assert first <= 7  # 1000, 500, 250, 125, then now and then one that is larger than what works
        lf.load_updates(net)
        assert sum(size > MANAGED for size in sizes) - first <= 2  # another load begins with what worked


def test_a_time_out_halves_the_page_too(behind):
    sizes = []
    late = GATEWAY["no answer in time"]
    with gateway(behind, late, sizes, most=600) as server, through(server, deadline=0.5) as net:
        assert len(lf.load_updates(net)) == 1500
    assert sizes[:2] == [1000, 500]
    assert sizes.count(1000) <= 2


def test_a_server_is_asked_for_more_again_after_an_hour(behind):
    sizes = []
    with gateway(behind, GATEWAY["504"], sizes) as server, through(server) as net:
        lf.load_updates(net, limit=200)
        server.script = gateway(behind, GATEWAY["504"], sizes, most=1000).script
        before = len(sizes)
        lf.load_updates(net)
        assert max(sizes[before:]) < 1000  # what worked is kept for an hour
        net.transport.clock.sleep(3600)
        before = len(sizes)
        lf.load_updates(net)
        assert max(sizes[before:]) == 1000


def test_a_sync_learns_once_what_its_server_manages(behind, tmp_path):
    sizes = []
    with gateway(behind, GATEWAY["504"], sizes) as server, through(server) as net:
        store = lf.open_store(tmp_path / "lake")
        assert store.sync(net, progress=False).complete
        assert store.load("updates").shape[0] == 1500
        before = sum(size > MANAGED for size in sizes)
        store.sync(net, progress=False)
        assert sum(size > MANAGED for size in sizes) - before <= 2
