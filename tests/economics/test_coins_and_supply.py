"""`lf.coin_history`, `lf.supply`, `lf.supply_per_round`, `lf.balances_over_time`: the coin that exists, and whose."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.holdings import AMOUNTS
from tests.economics.histories import WHOLE, frame_of, incomplete, opening_of
from tests.economics.items import archive, create, update
from tests.economics.payments import coin, locked, paid

AMULET, LOCKED, OPEN = "Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet", "Splice.Round:OpenMiningRound"


FIRST = create(AMULET, "first", coin("alice", "10.0", number=7, rate="3.0"))
HISTORY = [
    update("a", 0, paid(FIRST, inputAppRewardAmount="10.0")),
    update("b", 10, paid(archive(AMULET, "first"), create(LOCKED, "lock", locked("alice", "10.0", number=7)))),
    update("c", 20, archive(LOCKED, "lock", "LockedAmulet_ExpireAmulet", {}, {"expireSum": {"owner": "alice"}})),
    update("d", 30, create(AMULET, "root", coin("bob", "1.0", rate="0E-10"))),
]  # fmt: skip
EVENTS = frame_of(HISTORY, **WHOLE)
NOON = pd.Timestamp("2026-01-01 12:00", tz="UTC")


def test_a_coin_has_its_terms_and_what_made_and_ended_it():
    rows = lf.coin_history(EVENTS).set_index("contract_id").to_dict("index")

    first, lock, root = rows["first"], rows["lock"], rows["root"]
    assert (first["owner"], first["amount"], first["created_round"], first["rate_per_round"]) == ("alice", 10, 7, 3)
    assert first["expires_at_round"] == 7 + 4  # 10 / 3 rounded up
    assert (first["created_by"], first["ended_by"]) == ("AmuletRules_Transfer", "AmuletRules_Transfer")
    assert first["ended_at"] == NOON + pd.Timedelta(seconds=10)
    assert (first["locked"], lock["locked"]) == (False, True)
    assert (lock["lock_holders"], lock["ended_by"]) == (("bob",), "LockedAmulet_ExpireAmulet")
    assert lock["lock_expires_at"] == pd.Timestamp("2026-02-01", tz="UTC")
    assert lock["expires_at_round"] == 7 + 100  # 10 / 0.1, which is a whole number
    assert pd.isna(root["created_by"])
    assert pd.isna(root["expires_at_round"])
    assert pd.isna(root["ended_at"])


def test_at_a_time_a_later_end_has_not_happened():
    then = lf.coin_history(EVENTS, at=NOON + pd.Timedelta(seconds=10)).set_index("contract_id")

    assert list(then.index) == ["first", "lock"]
    assert pd.notna(then.ended_at["first"])  # ended at that time
    assert pd.isna(then.ended_at["lock"])


@incomplete
def test_a_coin_of_the_opening_has_no_beginning_and_an_end_without_a_create_is_counted():
    opening = opening_of([("old", AMULET, coin("carol", "4.0")), ("x", "Iou:Iou", {})])
    events = frame_of([update("e", 40, paid(archive(AMULET, "old")))])

    (row,) = lf.coin_history(events, opening=opening).to_dict("records")
    assert (row["owner"], row["ended_by"]) == ("carol", "AmuletRules_Transfer")
    assert pd.isna(row["created_by"])

    coins = lf.coin_history(events, opening="nothing")
    assert coins.empty
    assert coins.attrs["edges"]["began_before"]["without_create"] == 1


def test_the_supply_at_a_time():
    for second, unlocked, held in ((0, 10, 0), (10, 0, 10), (20, 0, 0), (30, 1, 0)):
        at = NOON + pd.Timedelta(seconds=second)
        (row,) = lf.supply(EVENTS, at=at).to_dict("records")
        assert (row["at"], row["unlocked"], row["locked"], row["total"]) == (at, unlocked, held, unlocked + held)

    # The last is that of the last event, whose update states no round.
    assert lf.supply(EVENTS).to_dict("records") == lf.supply(EVENTS, at=(0, at)).to_dict("records") == [row]
    assert lf.supply_per_round(frame_of([HISTORY[3]])).attrs["without_round"] == 1
    with pytest.raises(lf.errors.PartialResultError, match="gap"):
        lf.supply(frame_of(HISTORY, **WHOLE | {"complete": False}))
    (none,) = lf.supply(frame_of([], **WHOLE)).itertuples()
    assert (none.unlocked, none.locked, none.total, pd.isna(none.at)) == (0, 0, 0, True)


def test_a_round_sums_its_updates():
    """Round 7: 10 minted; the expiry of 10 states no round and counts for 8, which had opened; 1 came from nowhere."""
    opened = update("r", 15, create(OPEN, "eight", {"round": {"number": "8"}}))
    rows = lf.supply_per_round(frame_of([*HISTORY, opened], **WHOLE)).to_dict("records")

    assert [row["round"] for row in rows] == [7, 8]
    assert [row["minted"] for row in rows] == [10, 0]
    assert [row["burned"] for row in rows] == [0, 10]
    assert [row["net_change"] for row in rows] == [10, -9]
    assert [row["unexplained"] for row in rows] == [0, 1]
    assert [row["total"] for row in rows] == [10, 1]
    assert pd.isna(rows[0]["opened_at"])
    assert rows[1]["opened_at"] == NOON + pd.Timedelta(seconds=15)


def test_the_total_begins_with_the_opening_or_is_not_known():
    part = frame_of(HISTORY[:1])
    assert lf.supply_per_round(part).total.tolist() == [None]
    assert lf.supply_per_round(part, opening="nothing").total.tolist() == [10]
    opening = opening_of([("old", AMULET, coin("carol", "4.0")), ("held", LOCKED, locked("carol", "2.0"))])
    assert lf.supply_per_round(part, opening=opening).total.tolist() == [16]


@incomplete
def test_what_is_not_known_stays_null_from_then_on():
    """The coin that expires in round 7 was created before the events."""
    gone = archive(AMULET, "old", "Amulet_Expire", {}, {"expireSum": {"owner": "x", "round": {"number": "8"}}})
    made = paid(create(AMULET, "n", coin("a", "1.0")), number=9, inputAppRewardAmount="1.0")
    events = frame_of([HISTORY[0], update("x", 5, gone), update("y", 6, made)])

    rows = lf.supply_per_round(events, opening="nothing").to_dict("records")

    assert [row["net_change"] for row in rows] == [10, None, 1]
    assert [row["burned"] for row in rows] == [0, None, 0]
    assert [row["total"] for row in rows] == [10, None, None]


#: Of coins: the round and the amount, what it loses per round, and the first round in which it can be expired.
EXPIRIES = [
    (7, "10", "3", 11), (7, "9", "3", 10), (7, "9.0000000001", "3", 11), (7, "8.9999999999", "3", 10),
    (-5, "0.0000000001", "0.0000000001", -4), (0, "1000000000000000000000000000", "1", None),
    (2**63 - 2, "1", "1", 2**63 - 1), (2**63 - 1, "1", "1", None), (1, "1", "0", None),
]  # fmt: skip


def test_a_coin_can_be_expired_in_the_first_round_whose_fee_is_the_coin():
    """A round beyond 64 bits is not known."""
    made = [
        create(AMULET, f"c{place}", coin("alice", amount, number=created, rate=rate))
        for place, (created, amount, rate, _) in enumerate(EXPIRIES)
    ]

    coins = lf.coin_history(frame_of([update("u", 0, *made)], **WHOLE), as_="arrow")

    found = dict(zip(coins["contract_id"].to_pylist(), coins["expires_at_round"].to_pylist(), strict=True))
    assert found == {f"c{place}": first for place, (*_, first) in enumerate(EXPIRIES)}


def opened(number):
    return create(OPEN, f"round {number}", {"round": {"number": str(number)}})


def closed(number):
    return archive(OPEN, f"round {number}")


BALANCES = frame_of(
    [
        update("a", 1, opened(1), opened(2), create(AMULET, "c", coin("alice", "10.0", number=1, rate="3.0"))),
        update("b", 60, closed(1)),
        update("c", 90, create(LOCKED, "l", locked("alice", "5.0", number=1)), create(AMULET, "b", coin("b::1", "1"))),
        update("d", 180, closed(2), opened(9)),
        update("e", 200, archive(AMULET, "c"), archive(LOCKED, "l", "LockedAmulet_Unlock")),
        update("f", 270, create(AMULET, "n", coin("alice", "2.0", number=9))),
    ],
    **WHOLE,
)


def test_a_row_per_minute_and_owner():
    """alice's 10 at 3 per round since round 1: 3 at round 2, and 10, not 24, at round 9."""
    rows = lf.balances_over_time(BALANCES, every="1min")

    assert rows.time.unique().tolist() == [NOON + pd.Timedelta(seconds=s) for s in (60, 120, 180, 240, 270)]
    alice = rows[rows.party_id == "alice"]
    assert alice.total_unlocked_coin.tolist() == [10, 10, 10, 0, 2]
    assert alice.total_locked_coin.tolist() == [0, 5, 5, 0, 0]
    assert alice.accumulated_holding_fees_unlocked.tolist() == [3, 3, 10, 0, 0]
    assert alice.accumulated_holding_fees_locked.tolist() == [0, Decimal("0.1"), Decimal("0.8"), 0, 0]
    assert alice.total_available_coin.tolist() == [7, 7, 0, 0, 2]
    bob = rows[rows.party_id == "b::1"]
    assert bob.time.tolist() == [NOON + pd.Timedelta(seconds=s) for s in (120, 180, 240, 270)]  # from the first coin on


