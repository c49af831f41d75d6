"""What a gateway or a slow server manages at a time is found out by each load, which tries more again later."""

import pytest

import ledgerframes as lf
from tests.asking import asking, forwarded
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
        size = heard.json.get("page_size", 0) if heard.body else 0
        sizes.append(size)
        return refusal if size > most else forwarded(net.sandbox.url, heard)

    return HostileServer(by)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("refusal", ["504", "413", "503"])
def test_a_page_that_is_too_much_is_halved_and_larger_ones_are_tried_rarely(behind, refusal):
    sizes = []
    with gateway(behind, GATEWAY[refusal], sizes) as server, asking(server) as net:
        assert len(lf.load_updates(net)) == 1500
        assert [size for size in sizes if size > MANAGED][:4] == [1000, 500, 250, 125]
        assert sum(size > MANAGED for size in sizes) <= 7  # then now and then one that is larger than what works


def test_a_time_out_halves_the_page_too(behind):
    sizes = []
    late = GATEWAY["no answer in time"]
    with gateway(behind, late, sizes, most=600) as server, asking(server, deadline=0.5) as net:
        assert len(lf.load_updates(net)) == 1500
    assert sizes[:2] == [1000, 500]
    assert sizes.count(1000) <= 2


def test_a_load_asks_for_whole_pages_again_once_a_fault_has_passed(behind):
    sizes = []

    def once(heard):
        sizes.append(heard.json.get("page_size", 0) if heard.body else 0)
        return GATEWAY["504"] if len(sizes) == 2 else forwarded(behind.sandbox.url, heard)

    with HostileServer(once) as server, asking(server) as net:
        assert len(lf.load_updates(net, start="begin", page_size=200)) == 1500
    assert sizes[1:6] == [200, 100, 100, 100, 100]
    assert {*sizes[6:-1]} == {200}
