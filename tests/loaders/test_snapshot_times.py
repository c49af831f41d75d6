"""The instants that scan has a snapshot for."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.replay import replay
from tests.rigs.servers import replica
from tests.transport.hostile_server import HostileServer, answer, text

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


def test_limit_gives_the_newest(net, every):
    assert pairs(lf.snapshot_times(net, limit=4)) == every[-4:]


def test_start_is_inclusive_and_end_exclusive(net, every):
    (first, start), (last, end) = every[3], every[-2]

    assert pairs(lf.snapshot_times(net, start=(first, start), end=(last, end))) == every[3:-2]
    within = [one for one in every if start <= one[1] < end]
    assert pairs(lf.snapshot_times(net, start=start, end=end)) == within


def test_a_range_without_a_snapshot_is_an_empty_frame_of_the_same_types(net, every):
    frame = lf.snapshot_times(net, end=(every[0][0], every[0][1]))

    assert len(frame) == 0
    assert str(frame.record_time.dtype) == "datetime64[us, UTC]"
    assert str(frame.migration_id.dtype) == "int64"


def test_each_snapshot_takes_one_request(net):
    before = net.stats.requests
    found = lf.snapshot_times(net, limit=5)
    migrations = len({update.migration_id for update in net.sandbox.world.updates})

    assert net.stats.requests - before == len(found) + migrations + 1


def test_a_lagging_scan_has_no_snapshot_beyond_what_it_shows(net, every):
    lag = 1_000
    newest = net.sandbox.world.updates[-1 - lag]
    with replica(net.sandbox, lag=lag) as server, lf.connect(scan_url=server.scan_url) as other:
        found = pairs(lf.snapshot_times(other))

    shown = [one for one in every if (one[0], one[1].value // 1_000) <= (newest.migration_id, newest.record_time)]
    assert 0 < len(found) < len(every)
    assert found == shown


def test_the_captured_answer_is_one_instant(captures):
    assert captures
    with replay("scan-updates-page", "scan-acs-snapshot-timestamp") as server, lf.connect(**server.urls) as real:
        found = real.scan.snapshot_time(before="2026-01-30T08:39:39Z", migration_id=4)

    assert found.record_time == "2026-01-30T06:00:00Z"
    assert server.seen[0].query == {"before": "2026-01-30T08:39:39.000000Z", "migration_id": "4"}


def page(*items):
    return answer({"transactions": [{**item("u", *place)} for place in items]})


def item(update_id, migration_id, record_time):
    return {
        "update_id": update_id, "migration_id": migration_id, "record_time": record_time, "workflow_id": "",
        "synchronizer_id": "s", "effective_at": record_time, "root_event_ids": [], "events_by_id": {},
    }  # fmt: skip


def scan(period, first, newest, *, inclusive=False):
    """A scan of one migration with a snapshot every so many seconds; `inclusive` counts one at the instant."""
    epoch = pd.Timestamp("1970-01-01", tz="UTC")

    def micros(moment):
        return (pd.Timestamp(moment) - epoch) // pd.Timedelta("1us")

    def reply(heard):
        if heard.method == "POST":
            return page() if "after" in json.loads(heard.body) else page((0, first))
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

    def reply(heard):
        if heard.method == "POST":
            return page() if "after" in json.loads(heard.body) else page((0, "2026-01-01T00:00:00.000000Z"))
        return told

    return HostileServer(reply)


def test_a_server_that_names_a_later_snapshot_is_a_paging_error():
    wrong = pytest.raises(lf.errors.PagingError, match="does not keep to the order")
    with telling(answer({"record_time": "2026-01-30T00:00:00Z"})) as server, asking(server) as net, wrong:
        lf.snapshot_times(net, end="2026-01-29")


@pytest.mark.parametrize("moment", ["soon", "", "2026-01-30"])
def test_what_is_no_time_is_a_decode_error(moment):
    wrong = pytest.raises(lf.errors.DecodeError, match="record_time")
    with telling(answer({"record_time": moment})) as server, asking(server) as net, wrong:
        lf.snapshot_times(net)


def test_a_scan_without_the_route_is_one_input_error():
    unknown = text("The requested resource could not be found.", 404)
    told = pytest.raises(lf.errors.InputError, match=r"GET /v0/state/acs/snapshot-timestamp.*0\.5\.5.*active_contracts")
    with telling(unknown) as server, asking(server) as net, told:
        lf.snapshot_times(net)
