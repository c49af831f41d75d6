"""Holdings summaries of a sandbox, and of servers as they are: no fees, or of the round open now; moving snapshots."""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import SnapshotWarning
from tests.asking import asking, asking_one, forwarded
from tests.transport.hostile_server import HostileServer, answer, text

FEES = [
    "accumulated_holding_fees_unlocked", "accumulated_holding_fees_locked", "accumulated_holding_fees_total",
    "total_available_coin",
]  # fmt: skip
HELD = ["total_unlocked_coin", "total_locked_coin", "total_coin_holdings"]
PARTIES = ["alice::12", "bob::12", "carol::12", "dave::12"]
DAY = "2026-01-30T"


@dataclass
class Holdings:
    """A server of holdings summaries: every party but dave holds a coin for each hour of the snapshot.

    Attributes:
        snapshots: their times.
        moving: a further snapshot appears after each answer.
        stray: the place of the snapshot that it gives, whatever was asked …
        strays_from: … from this answer on, from 1.
        echoes: repeats the time asked for, as the contract has it, instead of the snapshot's own.
        other: the migration that it gives, whatever was asked.
        fees: serves fees, of round 500 where no round is asked for.
        most: parties in one request.
    """

    snapshots: list = field(default_factory=lambda: [f"{DAY}0{hour}:00:00Z" for hour in (1, 2, 3)])
    moving: bool = False
    stray: int | None = None
    strays_from: int = 1
    other: int | None = None
    echoes: bool = False
    fees: bool = True
    most: int = 10
    asked: list = field(default_factory=list)
    answers: int = 0

    def answer(self, heard):
        body = heard.json
        self.asked.append(body)
        if len(body["owner_party_ids"]) > self.most:
            return answer({"error": "exceeded the limit"}, 400)
        exact = body.get("record_time_match") != "at_or_before"
        times = [pd.Timestamp(one) for one in self.snapshots]
        wanted = pd.Timestamp(body["record_time"])
        there = [one for one in times if (one == wanted if exact else one <= wanted)]
        if not there:
            return answer({"error": "no snapshot"}, 404)
        self.answers += 1
        found = there[-1] if self.stray is None or self.answers < self.strays_from else times[self.stray]
        if self.moving:
            self.snapshots.append((times[-1] + pd.Timedelta("1h")).isoformat())
        told = {
            "record_time": body["record_time"] if self.echoes else found.isoformat().replace("+00:00", "Z"),
            "migration_id": self.other or body["migration_id"],
            "summaries": [self.summary(one, found.hour, body) for one in body["owner_party_ids"] if one[0] != "d"],
        }
        if self.fees:
            told["computed_as_of_round"] = body.get("as_of_round") or 500
        return answer(told)

    def summary(self, party, coins, body):
        held = {"total_unlocked_coin": f"{coins}.0", "total_locked_coin": "0.0", "total_coin_holdings": f"{coins}.0"}
        fee = Decimal(body.get("as_of_round") or 500) / 1000
        fees = dict(zip(FEES, [str(fee), "0.0", str(fee), str(coins - fee)], strict=True)) if self.fees else {}
        return {"party_id": party, **held, **fees}


@contextmanager
def serving(**changes):
    """A network whose validator is such a server, and the server."""
    server = Holdings(**changes)
    with (
        HostileServer(server.answer) as served,
        lf.connect(validator_url=served.url, token="t0ken", decimals="exact") as net,
    ):
        yield net, server


def load(net, parties=PARTIES, record_time=f"{DAY}03:30:00Z", **options):
    return lf.load_holdings_summary(net, parties, record_time=record_time, migration_id=4, **options)


def test_all_parts_of_a_split_list_are_of_the_first_ones_snapshot():
    with serving(most=1, moving=True) as (net, server):
        found = load(net, PARTIES[:3], record_time=f"{DAY}23:00:00Z")

    assert found.total_coin_holdings.tolist() == [Decimal(3)] * 3
    assert set(found.record_time) == {pd.Timestamp(f"{DAY}03:00:00Z")}
    assert server.asked[-1]["record_time"][:19] == f"{DAY}03:00:00"
    assert server.asked[-1].get("record_time_match") != "at_or_before"


