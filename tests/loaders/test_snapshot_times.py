"""The instants that scan has a snapshot for."""

import pandas as pd
import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.loaders.snapshot_scan import history_of_one
from tests.transport.hostile_server import HostileServer, answer

SECOND = 1_000_000


@pytest.fixture(scope="module")
def every(net):
    """The instants as the simulated ledger has them."""
    migrations = sorted({update.migration_id for update in net.sandbox.world.updates})
    return [(one, pd.Timestamp(moment)) for one in migrations for moment in net.sandbox.snapshots(one)]


def pairs(frame):
    return list(frame.itertuples(index=False, name=None))


def test_they_are_those_of_the_ledger_in_order(net, every):
    frame = lf.snapshot_times(net)

    assert pairs(frame) == every
    assert str(frame.record_time.dtype) == "datetime64[us, UTC]"
    assert frame.attrs["source"] == net.sandbox.scan_url
    assert pairs(lf.snapshot_times(net, limit=4)) == every[-4:]
    nothing = lf.snapshot_times(net, end=every[0])
    assert (len(nothing), dict(nothing.dtypes)) == (0, dict(frame.dtypes))


def test_start_is_inclusive_and_end_exclusive(net, every):
    (first, start), (last, end) = every[3], every[-2]

    assert pairs(lf.snapshot_times(net, start=(first, start), end=(last, end))) == every[3:-2]
    within = [one for one in every if start <= one[1] < end]
    assert pairs(lf.snapshot_times(net, start=start, end=end)) == within


def scan(period, first, newest, *, inclusive=False):
    """A scan of one migration with a snapshot every so many seconds; `inclusive` counts one at the instant."""
    epoch = pd.Timestamp("1970-01-01", tz="UTC")

    def micros(moment):
        return (pd.Timestamp(moment) - epoch) // pd.Timedelta("1us")

    def reply(heard):
        if heard.method == "POST":
            return history_of_one(heard, first, migration_id=0)
        before = heard.target.partition("before=")[2].partition("&")[0].replace("%3A", ":")
        top = min(micros(before) - (0 if inclusive else 1), micros(newest))
        step = period * SECOND
        found = top // step * step
        if found < micros(first):
            return answer({"error": "No snapshots found"}, 404)
        return answer({"record_time": (epoch + pd.Timedelta(found, "us")).isoformat().replace("+00:00", "Z")})

    return reply


@pytest.mark.parametrize("inclusive", [False, True], ids=["strictly before", "at or before"])
def test_both_meanings_of_before_give_the_same_instants(inclusive):
    served = scan(10_800, "2026-01-30T01:00:00.000000Z", "2026-01-30T12:00:00Z", inclusive=inclusive)
    with HostileServer(served) as server, asking(server) as net:
        found = lf.snapshot_times(net).record_time
        until = lf.snapshot_times(net, end="2026-01-30T09:00Z").record_time

    assert list(found.dt.hour) == [3, 6, 9, 12]
    assert list(until.dt.hour) == [3, 6]


def test_more_than_a_hundred_are_not_asked_for_without_a_range(caplog):
    with HostileServer(scan(10_800, "2026-01-01T00:00:00.000000Z", "2026-01-30T12:00:00Z")) as server:
        with asking(server) as net, pytest.raises(lf.errors.InputError, match=r"about 237 snapshots.*start="):
            lf.snapshot_times(net)
        assert len(server.heard) == 4
        with asking(server) as net, caplog.at_level("INFO", "ledgerframes.loaders"):
            assert len(lf.snapshot_times(net, start="begin")) == 237
        assert "about 237 snapshots" in caplog.text
        with asking(server) as net:
            assert len(lf.snapshot_times(net, limit=3)) == 3


def telling(told):
    """A scan of a history of one update that tells this where a snapshot is asked for."""
    return HostileServer(lambda heard: history_of_one(heard, migration_id=0) if heard.method == "POST" else told)


def test_a_server_that_names_a_later_snapshot_is_a_paging_error():
    wrong = pytest.raises(lf.errors.PagingError, match="does not keep to the order")
    with telling(answer({"record_time": "2026-01-30T00:00:00Z"})) as server, asking(server) as net, wrong:
        lf.snapshot_times(net, end="2026-01-29")


@pytest.mark.parametrize("moment", ["soon", "", "2026-01-30"])
def test_what_is_no_time_is_a_decode_error(moment):
    wrong = pytest.raises(lf.errors.DecodeError, match="record_time")
    with telling(answer({"record_time": moment})) as server, asking(server) as net, wrong:
        lf.snapshot_times(net)
