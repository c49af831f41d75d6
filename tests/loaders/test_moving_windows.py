"""A scan prunes while it is read: that is said, and is neither a difference nor another network."""

import pytest

import ledgerframes as lf
from tests.asking import asking, forwarded
from tests.moving_window import MovingWindow, place
from tests.rigs.servers import simulated
from tests.transport.hostile_server import HostileServer

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")
UPDATES = 300


@pytest.fixture(scope="module")
def ledger():
    with simulated(seed=7, updates=UPDATES, page_maximum=50) as ledger:
        yield ledger


@pytest.fixture
def net(ledger):
    ledger.sandbox.prune()  # shows everything again
    return ledger


def moving(net, page, to):
    """A scan over a ledger whose window begins at an update from its nth page on."""
    return MovingWindow(net, lambda number: net.sandbox.prune(before=place(net, to)) if number == page else None)


@pytest.mark.parametrize(("turned", "page", "to"), [(False, 3, 90), (True, 6, UPDATES - 1), (True, 3, 90)])
def test_a_comparison_does_not_count_what_a_side_prunes_meanwhile(turned, page, to, net):
    with net.sandbox.replica() as whole, moving(net, page, to) as scan:
        sides = [lf.connect(scan_url=scan.scan_url), lf.connect(scan_url=whole.scan_url)]
        check = lf.cross_check(*(reversed(sides) if turned else sides))
        net.sandbox.prune()
        scan.pages = 0
        named = lf.cross_check(*sides, start="begin")

    assert (check.differing, check.agree) == (0, True)
    assert check.compared + check.pruned == UPDATES
    assert (f"{check.pruned:,} updates were pruned on one side" in str(check)) == (check.pruned > 0)
    assert (named.differing, named.agree) == (0, not named.pruned)  # not all of what was named is compared


@pytest.mark.parametrize("to", [90, UPDATES - 1])
def test_verify_does_not_count_what_the_network_prunes_meanwhile(to, net, store):
    store.sync(net)
    with moving(net, 5, to) as scan:
        check = store.verify(lf.connect(scan_url=scan.scan_url), sample=None)

    assert (check.differing, check.compared + check.pruned) == (0, UPDATES)
    assert check.pruned > 0


def test_what_a_side_still_shows_without_an_update_is_a_difference(net):
    with simulated(seed=7, updates=UPDATES, page_maximum=50) as lacking, moving(lacking, 3, 90) as scan:
        del lacking.sandbox.world.updates[200]
        check = lf.cross_check(lf.connect(scan_url=scan.scan_url), net)

    assert (check.differing, check.differences[0].what) == (1, "only in b")


def test_a_load_names_what_was_pruned_before_it_was_read(net):
    with (
        moving(net, 4, 200) as scan,
        pytest.raises(lf.errors.PartialResultError, match="pruned what follows") as refused,
    ):
        lf.load_updates(lf.connect(scan_url=scan.scan_url), start="begin", page_size=25)
    net.sandbox.prune()
    with moving(net, 4, 200) as scan:
        some = lf.load_updates(lf.connect(scan_url=scan.scan_url), start="begin", page_size=25, allow_partial=True)

    assert place(net, 200)[1] in str(refused.value)
    assert (some.attrs["complete"], 0 < len(some) < 200) == (False, True)


@pytest.mark.parametrize("page", [4, 8])
def test_a_load_whose_first_page_is_pruned_behind_it_is_complete(page, net):
    start, end = place(net, 10), place(net, 295)
    expected = lf.load_updates(net, start=start, end=end)
    with moving(net, page, 100) as scan:
        frame = lf.load_updates(lf.connect(scan_url=scan.scan_url), start=start, end=end, page_size=50)

    assert frame.attrs["complete"]
    assert list(frame.update_id) == list(expected.update_id)


@pytest.mark.parametrize("end", [175, 250], ids=["wholly", "partly"])
def test_a_range_of_times_that_is_pruned_before_its_first_page_is_refused(end, net):
    start, end = place(net, 50)[1], place(net, end)[1]
    with moving(net, 2, 200) as scan, pytest.raises(lf.errors.PartialResultError, match="pruned"):
        lf.load_updates(lf.connect(scan_url=scan.scan_url), start=start, end=end, page_size=50)


def test_a_load_does_not_end_where_another_scan_behind_the_address_goes_on_after_what_it_has_pruned(net):
    def reply(heard):
        # Which of the two scans answers is chance: here the one that has all of it only begins.
        begins = heard.json.get("after") is None and (heard.json["page_size"] == 1 or not answered)
        net.sandbox.prune(before=None if begins else place(net, 200))
        answered.append(heard)
        return forwarded(net.sandbox.url, heard)

    answered = []
    contradicted = pytest.raises(lf.errors.PagingError, match="shows later updates without those that it showed up to")
    with HostileServer(reply) as scan, contradicted:
        lf.load_updates(asking(scan), start="begin", page_size=25)
