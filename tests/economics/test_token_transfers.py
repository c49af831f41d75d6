"""`lf.token_transfers`: transfers of any instrument, by both versions of the token standard."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import coin, create, exercise, frame_of, opening_of, update

HASH = "cd" * 32
FACTORY, INSTRUCTION = "Tokens.Rules:Factory", "Tokens.Rules:Instruction"
LOG, ALLOCATION = "Tokens.Rules:Log", "Tokens.Rules:Allocation"
REASON, KIND = (f"splice.lfdecentralizedtrust.org/{key}" for key in ("reason", "tx-kind"))
GOLD = {"admin": "bank", "id": "GOLD"}
V1 = f"{HASH}:Splice.Api.Token.TransferInstructionV1:TransferFactory"
OUTPUTS = {
    "completed": {"tag": "TransferInstructionResult_Completed", "value": {"receiverHoldingCids": ["out"]}},
    "pending": {"tag": "TransferInstructionResult_Pending", "value": {"transferInstructionCid": "i"}},
    "failed": {"tag": "TransferInstructionResult_Failed", "value": {}},
}  # fmt: skip


def interface(name):
    return f"{HASH}:Splice.Api.Token.{name}"


def leg(**values):
    return {
        "sender": "alice",
        "receiver": "bob",
        "amount": "7.5",
        "instrumentId": GOLD,
        "meta": {"values": {}},
    } | values


def metas(values):
    return {"values": values}


def factory(outcome="completed", *children, template=FACTORY, extra=None, own=None, result=None, **values):
    arguments = {
        "expectedAdmin": "bank", "transfer": leg(**values), "extraArgs": {"context": {}, "meta": metas(extra or {})},
        "meta": metas(own or {}),
    }  # fmt: skip
    given = {"output": OUTPUTS[outcome], "senderChangeCids": [], "meta": metas(result or {})}
    named = interface("TransferInstructionV1:TransferFactory")
    return exercise(template, "f", "TransferFactory_Transfer", arguments, given, *children, interface=named)


def rows_of(*roots, **options):
    found = lf.token_transfers(frame_of([update("u", 0, *roots)]), **options)
    return [
        {name: None if value is None or value != value else value for name, value in row.items()}
        for row in found.to_dict("records")
    ]


def test_a_transfer_of_another_instrument_is_a_row():
    assert rows_of(*map(factory, OUTPUTS)) == [
        {
            "update_id": "u", "event_id": f"u:{place}", "record_time": pd.Timestamp("2026-01-01 12:00", tz="UTC"),
            "leg": 0, "instrument_admin": "bank", "instrument_id": "GOLD", "sender": "alice", "receiver": "bob",
            "amount": Decimal("7.5"), "kind": "transfer", "step": outcome, "reason": None,
        }
        for place, outcome in enumerate(OUTPUTS)
    ]  # fmt: skip


def test_metadata_is_merged_and_the_last_to_state_a_key_counts():
    places = {"meta": metas({REASON: "transfer"})}
    rows = rows_of(
        factory(**places), factory(extra={REASON: "extra"}, **places),
        factory(extra={REASON: "extra"}, own={REASON: "argument"}, **places),
        factory(own={REASON: "argument"}, result={REASON: "result"}, **places), factory(result={KIND: "merge-split"}),
    )  # fmt: skip
    assert [row["reason"] for row in rows] == ["transfer", "extra", "argument", "result", None]
    assert [row["kind"] for row in rows] == [*["transfer"] * 4, "merge-split"]


STEPS = {"Accept": "completed", "Reject": "failed", "Withdraw": "failed", "Update": "pending"}


def test_a_step_of_an_instruction_has_the_terms_of_its_contract():
    terms = {"transfer": leg(meta=metas({REASON: "rent"}))}
    nodes = [
        exercise(
            INSTRUCTION, choice, f"TransferInstruction_{choice}", {},
            {"output": OUTPUTS[step], "senderChangeCids": [], "meta": metas({})}, consuming=True,
            interface=interface("TransferInstructionV1:TransferInstruction"),
        )
        for choice, step in STEPS.items()
    ]  # fmt: skip

    rows = rows_of(*(create(INSTRUCTION, choice, terms) for choice in STEPS), *nodes)
    assert [(row["sender"], row["receiver"], row["amount"], row["step"], row["reason"]) for row in rows] == [
        ("alice", "bob", Decimal("7.5"), step, "rent") for step in STEPS.values()
    ]
    same = rows_of(*nodes, opening=opening_of([(choice, INSTRUCTION, terms) for choice in STEPS]))
    assert same == [row | {"event_id": f"u:{place}"} for place, row in enumerate(rows)]

    unknown = rows_of(*nodes)
    assert [(row["sender"], row["amount"], row["instrument_id"]) for row in unknown] == [(None, None, None)] * 4
    others = rows_of(*(create(INSTRUCTION, choice, {"of": "another shape"}) for choice in STEPS), *nodes)
    assert [row["amount"] for row in others] == [None] * 4


def test_an_allocation_is_made_and_executed():
    spec = {"settlement": {}, "transferLegId": "leg 0", "transferLeg": leg()}
    given = {
        "output": {"tag": "AllocationInstructionResult_Completed", "value": {"allocationCid": "a"}},
        "meta": metas({}),
    }
    made = exercise(
        FACTORY, "f", "AllocationFactory_Allocate", {"allocation": spec, "extraArgs": {"meta": metas({})}}, given,
        create(ALLOCATION, "a", {"allocation": spec}), interface=interface("AllocationInstructionV1:AllocationFactory"),
    )  # fmt: skip
    named = interface("AllocationV1:Allocation")
    paid = {"senderHoldingCids": [], "receiverHoldingCids": ["x"], "meta": metas({})}
    ends = {
        "Allocation_ExecuteTransfer": ("completed", paid), "Allocation_Cancel": ("failed", {"meta": metas({})}),
        "Allocation_Withdraw": ("failed", {"meta": metas({})}),
    }  # fmt: skip
    for choice, (step, result) in ends.items():
        first, second = rows_of(made, exercise(ALLOCATION, "a", choice, {}, result, consuming=True, interface=named))
        assert (first["step"], second["step"]) == ("allocated", step)
        assert (first["amount"], second["amount"]) == (Decimal("7.5"), Decimal("7.5"))


def test_mints_and_burns_are_legs():
    arguments = {
        "expectedAdmin": "bank", "instrumentId": GOLD, "inputHoldingCids": ["h"], "extraArgs": {"meta": metas({})},
        "outputs": [{"owner": "bob", "amount": "1.5"}, {"owner": "carol", "amount": "2.5"}],
    }  # fmt: skip
    node = exercise(
        FACTORY,
        "f",
        "BurnMintFactory_BurnMint",
        arguments,
        {"outputCids": []},
        interface=interface("BurnMintV1:BurnMintFactory"),
    )

    rows = rows_of(node)

    assert [(row["leg"], row["kind"], row["receiver"], row["amount"]) for row in rows] == [
        (0, "mint", "bob", Decimal("1.5")), (1, "mint", "carol", Decimal("2.5")), (2, "burn", None, None),
    ]  # fmt: skip
    assert {row["instrument_id"] for row in rows} == {"GOLD"}


def change(owner, *sides, reason=None, result=None):
    arguments = {
        "admin": "bank", "account": {"owner": owner, "provider": None, "id": ""}, "inputHoldingCids": [],
        "transferLegSides": list(sides), "outputHoldingCids": [], "observers": [],
        "extraArgs": {"context": {}, "meta": metas({} if reason is None else {REASON: reason})},
    }  # fmt: skip
    return exercise(
        LOG, "log", "EventLog_HoldingsChange", arguments, result or {}, interface=interface("TransferEventsV2:EventLog")
    )


def side(name, direction, other, amount="3.0", **values):
    return {
        "transferLegId": name, "side": direction, "otherside": {"owner": other, "provider": None, "id": ""},
        "amount": amount, "instrumentId": "GOLD", "meta": metas({}),
    } | values  # fmt: skip


def test_both_sides_of_a_leg_are_one_row():
    sent = change("alice", side("1", "SenderSide", "bob"), side("2", "ReceiverSide", "bob", "9.0"), reason="swap")
    got = change("bob", side("1", "ReceiverSide", "alice"), side("2", "SenderSide", "alice", "9.0"))

    for nodes in ((sent, got), (got, sent)):
        rows = rows_of(*nodes)
        assert sorted((row["sender"], row["receiver"], row["amount"], row["step"]) for row in rows) == [
            ("alice", "bob", 3, "reported"), ("bob", "alice", 9, "reported"),
        ]  # fmt: skip
    (only,) = rows_of(change("bob", side("1", "ReceiverSide", "alice")))
    assert (only["sender"], only["receiver"], only["instrument_admin"]) == ("alice", "bob", "bank")


def test_a_report_says_what_it_is():
    stated = side("3", "SenderSide", "x", meta=metas({KIND: "unlock"}))
    sides = [[side("1", "ReceiverSide", None)], [side("2", "SenderSide", None)], [], [stated]]

    rows = rows_of(*(change("bob", *own) for own in sides))

    assert [row["kind"] for row in rows] == ["mint", "burn", "merge-split", "unlock"]


def test_a_choice_of_version_1_that_reports_by_version_2_counts_once():
    (row,) = rows_of(factory("completed", change("alice", side("1", "SenderSide", "bob"))))

    assert (row["step"], row["amount"], row["event_id"]) == ("reported", 3, "u:1")


def test_the_coin_is_an_instrument_too():
    """The simulated network's transfers state no amount: the receiver's coins do."""
    made = create("Splice.Amulet:Amulet", "out", coin("bob", "4.0"))
    (row,) = rows_of(factory("completed", made, instrumentId=None, amount=None))

    assert (row["amount"], row["instrument_admin"], row["instrument_id"]) == (4, "bank", None)


def test_what_is_not_understood_is_counted():
    nodes = [
        exercise(FACTORY, "f", "TransferFactory_PublicFetch", {}, {}, interface=V1),  # which is understood
        exercise(FACTORY, "f", "TransferFactory_Teleport", {}, {}, interface=V1),
        exercise(
            "No:Interface", "f", "TransferFactory_Transfer", {"transfer": leg()}, {"output": OUTPUTS["completed"]}
        ),
        factory(amount="1e40"),
        change("alice", side("1", "SenderSide", "bob", "NaN")),
        change("alice", {"side": "SenderSide"}),
    ]
    found = lf.token_transfers(frame_of([update("u", 0, *nodes)]))

    assert found.empty
    log = f"{LOG}/EventLog_HoldingsChange"
    assert found.attrs["not_understood"] == {
        f"{FACTORY}/TransferFactory_Teleport": 1, "No:Interface/TransferFactory_Transfer": 1,
        f"{FACTORY}/TransferFactory_Transfer: transfer.amount": 1,
        f"{log}: amount": 2, f"{log}: instrumentId": 1, f"{log}: transferLegId": 1,
    }  # fmt: skip


def ledger_frame(nodes):
    rows = [
        {
            "update_id": "u", "kind": kind, "node_id": number, "last_descendant_node_id": last, "contract_id": "f",
            "template_name": node.template, "choice": node.choice, "interface_id": node.interface,
            "payload": json.dumps(node.arguments), "exercise_result": json.dumps(node.result),
        }
        for number, (kind, last, node) in enumerate(nodes)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(record_time=pd.Timestamp("2025-03-03T09:00Z").as_unit("us"))


def test_the_events_of_ones_own_ledger_are_taken():
    told = change("alice", side("1", "SenderSide", "bob"))
    alone = lf.token_transfers(ledger_frame([("ExercisedTreeEvent", 0, factory())]))
    nested = lf.token_transfers(ledger_frame([("ExercisedTreeEvent", 1, factory()), ("ExercisedTreeEvent", 1, told)]))

    assert alone[["update_id", "event_id", "amount"]].values.tolist() == [["u", "u:0", Decimal("7.5")]]
    assert nested[["event_id", "amount", "step"]].values.tolist() == [["u:1", Decimal(3), "reported"]]
    # Answers may lack the time, and without one an event would be in no day.
    unknown = pd.to_datetime([None], utc=True).as_unit("us")
    with pytest.raises(lf.errors.InputError, match="1 of 1 have no record_time"):
        lf.token_transfers(ledger_frame([("ExercisedTreeEvent", 0, factory())]).assign(record_time=unknown))


def test_a_transaction_of_the_made_up_ledger_is_read(net):
    events = lf.load_events(net, start="begin", progress=False, decimals="exact")
    listed = lf.token_transfers(events)

    found = lf.token_transfers(lf.load_ledger_transaction(net, listed.update_id[0]), decimals="exact")

    direct = set(events[events.choice == "TransferFactory_Transfer"].update_id)
    assert direct
    assert direct <= {*listed.update_id}
    assert list(found.columns) == list(listed.columns)
    other = ["event_id"]  # which servers number differently
    assert found.drop(columns=other).iloc[0].tolist() == listed.drop(columns=other).iloc[0].tolist()
