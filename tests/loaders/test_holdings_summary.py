"""Holdings summaries of servers as they really are: fees of the round open now, or none; snapshots that move."""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.loaders.holdings import SnapshotWarning
from tests.transport.hostile_server import HostileServer, answer

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
        strays: gives the earliest snapshot from the second answer on, whatever was asked.
        late: gives the newest, whatever was asked.
        echoes: repeats the time asked for, as the contract has it, instead of the snapshot's own.
        fees: serves fees, of `open_now` where no round is asked for.
        most: parties in one request.
    """

    snapshots: list = field(default_factory=lambda: [f"{DAY}0{hour}:00:00Z" for hour in (1, 2, 3)])
    moving: bool = False
    strays: bool = False
    late: bool = False
    echoes: bool = False
    fees: bool = True
    open_now: int = 500
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
        found = times[-1] if self.late else times[0] if self.strays and self.answers > 1 else there[-1]
        if self.moving:
            self.snapshots.append((times[-1] + pd.Timedelta("1h")).isoformat())
        told = {
            "record_time": body["record_time"] if self.echoes else found.isoformat().replace("+00:00", "Z"),
            "migration_id": body["migration_id"],
            "summaries": [self.summary(one, found.hour, body) for one in body["owner_party_ids"] if one[0] != "d"],
        }
        if self.fees:
            told["computed_as_of_round"] = self.round(body)
        return answer(told)

    def round(self, body):
        return self.open_now if body.get("as_of_round") is None else body["as_of_round"]

    def summary(self, party, coins, body):
        held = {"total_unlocked_coin": f"{coins}.0", "total_locked_coin": "0.0", "total_coin_holdings": f"{coins}.0"}
        fee = Decimal(self.round(body)) / 1000
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


def test_more_than_a_thousand_parties_take_several_requests():
    parties = [f"party-{number}::12" for number in range(2_500)]
    with serving(most=1_000) as (net, server):
        assert list(load(net, parties).party_id) == parties

    assert [len(asked["owner_party_ids"]) for asked in server.asked] == [1_000, 1_000, 500]


def test_parts_of_different_snapshots_are_an_error():
    with (
        serving(most=1, strays=True) as (net, _),
        pytest.raises(lf.errors.DecodeError, match="different snapshots or rounds"),
    ):
        load(net, PARTIES[:3], match="exact", record_time=f"{DAY}03:00:00Z")


def test_an_unknown_party_is_said_not_to_be_found():
    with serving() as (net, _):
        found = load(net)
        zeros = load(net, missing="zero")

    assert found.found.tolist() == zeros.found.tolist() == [True, True, True, False]
    assert found.columns.tolist().index("found") == found.columns.tolist().index("party_id") + 1
    assert found[HELD + FEES].iloc[3].isna().all()
    assert zeros[HELD + FEES].iloc[3].tolist() == [Decimal(0)] * 7
    assert {str(value) for value in zeros[HELD + FEES].iloc[3]} == {"0"}
    assert str(found.total_locked_coin[0]) == "0"


def test_zeros_are_given_for_what_the_server_states_and_not_for_fees_that_it_does_not():
    with serving(fees=False) as (net, _):
        found = load(net, missing="zero")

    assert found[HELD].iloc[3].tolist() == [Decimal(0)] * 3
    assert found[FEES].isna().all(axis=None)
    assert found.computed_as_of_round.isna().all()


def test_parties_that_no_answer_came_for_are_not_called_unknown():
    with serving(most=2, strays=True) as (net, _):
        found = load(net, match="exact", record_time=f"{DAY}03:00:00Z", missing="zero", allow_partial=True)

    assert found.attrs["complete"] is False
    assert found.found.tolist() == [True, True, pd.NA, pd.NA]
    assert found.total_coin_holdings.isna().tolist() == [False, False, True, True]


def test_the_snapshots_own_time_is_shown_where_the_server_states_it():
    with serving() as (net, _):
        stated, exact = load(net), load(net, match="exact", record_time=f"{DAY}03:00:00Z")
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
        serving(late=True) as (net, _),
        pytest.raises(lf.errors.DecodeError, match=r"answer is from 2026-01-30T03.*01:00"),
    ):
        load(net, record_time=f"{DAY}01:00:00Z", match=match)


TIMES = [f"{DAY}01:00:00Z", f"{DAY}02:00:00Z"]


def test_the_fees_of_several_snapshots_are_not_those_of_now():
    with serving() as (net, _), pytest.warns(SnapshotWarning, match=r"fees of 2 snapshots are left out.*as_of_round="):
        found = load(net, PARTIES[:2], record_time=TIMES)

    assert found[HELD].notna().all(axis=None)
    assert found[FEES].isna().all(axis=None)
    assert found.computed_as_of_round.isna().all()


@pytest.mark.parametrize(
    ("rounds", "options"),
    [
        ([7, 9], {"record_time": TIMES}),
        (pd.Series([7, 9]), {"record_time": TIMES}),
        ({TIMES[0]: 7, pd.Timestamp(TIMES[1]): 9}, {"record_time": TIMES}),
        ({TIMES[0]: 7, TIMES[1]: [9]}, {"record_time": None}),
    ],
    ids=["a list", "a column", "by time", "times from the rounds"],
)
def test_several_snapshots_take_a_round_each(rounds, options):
    with serving() as (net, server):
        found = load(net, PARTIES[:1], as_of_round=rounds, **options)

    assert found.computed_as_of_round.tolist() == [7, 9]
    assert found.accumulated_holding_fees_total.tolist() == [Decimal("0.007"), Decimal("0.009")]
    assert found.record_time.tolist() == [pd.Timestamp(time) for time in TIMES]
    assert [one["as_of_round"] for one in server.asked] == [7, 9]


def test_one_snapshot_takes_several_rounds_and_one_round_serves_several_snapshots():
    with serving() as (net, _):
        several = load(net, PARTIES[:1], as_of_round=[3, 4])
        same = load(net, PARTIES[:1], record_time=TIMES, as_of_round=3)
        both = load(net, PARTIES[:1], as_of_round={TIMES[0]: [1, 2], TIMES[1]: 3}, record_time=TIMES)

    assert several.computed_as_of_round.tolist() == [3, 4]
    assert same.computed_as_of_round.tolist() == [3, 3]
    assert both.computed_as_of_round.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"record_time": TIMES, "as_of_round": [1, 2, 3]}, "3 rounds for 2 times"),
        ({"as_of_round": []}, "no round"),
        ({"record_time": []}, "no time"),
        ({"as_of_round": {}}, "as_of_round names no time"),
        ({"record_time": TIMES, "as_of_round": {TIMES[0]: 1}}, "different times, 2026-01-30T02:00:00.000000Z"),
        ({"as_of_round": [1.5]}, r"as_of_round=1.5 is not valid"),
        ({"as_of_round": True}, "as_of_round=True is not valid"),
        ({"as_of_round": "7"}, "as_of_round='7' is not valid"),
    ],
    ids=str,
)
def test_rounds_that_do_not_fit_the_times_are_refused(options, words):
    with serving() as (net, server):
        with pytest.raises(lf.errors.InputError, match=words):
            load(net, PARTIES[:1], **options)
        assert not server.asked
