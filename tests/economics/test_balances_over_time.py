"""`lf.balances_over_time`: holdings at regular times, as a replay for each time would compute them."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.holdings import AMOUNTS
from tests.economics.histories import WHOLE, archive, coin, create, frame_of, locked, opening_of, update

AMULET, LOCKED, OPEN = "Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet", "Splice.Round:OpenMiningRound"
NOON = pd.Timestamp("2026-01-01 12:00", tz="UTC")


def opened(number):
    return create(OPEN, f"round {number}", {"round": {"number": str(number)}})


def closed(number):
    return archive(OPEN, f"round {number}")


HISTORY = frame_of(
    [
        update("a", 1, opened(1), opened(2), create(AMULET, "c", coin("alice", "10.0", number=1, rate="3.0"))),
        update("b", 60, closed(1)),
        update("c", 90, create(LOCKED, "l", locked("alice", "5.0", number=1)), create(AMULET, "b", coin("bob", "1.0"))),
        update("d", 180, closed(2), opened(9)),
        update("e", 200, archive(AMULET, "c"), archive(LOCKED, "l", "LockedAmulet_Unlock")),
        update("f", 270, create(AMULET, "n", coin("alice", "2.0", number=9))),
    ],
    **WHOLE,
)


def test_a_row_per_minute_and_owner():
    """alice's 10 at 3 per round since round 1: 3 at round 2, and 10, not 24, at round 9."""
    rows = lf.balances_over_time(HISTORY, every="1min")

    assert rows.time.unique().tolist() == [NOON + pd.Timedelta(seconds=s) for s in (60, 120, 180, 240, 270)]
    alice = rows[rows.party_id == "alice"]
    assert alice.total_unlocked_coin.tolist() == [10, 10, 10, 0, 2]
    assert alice.total_locked_coin.tolist() == [0, 5, 5, 0, 0]
    assert alice.accumulated_holding_fees_unlocked.tolist() == [3, 3, 10, 0, 0]
    assert alice.accumulated_holding_fees_locked.tolist() == [0, Decimal("0.1"), Decimal("0.8"), 0, 0]
    assert alice.total_available_coin.tolist() == [7, 7, 0, 0, 2]
    bob = rows[rows.party_id == "bob"]
    assert bob.time.tolist() == [NOON + pd.Timedelta(seconds=s) for s in (120, 180, 240, 270)]  # from the first coin on


def test_chosen_parties_have_a_row_at_every_time():
    rows = lf.balances_over_time(HISTORY, every=60, parties=["nobody", "bob", "bob"])

    assert rows.party_id.tolist() == ["bob", "nobody"] * 5
    assert rows[rows.party_id == "nobody"].total_coin_holdings.tolist() == [0] * 5


def test_fees_are_those_of_an_open_round_of_the_opening_too_and_without_one_not_known():
    alone = frame_of([update("a", 1, create(AMULET, "c", coin("alice", "10.0")))], **WHOLE)
    opening = opening_of([("old", AMULET, coin("carol", "4.0")), ("r", OPEN, {"round": {"number": "3"}})])

    rows = lf.balances_over_time(alone)
    assert rows.total_coin_holdings.tolist() == [10]
    assert rows[list(AMOUNTS[3:])].isna().all(axis=None)
    opened = lf.balances_over_time(frame_of([update("a", 1, archive(AMULET, "x"))]), opening=opening)
    assert opened.accumulated_holding_fees_total.tolist() == [Decimal("0.2")]
    with pytest.raises(lf.errors.InputError, match="every='1us' is not valid"):
        lf.balances_over_time(HISTORY, every="1us")
