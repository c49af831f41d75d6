"""`lf.token_transfers`: transfers of any instrument, by both versions of the token standard."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from tests.economics.histories import frame_of, known, opening_of
from tests.economics.items import create, exercise, update
from tests.economics.payments import coin

FACTORY, INSTRUCTION = "Tokens.Rules:Factory", "Tokens.Rules:Instruction"
LOG, ALLOCATION = "Tokens.Rules:Log", "Tokens.Rules:Allocation"
REASON, KIND, SENDER = (f"splice.lfdecentralizedtrust.org/{key}" for key in ("reason", "tx-kind", "sender"))
GOLD = {"admin": "bank", "id": "GOLD"}
OUTPUTS = {
    "completed": {"tag": "TransferInstructionResult_Completed", "value": {"receiverHoldingCids": ["out"]}},
    "pending": {"tag": "TransferInstructionResult_Pending", "value": {"transferInstructionCid": "i"}},
    "failed": {"tag": "TransferInstructionResult_Failed", "value": {}},
}  # fmt: skip
SAID = ("sender", "receiver", "amount", "kind", "step", "reason")


def interface(name):
    return f"{'cd' * 32}:Splice.Api.Token.{name}"


V1, ALLOCATES, MINTS = (
    interface(f"{name}V1:{name.removesuffix('Instruction')}Factory")
    for name in ("TransferInstruction", "AllocationInstruction", "BurnMint")
)


def metas(values):
    return {"values": values}


def leg(**values):
    return {
        "sender": "alice", "receiver": "bob", "amount": "7.5", "instrumentId": GOLD, "meta": metas({}),
    } | values  # fmt: skip


def factory(outcome="completed", *children, template=FACTORY, extra=None, own=None, result=None, **values):
    arguments = {
        "expectedAdmin": "bank", "transfer": leg(**values), "extraArgs": {"context": {}, "meta": metas(extra or {})},
        "meta": metas(own or {}),
    }  # fmt: skip
    given = {"output": OUTPUTS[outcome], "senderChangeCids": [], "meta": metas(result or {})}
    return exercise(template, "f", "TransferFactory_Transfer", arguments, given, *children, interface=V1)


def allocate(contract):
    spec = {"settlement": {}, "transferLegId": "leg 0", "transferLeg": leg()}
    arguments = {"allocation": spec, "extraArgs": {"meta": metas({})}}
    made = create(ALLOCATION, contract, {"allocation": spec})
    return exercise(FACTORY, "f", "AllocationFactory_Allocate", arguments, {}, made, interface=ALLOCATES)


def step(choice, contract, result):
    """A step of an instruction or an allocation."""
    kind, _, _ = choice.partition("_")
    name = interface("AllocationV1:Allocation" if kind == "Allocation" else f"{kind}V1:{kind}")
    template = ALLOCATION if kind == "Allocation" else INSTRUCTION
    return exercise(template, contract, choice, {}, result, consuming=True, interface=name)


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


def row(sender="alice", receiver="bob", amount="7.5", kind="transfer", step="completed", reason=None):
    return (sender, receiver, None if amount is None else Decimal(amount), kind, step, reason)


STEPS = {"Accept": "completed", "Reject": "failed", "Withdraw": "failed", "Update": "pending"}
RENT = {"transfer": leg(meta=metas({REASON: "rent"}))}
PLACES = {"meta": metas({REASON: "transfer"})}


def steps(name, **terms):
    """Each step of instructions with these terms, if any."""
    made = [create(INSTRUCTION, f"{choice} {name}", terms) for choice in STEPS if terms]
    return made + [
        step(f"TransferInstruction_{choice}", f"{choice} {name}", {"output": OUTPUTS[outcome]})
        for choice, outcome in STEPS.items()
    ]


SENT = change("alice", side("1", "SenderSide", "bob"), side("2", "ReceiverSide", "bob", "9.0"), reason="swap")
GOT = change("bob", side("1", "ReceiverSide", "alice"), side("2", "SenderSide", "alice", "9.0"))
SWAPPED = [row(amount="3", step="reported", reason="swap"), row("bob", "alice", "9", step="reported")]
#: Nodes of an update, and its rows.
CASES = {
    "each outcome": ([*map(factory, OUTPUTS)], [row(step=outcome) for outcome in OUTPUTS]),
    "the last metadata to state a key counts": (
        [
            factory(**PLACES), factory(extra={REASON: "extra"}, **PLACES),
            factory(extra={REASON: "extra"}, own={REASON: "argument"}, **PLACES),
            factory(own={REASON: "argument"}, result={REASON: "result"}, **PLACES),
            factory(result={KIND: "merge-split"}),
        ],
        [*(row(reason=last) for last in ("transfer", "extra", "argument", "result")), row(kind="merge-split")],
    ),
    "a sender that only metadata states": ([factory(sender=None, result={SENDER: "carol"})], [row("carol")]),
    "terms of their contracts": (
        steps("rent", **RENT), [row(step=outcome, reason="rent") for outcome in STEPS.values()],
    ),
    "no outcome": (
        [create(INSTRUCTION, "bare", RENT), *(step(f"TransferInstruction_{one}", "bare", {}) for one in STEPS)],
        [row(step=outcome, reason="rent") for outcome in ("completed", "failed", "failed", "completed")],
    ),
    "unknown contracts": (steps("unknown"), [row(None, None, None, step=outcome) for outcome in STEPS.values()]),
    "contracts of another shape": (
        steps("other", of="another"), [row(None, None, None, step=outcome) for outcome in STEPS.values()],
    ),
    "allocations": (
        [
            node
            for choice in ("ExecuteTransfer", "Cancel", "Withdraw")
            for node in (allocate(choice), step(f"Allocation_{choice}", choice, {}))
        ],
        [row(step=each) for end in ("completed", "failed", "failed") for each in ("allocated", end)],
    ),
    "mints and burns are legs": (
        [exercise(
            FACTORY, "f", "BurnMintFactory_BurnMint",
            {"expectedAdmin": "bank", "instrumentId": GOLD, "inputHoldingCids": ["h"],
             "outputs": [{"owner": "bob", "amount": "1.5"}, {"owner": "carol", "amount": "2.5"}],
             "extraArgs": {"meta": metas({})}}, {"outputCids": []}, interface=MINTS,
        )],
        [row(None, "bob", "1.5", "mint"), row(None, "carol", "2.5", "mint"), row(None, None, None, "burn")],
    ),
    "both sides of a leg": ([SENT, GOT], SWAPPED),
    "the other side first": ([GOT, SENT], SWAPPED),
    "a report says what it is": (
        [
            change("bob", side("1", "ReceiverSide", None)), change("bob", side("2", "SenderSide", None)),
            change("bob"), change("bob", side("3", "SenderSide", "x", meta=metas({KIND: "unlock"}))),
        ],
        [
            row(None, "bob", "3", "mint", "reported"), row("bob", None, "3", "burn", "reported"),
            row("bob", "bob", None, "merge-split", "reported"), row("bob", "x", "3", "unlock", "reported"),
        ],
    ),
    "version 1 that reports by version 2 counts once": (
        [factory("completed", change("alice", side("1", "SenderSide", "bob")))], [row(amount="3", step="reported")],
    ),
}  # fmt: skip


def by_hand():
    """All of them; arms of the models are reached by them too."""
    return [update(name, place, *nodes) for place, (name, (nodes, _)) in enumerate(CASES.items())]


def test_each_step_is_a_row_with_what_it_states():
    found = lf.token_transfers(frame_of(by_hand()))

    rows = {name: sorted(known(own, *SAID), key=repr) for name, own in found.groupby("update_id")}
    assert rows == {name: sorted(wanted, key=repr) for name, (_, wanted) in CASES.items()}
    assert found.attrs["not_understood"] == {}
    assert known(found[:1], "update_id", "event_id", "record_time", "leg", "instrument_admin", "instrument_id") == [
        ("each outcome", "each outcome:0", pd.Timestamp("2026-01-01 12:00", tz="UTC"), 0, "bank", "GOLD")
    ]
    assert {*found[found.step == "reported"].instrument_admin} == {"bank"}


def test_terms_that_are_not_in_the_step_come_from_the_opening_or_the_coins():
    events = frame_of([update("u", 0, *steps("rent"))])
    opening = opening_of([(f"{choice} rent", INSTRUCTION, RENT) for choice in STEPS])
    assert known(lf.token_transfers(events, opening=opening), *SAID) == [
        row(step=outcome, reason="rent") for outcome in STEPS.values()
    ]

    # The simulated network's transfers state no amount, and not which instrument is the coin.
    made = create("Splice.Amulet:Amulet", "out", coin("bob", "4.0"))
    events = frame_of([update("u", 0, factory("completed", made, instrumentId=None, amount=None))])
    assert known(lf.token_transfers(events), "receiver", "amount", "instrument_admin", "instrument_id") == [
        ("bob", 4, "bank", None)
    ]


def test_what_is_not_understood_is_counted():
    transfer = {"transfer": leg()}, {"output": OUTPUTS["completed"]}
    nodes = [
        exercise(FACTORY, "f", "TransferFactory_PublicFetch", {}, {}, interface=V1),  # which is understood
        exercise(FACTORY, "f", "TransferFactory_Teleport", {}, {}, interface=V1),
        exercise("No:Interface", "f", "TransferFactory_Transfer", *transfer),
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
            "update_id": "u", "kind": "ExercisedTreeEvent", "node_id": number, "last_descendant_node_id": last,
            "contract_id": "f", "template_name": node.template, "choice": node.choice, "interface_id": node.interface,
            "payload": json.dumps(node.arguments), "exercise_result": json.dumps(node.result),
        }
        for number, (last, node) in enumerate(nodes)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(record_time=pd.Timestamp("2025-03-03T09:00Z").as_unit("us"))


def test_the_events_of_ones_own_ledger_are_taken():
    told = change("alice", side("1", "SenderSide", "bob"))
    alone = lf.token_transfers(ledger_frame([(0, factory())]))
    nested = lf.token_transfers(ledger_frame([(1, factory()), (1, told)]))

    assert known(alone, "update_id", "event_id", "amount") == [("u", "u:0", Decimal("7.5"))]
    assert known(nested, "event_id", "amount", "step") == [("u:1", Decimal(3), "reported")]
    # Answers may lack the time, and without one an event would be in no day.
    unknown = pd.to_datetime([None], utc=True).as_unit("us")
    with pytest.raises(lf.errors.InputError, match="1 of 1 have no record_time"):
        lf.token_transfers(ledger_frame([(0, factory())]).assign(record_time=unknown))


def test_a_transaction_of_the_simulated_ledger_is_read(net):
    events = lf.load_events(net, start="begin", progress=False, decimals="exact")
    listed = lf.token_transfers(events)

    found = lf.token_transfers(lf.load_ledger_transaction(net, listed.update_id[0]), decimals="exact")

    direct = set(events[events.choice == "TransferFactory_Transfer"].update_id)
    assert direct
    assert direct <= {*listed.update_id}
    assert list(found.columns) == list(listed.columns)
    other = ["event_id"]  # which servers number differently
    assert found.drop(columns=other).iloc[0].tolist() == listed.drop(columns=other).iloc[0].tolist()
