"""Every arm of a `case` is reached: one that no history takes is dead, or nobody has tried it."""

from __future__ import annotations

import re
from functools import partial

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ledgerframes as lf
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import INPUTS, Engine, below, known, macros, settings_of, steps, text_of
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ
from ledgerframes.tables.history import REASSIGNMENTS
from tests.economics.histories import (
    archive,
    coin,
    create,
    exercise,
    frame_of,
    locked,
    opening_of,
    output,
    result,
    transfer,
    update,
)
from tests.economics.test_reward_flows import with_validators
from tests.economics.test_rewards import ACTIVITY, COUPONS, RULES, SV, UNCLAIMED, V2, second_version
from tests.economics.test_token_transfers import (
    ALLOCATION,
    FACTORY,
    INSTRUCTION,
    KIND,
    change,
    factory,
    interface,
    leg,
    metas,
    side,
)
from tests.models.test_governance_tables import by_hand as governance
from tests.models.test_supply_tables import LOCKED, curve_with, locks
from tests.models.test_validators_and_wallets import by_hand as wallets

AMULET, OPEN = "Splice.Amulet:Amulet", "Splice.Round:OpenMiningRound"
#: What is one thing in SQL: a comment, a text, a word or a bracket.
TOKEN = re.compile(r"--.*|'(?:[^']|'')*'|\w+|[()]")
HOUR = 3_600_000_000
TAKEN = "select sequence_name from duckdb_sequences() where last_value is not null"
CALENDARS = ("week", "month", "quarter", "year")
TEXTS = {name: text_of(name) for name in sorted(known() - {*INPUTS, *READS})}
MACROS = {re.findall(r"macro (\w+)\(", text)[0]: text for text in macros()}


def arms(sql):
    """Where the result of each arm begins and ends."""
    found, opened = set(), []
    for token in TOKEN.finditer(sql):
        word = token[0].lower()
        if word in {"case", "("}:
            opened.append([word, None])
        elif word == ")":
            opened.pop()
        elif word in {"when", "then", "else", "end"} and opened and opened[-1][0] == "case":
            if opened[-1][1] is not None:
                found.add((opened[-1][1], token.start()))
            opened[-1][1] = token.end() if word in {"then", "else"} else None
            if word == "end":
                opened.pop()
    return found


def counting(sql, wanted):
    """The same, which takes a number of an arm's own sequence for each row that takes the arm."""
    added = [(start, f" case when nextval('arm_{start}') is not null then (") for start, _ in wanted]
    for place, text in sorted([*added, *((end, ") end ") for _, end in wanted)], reverse=True):
        sql = sql[:place] + text + sql[place:]
    return sql


def not_reached(engine, run, sql, wanted):
    """Those of some arms that a run of the SQL does not take."""
    for start, _ in wanted:
        engine._connection.execute(f"create or replace temp sequence arm_{start}")
    try:
        run(counting(sql, wanted))
    except duckdb.BinderException:  # a sequence may not be everywhere, such as in the order of a window
        return wanted
    taken = {name for (name,) in engine._connection.execute(TAKEN).fetchall()}
    return {arm for arm in wanted if f"arm_{arm[0]}" not in taken}


def inputs_below(name):
    """The inputs that a model and its steps read."""
    return {lower for step in steps(name) for lower in below(step)} & {*INPUTS}


def computed(engine, name, sql):
    """Have the rows of a model computed, by another text of it."""
    for lower in below(name):
        if lower not in INPUTS:
            engine._build(lower)
    engine._register([name])
    engine._connection.sql(sql).to_arrow_table()


def computed_by(engine, name, macro):
    """Have them computed with another text of a macro."""
    engine._connection.execute(macro)
    computed(engine, name, text_of(name))


def calls(macro, sql):
    """Whether SQL calls a macro, itself or by another one."""
    words = {*re.findall(r"(\w+)\(", sql)} & MACROS.keys()
    return macro in words or any(calls(macro, MACROS[word].partition(") as")[2]) for word in words)