def test_an_unknown_party_is_said_not_to_be_found():
    with serving() as (net, _):
        found = load(net)
        zeros, left = load(net, missing="zero"), load(net, missing="drop")

    assert found.found.tolist() == zeros.found.tolist() == [True, True, True, False]
    assert found.columns.tolist().index("found") == found.columns.tolist().index("party_id") + 1
    assert found[HELD + FEES].iloc[3].isna().all()
    assert zeros[HELD + FEES].iloc[3].tolist() == [Decimal(0)] * 7
    assert {str(value) for value in zeros[HELD + FEES].iloc[3]} == {"0"}
    assert str(found.total_locked_coin[0]) == "0"
    assert left.party_id.tolist() == PARTIES[:3]
    with serving(fees=False) as (net, _):  # a fee that the server does not state is no zero
        found = load(net, missing="zero")
    assert found[HELD].iloc[3].tolist() == [Decimal(0)] * 3
    assert found[[*FEES, "computed_as_of_round"]].isna().all(axis=None)


def test_parts_of_different_snapshots_are_an_error_and_parties_that_no_answer_came_for_not_called_unknown():
    exact = {"match": "exact", "record_time": f"{DAY}03:00:00Z", "missing": "zero"}
    straying = {"most": 2, "stray": 0, "strays_from": 2}
    with serving(**straying) as (net, _), pytest.raises(lf.errors.DecodeError, match="different snapshots"):
        load(net, **exact)
    with serving(**straying) as (net, _):
        found = load(net, **exact, allow_partial=True)

    assert found.attrs["complete"] is False
    assert found.found.tolist() == [True, True, pd.NA, pd.NA]
    assert found.total_coin_holdings.isna().tolist() == [False, False, True, True]


def test_the_snapshots_own_time_is_shown_where_the_server_states_it_and_an_exact_one_needs_its_instant():
    with serving() as (net, _):
        stated, exact = load(net), load(net, match="exact", record_time=f"{DAY}03:00:00Z")
        with pytest.raises(lf.errors.NotFoundError):
            load(net, match="exact", record_time=f"{DAY}03:00:00.000001Z")
    with serving(echoes=True) as (net, _):
        echoed = load(net)

    assert set(stated.record_time) == {pd.Timestamp(f"{DAY}03:00:00Z")}
    assert stated.attrs["snapshot_time"] == exact.attrs["snapshot_time"] == "the snapshot's own"
    assert set(echoed.record_time) == {pd.Timestamp(f"{DAY}03:30:00Z")}
    assert "as asked; the server does not say how old" in echoed.attrs["snapshot_time"]


def test_a_snapshot_months_older_than_asked_is_a_warning():
    with serving() as (net, _):
        with pytest.warns(SnapshotWarning, match="up to 2026-04-01.* is from 2026-01-30T03.* 60 days before"):
            load(net, record_time="2026-04-01")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load(net, record_time="2026-02-10")


@pytest.mark.parametrize("match", ["exact", "at_or_before"])
def test_an_answer_of_a_later_snapshot_than_asked_is_an_error(match):
    with (
        serving(stray=-1) as (net, _),
        pytest.raises(lf.errors.DecodeError, match=r"answer is from 2026-01-30T03.*01:00"),
    ):
        load(net, record_time=f"{DAY}01:00:00Z", match=match)


def test_an_answer_of_another_migration_or_of_a_party_twice_is_an_error_and_too_many_coins_name_the_way():
    with serving(other=3) as (net, _), pytest.raises(lf.errors.DecodeError, match="of migration 3, asked was 4"):
        load(net)
    answered = Holdings(fees=False).answer
    twice = HostileServer(lambda heard: answered(replace(heard, body=heard.body.replace(b"carol", b"alice"))))
    with twice as server, asking_one(server.url) as net, pytest.raises(lf.errors.DecodeError, match=r"alice.* twice"):
        load(net)
    with serving(most=0) as (net, _), pytest.raises(lf.errors.StatusError, match=r"alice::12 alone .*lf\.load_coins"):
        load(net)


TIMES = [f"{DAY}01:00:00Z", f"{DAY}02:00:00Z"]


