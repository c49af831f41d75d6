"""Snapshots of scans of any release: their instants, the newest route first, tokens of theirs, long lists in parts."""

import json

import pandas as pd
import pytest

import ledgerframes as lf
from tests.asking import asking
from tests.loaders.snapshot_scan import created, history_of_one, paged, scan
from tests.transport.hostile_server import HostileServer, answer, text

CALLS = {
    "state/acs": lf.load_active_contracts,
    "holdings/state": lambda net, **options: lf.load_coins(net, ["o"], **options),
}
PARTIES = [f"party-{number}::1220" for number in range(2_500)]


TOKENS = {"v2": "after:{}".format, "v1": lambda number: number * 10, "v0": lambda number: number * 100}


def asked(server, version=""):
    """The tokens that were sent to the pages of a version."""
    heard = [one for one in server.heard if f"/{version}" in one.target and one.target.endswith(tuple(CALLS))]
    return [json.loads(one.body).get("after") for one in heard]


@pytest.mark.parametrize(("version", "path"), [*((one, "state/acs") for one in TOKENS), ("v1", "holdings/state")])
def test_each_release_is_read_on_its_route_which_is_remembered(version, path):
    with HostileServer(scan(paged(3, token=TOKENS[version]), routes=(f"/{version}/{path}",))) as server:
        with asking(server) as net:
            first = CALLS[path](net)
            before = len(server.heard)
            assert list(CALLS[path](net).contract_id) == list(first.contract_id) == ["000", "001", "002"]
        assert all(f"/{version}/{path}" in one.target for one in server.heard[before:] if one.target.endswith(path))
        own = [None, *(TOKENS[version](number) for number in (1, 2))]
        assert asked(server, version) == own * 2
        newer = list(TOKENS)[: list(TOKENS).index(version)]
        assert len(asked(server)) == len(own) * 2 + len(newer)


def changing(old, new):
    """A scan that serves one version up to its second page, and another one from then on."""
    pages = {version: paged(3, token=TOKENS[version]) for version in (old, new)}
    upgraded = []

    def reply(heard):
        after = json.loads(heard.body or b"{}").get("after")
        if f"/{old}/" in heard.target and after is not None and heard.target.endswith(tuple(CALLS)):
            upgraded.append(after)
        version = new if upgraded else old
        return scan(pages[version], routes=tuple(f"/{version}/{path}" for path in CALLS))(heard)

    return reply


@pytest.mark.parametrize(
    ("old", "new", "path"), [("v1", "v2", "state/acs"), ("v2", "v1", "state/acs"), ("v1", "v0", "holdings/state")]
)
def test_a_scan_that_serves_another_route_meanwhile_is_read_again_from_the_beginning(old, new, path):
    with HostileServer(changing(old, new)) as server, asking(server) as net:
        frame = CALLS[path](net)
        assert asked(server, new)[-3:] == [None, TOKENS[new](1), TOKENS[new](2)]
    assert list(frame.contract_id) == ["000", "001", "002"]
    assert frame.attrs["complete"]


def test_another_server_is_read_from_the_beginning_gets_no_token_and_may_serve_another_route():
    def failing(after):
        return text("busy", 503) if after else {"created_events": [created(7)], "next_page_token": "x"}

    first = HostileServer(scan(failing))
    second = HostileServer(scan(paged(3, token=TOKENS["v0"]), routes=("/v0/state/acs",)))
    with first, second:
        with asking(first, second, attempts=2) as net:
            frame = lf.load_active_contracts(net)
        assert list(frame.contract_id) == ["000", "001", "002"]
        assert frame.attrs["source"] == f"{second.url}/api/scan"
        assert asked(second, "v0") == [None, 100, 200]
        with asking(first, attempts=2) as net:
            with pytest.raises(lf.errors.ServerError):
                lf.load_active_contracts(net)
            part = lf.load_active_contracts(net, allow_partial=True)
    assert (list(part.contract_id), part.attrs["complete"]) == (["007"], False)


@pytest.mark.parametrize(("token", "version"), [({}, "v2"), ({"after": "3"}, "v2"), ({"after": 3}, "v1")], ids=str)
def test_a_call_sends_a_token_only_where_such_tokens_come_from(net, token, version):
    place = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4, **token}
    assert net.scan.preview.active_contracts(**place).url.endswith(f"/{version}/state/acs")
    assert net.scan.preview.coins(**place, owners=["o"]).url.endswith(f"/{version}/holdings/state")