def tokens():
    """Steps of the token standard."""
    spec = {"settlement": {}, "transferLegId": "leg 0", "transferLeg": leg()}
    allocation, instruction = (
        interface(name) for name in ("AllocationV1:Allocation", "TransferInstructionV1:TransferInstruction")
    )
    allocate = exercise(
        FACTORY, "f", "AllocationFactory_Allocate", {"allocation": spec, "extraArgs": {"meta": metas({})}}, {},
        create(ALLOCATION, "a", {"allocation": spec}), interface=interface("AllocationInstructionV1:AllocationFactory"),
    )  # fmt: skip
    ends = [
        exercise(ALLOCATION, "a", f"Allocation_{choice}", {}, {}, interface=allocation)
        for choice in ("ExecuteTransfer", "Cancel", "Withdraw")
    ]
    steps = [
        exercise(INSTRUCTION, "i", f"TransferInstruction_{choice}", {}, {}, interface=instruction)
        for choice in ("Accept", "Reject")
    ]
    legs = [side("1", "ReceiverSide", None), side("2", "SenderSide", None)]
    return [
        update("steps", 10, allocate, *ends, *steps, factory(instrumentId=None), factory(sender=None)),
        update(
            "reports", 20, *(change("bob", one) for one in legs), change("bob"),
            change("bob", side("3", "SenderSide", "x", meta=metas({KIND: "unlock"}))),
        ),
    ]  # fmt: skip


def claim(name, *coupons, app, sv):
    """A payment that claims coupons, of which its summary states these sums."""
    stated = result(inputAppRewardAmount=app, inputSvRewardAmount=sv)
    return update(name, 32, exercise(RULES, "r", "AmuletRules_Transfer", transfer("carol", [], []), stated, *coupons))


def payments():
    """Payments for names, to oneself, and with coupons of which not all is known."""
    known, other = (
        second_version(f"{name} of a validator", kind="RewardKind_Validator") for name in ("one", "another")
    )
    own, name = (
        exercise(RULES, "r", "AmuletRules_Transfer", transfer("alice", [], [output(receiver, "1.0")]), result())
        for receiver in ("alice", "DSO")
    )
    coin_is_gone = exercise(
        "Splice.Wallet.Subscriptions:SubscriptionPayment", "s", "SubscriptionPayment_Collect", {}, {"amulet": "gone"}
    )
    context, (app, terms) = "Splice.Ans:AnsEntryContext", COUPONS["plain"]
    return [
        update(
            "names", 30, own, exercise(context, "n", "AnsEntryContext_CollectInitialEntryPayment", {}, {}, name),
            exercise(context, "n", "AnsEntryContext_CollectEntryRenewalPayment", {}, {}, coin_is_gone),
        ),
        update("coupons", 31, known, other, second_version("app", kind="RewardKind_App"), create(app, "plain", terms)),
        claim("paid", archive(V2, known.contract), archive(V2, "lost"), archive(app, "plain"), app="90.0", sv="1.0"),
        claim("paid again", archive(V2, other.contract), archive(V2, "lost too"), app="1.0", sv="0.0"),
    ]  # fmt: skip


def endings():
    """Coupons that ended in ways of their own."""
    record = {"beneficiary": "carol", "amount": "2.0", "expiresAt": "2026-02-01T00:00:00Z"}
    weighed = {"sv": "sv", "beneficiary": "sv", "round": {"number": 1}, "weight": "1.0"}
    rest = create(UNCLAIMED, "rest", {"amount": "3.0"})
    lone = archive(SV, "lone", "SvRewardCoupon_DsoExpire", {}, {"unclaimedRewardCid": "rest"}, rest)
    made = [create(ACTIVITY, "activity", record), *(create(SV, name, weighed) for name in ("odd", "open"))]
    return [
        update("made", 40, *made),
        update("odd", 41, archive(SV, "odd", "SvRewardCoupon_Melt"), lone),
    ]


def unread():
    """Coin and a pool of it, whose amounts are not written as they are now."""
    coins = (AMULET, coin("alice", "much")), (LOCKED, locked("alice", "much"))
    contracts = (*coins, (UNCLAIMED, {"amount": "much"}))
    return [update("unread", 50, *(create(template, f"unread {template}", terms) for template, terms in contracts))]


def by_hand():
    """Events of what the sandbox does not have."""
    rounds = [create(OPEN, f"r{number}", {"round": {"number": number}}) for number in (1, 9)]
    rules = create(RULES, "rules", {"configSchedule": {"initialValue": curve_with(amulet="0.1.15")}})
    coins = [coin("alice", "2.0", rate="1.0"), coin("alice", "1.5E-8")]
    items = [
        update(
            "first", 0, rules, *rounds, *(create(AMULET, f"coin {number}", terms) for number, terms in enumerate(coins))
        ),
        *tokens(),
        *payments(),
        *endings(),
        *governance(),
        *wallets(),
        *locks(),
        *unread(),
        update("closed", 7_300, archive(OPEN, "r1")),
        update("spent", 14_500, archive(AMULET, "coin 0", "Amulet_Melt")),
        # Between them lies a day without any.
        update("later", 200_000, create("Some.Module:Template", "later", {})),
    ]
    return inputs_of(frame_of(items), opening=opening_of([("old", AMULET, coin("bob", "1.0"))])).gives


