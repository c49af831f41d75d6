"""`lf.transfers` and `lf.traffic_purchases`: who paid whom, and for how much traffic."""

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import frame_of, opening_of
from tests.economics.items import DSO, archive, create, exercise, update
from tests.economics.payments import RULES, coin, output, paid, result, transfer
from tests.economics.test_token_transfers import KIND, OUTPUTS, REASON, factory, leg, metas

AMULET = "Splice.Amulet:Amulet"
FACTORY = "Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
INSTRUCTION = "Splice.AmuletTransferInstruction:AmuletTransferInstruction"
ALLOCATION = "Splice.AmuletAllocation:AmuletAllocation"
PREAPPROVAL = "Splice.AmuletRules:TransferPreapproval"
COMPLETED, FAILED = OUTPUTS["completed"], OUTPUTS["failed"]


def moved(*outputs, **values):
    return paid(outputs=outputs, **values)


def asked(**values):
    return leg(instrumentId={"admin": DSO, "id": "Amulet"}, meta=metas({REASON: "rent"}), **values)


def sent(*children, outcome="completed", **options):
    """A transfer of coin by the token standard."""
    return factory(outcome, *children, template=FACTORY, **{**asked(), **options})


def rows_of(*roots, **options):
    return lf.transfers(frame_of([update("u", 0, *roots)]), **options).to_dict("records")


def test_every_output_is_a_row_with_its_fees():
    """Half of 0.3 and all of 0.2; with the first output also 0.05 for holding and 0.01 for the change."""
    lock = {"holders": ["bob"], "expiresAt": "2026-02-01T00:00:00Z", "optContext": None}
    fees = {"outputFees": ["0.3000000000", "0.2000000000"], "holdingFees": "0.0500000000", "senderChangeFee": "0.01"}
    node = moved(output("bob", "5.0", "0.5"), output("alice", "2.0", "0E-10", lock), **fees)

    first, second = rows_of(node)

    assert (first["update_id"], first["event_id"], first["output_index"], first["round"]) == ("u", "u:0", 0, 7)
    assert (first["sender"], first["provider"], first["receiver"]) == ("alice", "app", "bob")
    assert (first["amount"], first["receiver_fee_ratio"]) == (5, Decimal("0.5"))
    assert first["sender_fees"] == Decimal("0.15") + Decimal("0.05") + Decimal("0.01")
    assert second["sender_fees"] == Decimal("0.2")
    assert (first["kind"], second["kind"]) == ("transfer", "self")
    assert pd.isna(first["lock"])
    assert '"holders":["bob"]' in second["lock"].replace(" ", "")


def test_the_kind_is_what_the_result_states():
    stated = [
        (None, "bob", "transfer"), (None, "alice", "self"), ({KIND: "transfer"}, "alice", "self"),
        ({KIND: "new-kind"}, "bob", "new-kind"), ({KIND: "merge-split"}, "alice", "merge-split"),
        ({KIND: None}, "bob", "transfer"),
    ]  # fmt: skip
    rows = rows_of(*(moved(output(receiver, "1.0"), meta=meta) for meta, receiver, _ in stated))

    assert [row["kind"] for row in rows] == [kind for *_, kind in stated]


def test_what_is_paid_for_a_purchase_is_burned():
    choices = ("AmuletRules_BuyMemberTraffic", "AmuletRules_CreateTransferPreapproval")
    bought = [exercise(RULES, "rules", choice, {}, result(), moved(output(DSO, "1.0"))) for choice in choices]
    rows = rows_of(moved(meta={KIND: "merge-split"}), *bought)  # without outputs there is no row

    assert [(row["kind"], row["event_id"]) for row in rows] == [("burn", "u:2"), ("burn", "u:4")]


def test_a_standard_choice_gives_a_transfer_below_it_the_last_reason_stated_or_counts_itself():
    inner = moved(output("bob", "7.5"), meta={REASON: "innermost"})
    rows = rows_of(
        sent(moved(output("bob", "7.5"), meta={KIND: "transfer"})), sent(extra={REASON: "extra"}),
        sent(extra={REASON: "extra"}, result={REASON: "result"}), sent(inner, result={REASON: "result"}),
    )  # fmt: skip
    assert [(row["event_id"], row["reason"]) for row in rows] == [
        ("u:1", "rent"), ("u:2", "extra"), ("u:3", "result"), ("u:5", "innermost"),
    ]  # fmt: skip

    ended, made = archive(AMULET, "in"), create(AMULET, "out", coin("bob", "7.5"))
    (row,) = rows_of(sent(ended, made))
    (counted,) = rows_of(sent(made, amount=None))  # the coins that were made
    assert (row["event_id"], row["sender"], row["receiver"], row["amount"]) == ("u:0", "alice", "bob", Decimal("7.5"))
    assert (row["kind"], row["sender_fees"], counted["amount"]) == ("transfer", None, Decimal("7.5"))


