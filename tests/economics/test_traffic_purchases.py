"""`lf.traffic_purchases`: traffic bought, and at what price."""

from decimal import Decimal

import pandas as pd

import ledgerframes as lf
from tests.economics.histories import exercise, frame_of, result, transfer, update

RULES = "Splice.AmuletRules:AmuletRules"
ARGUMENTS = {
    "inputs": [], "context": {}, "provider": "gas", "memberId": "PAR::x::1220", "synchronizerId": "sync",
    "migrationId": "4", "trafficAmount": "1999800",
}  # fmt: skip


def bought(arguments=ARGUMENTS, paid="23997.6000000000", number=10470, **values):
    given = result(number, amuletPrice="0.0050000000", **values) | {"amuletPaid": paid}
    inner = exercise(RULES, "rules", "AmuletRules_Transfer", transfer("gas", [], []), result(number))
    return exercise(RULES, "rules", "AmuletRules_BuyMemberTraffic", arguments, given, inner)


def test_a_purchase_is_a_row():
    """The documented purchase: 23,997.6 coin at 0.005 USD are 119.988 USD; fees beside it are not part of it."""
    node = bought(outputFees=["209.9976000000"], senderChangeFee="6.0000000000")

    (row,) = lf.traffic_purchases(frame_of([update("u", 0, node)])).to_dict("records")

    assert row == {
        "update_id": "u", "event_id": "u:0", "record_time": pd.Timestamp("2026-01-01 12:00", tz="UTC"),
        "provider": "gas", "member_id": "PAR::x::1220", "synchronizer_id": "sync",
        "migration_id": 4, "bytes": 1_999_800, "amount": Decimal("23997.6"), "amount_usd": Decimal("119.988"),
        "round": 10470,
    }  # fmt: skip


def test_usd_are_rounded_half_even():
    """0.0000000100 x 0.005 = 0.00000000005, halfway between 0.0000000000 and 0.0000000001; the even one is 0."""
    events = frame_of([update("u", 0, bought(paid="0.0000000100")), update("v", 1, bought(paid="0.0000000300"))])

    assert lf.traffic_purchases(events).amount_usd.tolist() == [0, Decimal("0.0000000002")]


def test_a_purchase_that_cannot_be_read_is_counted_and_without_a_result_has_no_price():
    broken = [{"trafficAmount": "much"}, {"trafficAmount": str(2**64)}, {"memberId": None}]
    unread = exercise(RULES, "rules", "AmuletRules_BuyMemberTraffic", ARGUMENTS, "done")

    found = lf.traffic_purchases(frame_of([update("u", 0, unread, *(bought(ARGUMENTS | one) for one in broken))]))

    assert found.event_id.tolist() == ["u:0"]
    assert found[["amount", "amount_usd"]].isna().all(axis=None)
    name = f"{RULES}/AmuletRules_BuyMemberTraffic"
    assert found.attrs["not_understood"] == {name: 1, f"{name}: trafficAmount": 2, f"{name}: memberId": 1}