def moved():
    """Legs of reassignments that do not fit each other."""
    legs = [
        ("unassignment", "u1", "c", 5, "x", "y"), ("assignment", "u1", "other", 6, "x", "z"),
        ("unassignment", "u1", "c", 5, "x", "y"), ("assignment", "u1", "c", 5, "x", "y"),
        ("unassignment", "u2", "c", 4, "x", "y"), ("unassignment", "u3", "c", 9, "w", "y"),
        ("unassignment", "u4", "c", 9, "v", "y"),
    ]  # fmt: skip
    names = ("kind", "unassign_id", "contract_id", "reassignment_counter", "source_synchronizer", "target_synchronizer")
    noon = pd.Timestamp("2026-01-01 12:00", tz="UTC")
    rows = [
        dict(zip(names, one, strict=True))
        | {"migration_id": 0, "update_id": f"{place}", "record_time": noon + pd.Timedelta(seconds=place)}
        for place, one in enumerate(legs)
    ]
    plain = pa.schema([pa.field(field.name, field.type) for field in REASSIGNMENTS.schema])
    return {"reassignments": lambda *_: pa.Table.from_pylist(rows, plain)}


def dated():
    """Licenses, and the rounds that date them."""
    rows = {
        "licenses": [{"validator": name, "first_round": first} for name, first in (("a", 1), ("b", 2))],
        "known_rounds": [
            {"round": number, "opens_at": pd.Timestamp("2026-01-01", tz="UTC") + pd.Timedelta(hours=number)}
            for number in (1, 3)
        ],
    }
    tables = {name: pa.Table.from_pylist(listed, SNAPSHOTS_READ[name].schema) for name, listed in rows.items()}
    return {name: lambda *_, rows=rows: rows for name, rows in tables.items()}


def late(history):
    """The second half of a history, as if nothing said what was there before."""
    times = pc.sort_indices(history.events["record_time"])
    start = history.events["record_time"][times[len(times) // 2].as_py()]
    return history.events.filter(pc.greater_equal(history.events["record_time"], start))


@pytest.fixture(scope="module")
def histories(net, history, switched_history):
    """What computed tables are given in the tests, and with which settings."""
    whole = history
    rewarded = with_validators(switched_history)
    decided = lf.load_verdicts(net, start="begin", as_="arrow", progress=False).verdicts
    half = late(whole)
    before = lf.active_contracts(whole, at=half["record_time"][0].as_py(), as_="arrow")
    asked = {"days": [*range(20_150, 20_155)], "begun": True, "parties": ["alice"]}
    periods = [{"by_period": True, "by_assigned": True}, *({"by_period": True, "calendar": name} for name in CALENDARS)]
    return [
        (by_hand(), [{"every_us": HOUR}, {"range_known": False}]),
        (moved(), [{}, {"begun": False}]),
        (dated(), [{}]),
        (inputs_of(whole).gives | {"verdicts": lambda *_: decided}, [asked, *periods]),
        (inputs_of(half).gives | {"opening": lambda *_: before}, [{}]),
        (inputs_of(rewarded).gives, [{}]),
        (inputs_of(late(rewarded)).gives, [{}]),
        (inputs_of(whole._replace(events=half)).gives, [{}, {"begun": False}]),
    ]


def test_every_arm_of_a_case_is_reached(histories):
    models, inside = ({name: arms(text) for name, text in texts.items()} for texts in (TEXTS, MACROS))
    for gives, settings in histories:
        there = [name for name in known() - {*INPUTS} if inputs_below(name) <= gives.keys()]
        with Engine(gives) as engine:
            for values in settings:
                engine.set(values)
                for name in [name for name in there if values is settings[0] or settings_of(name)]:
                    if models.get(name):
                        models[name] = not_reached(engine, partial(computed, engine, name), TEXTS[name], models[name])
                    for macro in [macro for macro, left in inside.items() if left and calls(macro, text_of(name))]:
                        run = partial(computed_by, engine, name)
                        inside[macro] = not_reached(engine, run, MACROS[macro], inside[macro])
                        engine._connection.execute(MACROS[macro])

    left = [(name, TEXTS[name][slice(*arm)].strip()) for name, every in models.items() for arm in sorted(every)]
    left += [(name, MACROS[name][slice(*arm)].strip()) for name, every in inside.items() for arm in sorted(every)]
    print(*left, sep="\n")
    assert left == []