def narrow():
    """A scan of contracts of parties, the newer ones of later parties.

    One contract has the stakeholders 5, 1,005 and 2,005; every other one has one.
    """

    def holders(number):
        return {PARTIES[five] for five in (5, 1_005, 2_005)} if number == 0 else {PARTIES[number * 7 % 2_500]}

    contracts = [
        created(number, signatories=sorted(holders(number)), created_at=f"2026-01-30T05:00:00.{number:06}Z")
        for number in range(30)
    ]

    def reply(heard):
        body = json.loads(heard.body or b"{}")
        wanted = set(body.get("party_ids", body.get("owner_party_ids", ())))
        mine = [one for one in contracts if wanted & set(one["signatories"])]
        return scan(lambda _: {"created_events": mine})(heard)

    return reply, contracts


@pytest.mark.parametrize(
    "load",
    [lambda net: lf.load_active_contracts(net, parties=PARTIES), lambda net: lf.load_coins(net, PARTIES)],
    ids=["active_contracts", "coins"],
)
def test_more_than_a_thousand_parties_take_several_requests_and_give_one_frame(load):
    reply, contracts = narrow()
    with HostileServer(reply) as server, asking(server) as net:
        frame = load(net)
        bodies = [json.loads(one.body) for one in server.heard if one.target.endswith(tuple(CALLS))]

    sent = [body.get("party_ids") or body["owner_party_ids"] for body in bodies]
    assert sent == [PARTIES[:1_000], PARTIES[1_000:2_000], PARTIES[2_000:]]
    assert {body["record_time"] for body in bodies} == {"2026-01-30T06:00:00.000000Z"}
    assert list(frame.contract_id) == [one["contract_id"] for one in contracts]
    assert (frame.attrs["complete"], frame.attrs["cursor"]) == (True, [4, "2026-01-30T06:00:00.000000Z"])


def test_templates_and_parties_are_asked_for_in_every_combination():
    templates = [f"package:Module:T{number}" for number in range(1_001)]
    reply, _ = narrow()
    with HostileServer(reply) as server, asking(server) as net:
        lf.load_active_contracts(net, parties=PARTIES, templates=templates, limit=3)
        bodies = [json.loads(one.body) for one in server.heard if one.target.endswith("/state/acs")]

    assert {(len(body["templates"]), len(body["party_ids"])) for body in bodies} == {
        (size, parties) for size in (1_000, 1) for parties in (1_000, 500)
    }


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


def periodic(period, first, newest, *, inclusive=False):
    """A scan of one migration with a snapshot every so many seconds; `inclusive` counts one at the instant."""
    epoch = pd.Timestamp("1970-01-01", tz="UTC")

    def micros(moment):
        return (pd.Timestamp(moment) - epoch) // pd.Timedelta("1us")

    def reply(heard):
        if heard.method == "POST":
            return history_of_one(heard, first, migration_id=0)
        before = heard.target.partition("before=")[2].partition("&")[0].replace("%3A", ":")
        top = min(micros(before) - (0 if inclusive else 1), micros(newest))
        step = period * 1_000_000
        found = top // step * step
        if found < micros(first):
            return answer({"error": "No snapshots found"}, 404)
        return answer({"record_time": (epoch + pd.Timedelta(found, "us")).isoformat().replace("+00:00", "Z")})

    return reply


@pytest.mark.parametrize("inclusive", [False, True], ids=["strictly before", "at or before"])
def test_both_meanings_of_before_give_the_same_instants(inclusive):
    served = periodic(10_800, "2026-01-30T01:00:00.000000Z", "2026-01-30T12:00:00Z", inclusive=inclusive)
    with HostileServer(served) as server, asking(server) as net:
        found = lf.snapshot_times(net).record_time
        until = lf.snapshot_times(net, end="2026-01-30T09:00Z").record_time

    assert list(found.dt.hour) == [3, 6, 9, 12]
    assert list(until.dt.hour) == [3, 6]


def test_more_than_a_hundred_are_not_asked_for_without_a_range(caplog):
    with HostileServer(periodic(10_800, "2026-01-01T00:00:00.000000Z", "2026-01-30T12:00:00Z")) as server:
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