def test_an_instruction_locks_and_its_acceptance_pays():
    accepted, failed = ({"output": one, "senderChangeCids": [], "meta": {"values": {}}} for one in (COMPLETED, FAILED))
    terms = {"lockedAmulet": "l", "transfer": asked()}
    paid, rejected, withdrawn = (
        exercise(INSTRUCTION, "instruction", f"TransferInstruction_{choice}", {}, given, consuming=True)
        for choice, given in (("Accept", accepted), ("Reject", failed), ("Withdraw", failed))
    )
    events = [
        update("lock", 0, sent(create(INSTRUCTION, "instruction", terms), outcome="pending")),
        update("pay", 1, paid),
    ]

    first, second = lf.transfers(frame_of(events)).to_dict("records")
    assert (first["receiver"], first["kind"]) == ("alice", "self")
    assert (second["sender"], second["receiver"], second["amount"]) == ("alice", "bob", Decimal("7.5"))
    opening = opening_of([("instruction", INSTRUCTION, terms)])
    assert lf.transfers(frame_of(events[1:]), opening=opening).to_dict("records") == [second]
    assert rows_of(create(INSTRUCTION, "instruction", terms), rejected, withdrawn) == []

    # Of an instruction that is not known, the coin says who received how much.
    made = create(AMULET, "out", coin("bob", "7.5"))
    (row,) = rows_of(exercise(INSTRUCTION, "x", "TransferInstruction_Accept", {}, accepted, made, consuming=True))
    assert (pd.isna(row["sender"]), row["receiver"], row["amount"]) == (True, "bob", Decimal("7.5"))


def test_an_allocation_that_is_executed_pays():
    leg = {"settlement": {}, "transferLegId": "0", "transferLeg": asked()}
    made = create(ALLOCATION, "allocation", {"lockedAmulet": "l", "allocation": leg})
    given = {"senderHoldingCids": [], "receiverHoldingCids": ["out"], "meta": {"values": {}}}

    (row,) = rows_of(made, exercise(ALLOCATION, "allocation", "Allocation_ExecuteTransfer", {}, given, consuming=True))

    assert (row["sender"], row["receiver"], row["amount"], row["reason"]) == ("alice", "bob", Decimal("7.5"), "rent")


@pytest.mark.parametrize("wrapped", [True, False], ids=["wraps", "alone"])
def test_a_preapproved_payment_counts_once(wrapped):
    made = create(PREAPPROVAL, "pre", {"receiver": "bob", "provider": "host", "dso": DSO})
    arguments = {"context": {}, "inputs": [], "amount": "7.5", "sender": "alice", "description": "lunch"}
    children = [moved(output("bob", "7.5"))] if wrapped else []
    preapproved = exercise(
        PREAPPROVAL, "pre", "TransferPreapproval_SendV2", arguments, {"result": result(), "meta": None}, *children
    )

    (row,) = rows_of(made, sent(preapproved))

    assert (row["sender"], row["receiver"], row["amount"], row["round"]) == ("alice", "bob", Decimal("7.5"), 7)
    assert (row["reason"], row["provider"]) == ("lunch", "app" if wrapped else "host")
    assert row["event_id"] == ("u:3" if wrapped else "u:2")


def test_what_cannot_be_read_is_counted_and_what_is_not_coin_is_no_transfer():
    amounts = (transfer("alice", [], [output("bob", amount)]) for amount in ("much", "1e40"))
    bad = [
        exercise(RULES, "rules", "AmuletRules_Transfer", arguments, result())
        for arguments in ({}, {"transfer": None}, *amounts)
    ]
    other = exercise("Tokens:Factory", "f", "TransferFactory_Transfer", {"transfer": asked()}, {"output": COMPLETED})
    new = moved(output("bob", "1.0"), inputMoonAmount="1.0", outputFees=["0.1"])

    found = lf.transfers(frame_of([update("u", 0, *bad, other, new)]))

    assert (found.event_id.tolist(), found.sender_fees.tolist()) == (["u:5"], [Decimal("0.1")])
    counts = {"transfer.sender": 2, "amount": 2, "inputMoonAmount": 1}
    assert found.attrs["not_understood"] == {f"{RULES}/AmuletRules_Transfer: {name}": n for name, n in counts.items()}


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