def test_chosen_parties_have_a_row_at_every_time():
    rows = lf.balances_over_time(BALANCES, every=60, parties=["no::body", "b::1", "b::1"])

    assert rows.party_id.tolist() == ["b::1", "no::body"] * 5
    assert rows[rows.party_id == "no::body"].total_coin_holdings.tolist() == [0] * 5
    with pytest.raises(lf.errors.InputError, match="parties='bob' is not valid: give a whole party id"):
        lf.balances_over_time(BALANCES, parties=["b::1", "bob"])


def test_fees_are_those_of_an_open_round_of_the_opening_too_and_without_one_not_known():
    alone = frame_of([update("a", 1, create(AMULET, "c", coin("alice", "10.0")))], **WHOLE)
    opening = opening_of([("old", AMULET, coin("carol", "4.0")), ("r", OPEN, {"round": {"number": "3"}})])

    rows = lf.balances_over_time(alone)
    assert rows.total_coin_holdings.tolist() == [10]
    assert rows[list(AMOUNTS[3:])].isna().all(axis=None)
    opened = lf.balances_over_time(frame_of([update("a", 1, archive(AMULET, "x"))]), opening=opening)
    assert opened.accumulated_holding_fees_total.tolist() == [Decimal("0.2")]
    with pytest.raises(lf.errors.InputError, match="every='1us' is not valid"):
        lf.balances_over_time(BALANCES, every="1us")