def test_the_fees_of_several_snapshots_are_not_those_of_now():
    with serving() as (net, _), pytest.warns(SnapshotWarning, match=r"fees of 2 snapshots are left out.*as_of_round="):
        found = load(net, PARTIES[:2], record_time=[*TIMES, TIMES[0]])

    assert found[HELD].notna().all(axis=None)
    assert found[[*FEES, "computed_as_of_round"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("rounds", "times", "wanted"),
    [
        ([7, 9], TIMES, [7, 9]),
        (pd.Series([7, 9]), TIMES, [7, 9]),
        ([3, 4], TIMES[0], [3, 4]),
        (3, TIMES, [3, 3]),
    ],
    ids=["list", "column", "one snapshot", "one round"],
)
def test_snapshots_and_rounds_are_paired_as_they_are_given(rounds, times, wanted):
    with serving() as (net, server):
        found = load(net, PARTIES[:1], as_of_round=rounds, record_time=times)

    assert found.computed_as_of_round.tolist() == wanted
    assert found.accumulated_holding_fees_total.tolist() == [Decimal(one) / 1000 for one in wanted]
    assert [one["as_of_round"] for one in server.asked] == wanted
    assert {*found.record_time} == {pd.Timestamp(one) for one in (TIMES[:1] if times == TIMES[0] else TIMES)}


@pytest.fixture(scope="module")
def owners(net):
    coins = lf.load_active_contracts(net, templates=["splice-amulet:Splice.Amulet:Amulet"])
    return sorted({signatories[-1] for signatories in coins.signatories})


@pytest.mark.parametrize("release", ["contract", "0.5"])
def test_scan_gives_the_validators_rows_without_a_token(net, owners, release):
    place = {"record_time": "9999-01-01", "migration_id": net.sandbox.world.updates[-1].migration_id}
    with net.sandbox.replica(release=release) as server, lf.connect(scan_url=server.scan_url) as alone:
        found = lf.load_holdings_summary(alone, [*owners, "nobody::1220"], **place)
    wanted = lf.load_holdings_summary(net, [*owners, "nobody::1220"], **place)

    pd.testing.assert_frame_equal(found, wanted)
    assert found.attrs["source"] == server.scan_url
    assert wanted.attrs["source"] == net.sandbox.validator_url


def test_a_scan_without_the_routes_is_one_input_error():
    with HostileServer([text("The requested resource could not be found.", 404)]) as server:
        wrong = pytest.raises(lf.errors.InputError, match=r"POST /v0/holdings/summary nor POST /v1.*validator_url=")
        with asking(server) as net, wrong:
            lf.load_holdings_summary(net, ["a::1220"], record_time="2026-01-30", migration_id=4)


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.SnapshotWarning")  # of fees
def test_a_time_has_the_snapshot_of_the_newest_migration_that_has_one(net, owners):
    updates = lf.load_updates(net, columns=["migration_id", "record_time"], progress=False)
    times = updates.groupby("migration_id").record_time.nth(100)

    found = lf.load_holdings_summary(net, owners[:2], record_time=times.tolist(), columns=["party_id", "migration_id"])

    assert found.migration_id.tolist() == [0, 0, 1, 1, 2, 2]
    begun = updates[updates.migration_id == 1].record_time.min()
    (first,) = lf.load_holdings_summary(net, owners[:1], record_time=begun).migration_id
    assert first == 0
    early = updates.record_time.min() - pd.Timedelta("1D")
    with pytest.raises(lf.errors.NotFoundError, match=r"no snapshot of migration 0 at or before .*lf\.snapshot_times"):
        lf.load_holdings_summary(net, owners, record_time=early)


def test_a_snapshot_that_goes_between_a_thousand_parties_and_the_next_is_not_replaced_by_an_earlier_migrations(net):
    summaries = []

    def once(heard):
        if heard.path.endswith("/holdings/summary"):
            summaries.append(len(heard.json["owner_party_ids"]))
        return answer({"error": "no snapshot"}, 404) if len(summaries) > 1 else forwarded(net.sandbox.url, heard)

    parties = [f"party-{number}::12" for number in range(1_001)]
    gone = pytest.raises(lf.errors.NotFoundError)
    with HostileServer(once) as server, lf.connect(scan_url=f"{server.url}/api/scan") as alone, gone:
        lf.load_holdings_summary(alone, parties)
    assert summaries == [1_000, 1]
