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
from tests.analysis import test_flows as flows
from tests.economics import test_mint_burn as burns
from tests.economics import test_rewards as rewards
from tests.economics import test_token_transfers as tokens
from tests.economics.histories import (
    archive,
    coin,
    create,
    exercise,
    frame_of,
    locked,
    opening_of,
    output,
    paid,
    update,
)
from tests.economics.test_reward_flows import with_validators
from tests.models import test_governance_tables as governance
from tests.models import test_supply_tables as supply
from tests.models import test_validators_and_wallets as wallets
from tests.sandbox.economy_books import COIN, LOCKED

OPEN = "Splice.Round:OpenMiningRound"
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


def coupons():
    """Coupons that ended in ways of their own, and claims of which not all is known."""
    names = ("paid", "paid again", "lost", "lost too")
    known = [rewards.second_version(name, kind="RewardKind_Validator") for name in names]
    weighed = {"sv": "sv", "beneficiary": "sv", "round": {"number": 1}, "weight": "1.0"}
    rest = create(rewards.UNCLAIMED, "rest", {"amount": "3.0"})
    lone = archive(rewards.SV, "lone", "SvRewardCoupon_DsoExpire", {}, {"unclaimedRewardCid": "rest"}, rest)
    app = rewards.second_version("app", kind="RewardKind_App")
    plain = archive(rewards.APP, "plain")
    first, second, lost, other = (archive(rewards.V2, name) for name in names)
    return [
        rewards.MADE, rewards.ISSUED, rewards.claimed(*rewards.CLAIMED, **rewards.STATED),
        update("made", 40, *known[:2], app, *(create(rewards.SV, name, weighed) for name in ("odd", "open"))),
        update("odd", 41, archive(rewards.SV, "odd", "SvRewardCoupon_Melt"), lone),
        rewards.claimed(first, lost, plain, name="one", inputAppRewardAmount="90.0", inputSvRewardAmount="1.0"),
        rewards.claimed(second, other, name="two", inputAppRewardAmount="1.0"),
    ]  # fmt: skip


def by_hand():
    """Events of what the sandbox does not have."""
    rounds = [create(OPEN, f"r{number}", {"round": {"number": number}}) for number in (1, 9)]
    rules = {"configSchedule": {"initialValue": supply.curve_with(amulet="0.1.15")}}
    coins = [coin("alice", "2.0", rate="1.0"), coin("alice", "1.5E-8")]
    # Amounts that are not written as they are now.
    unread = (COIN, coin("alice", "much")), (LOCKED, locked("alice", "much")), (rewards.UNCLAIMED, {"amount": "much"})
    collected = exercise("Splice.Wallet.Subscriptions:S", "s", "SubscriptionPayment_Collect", {}, {"amulet": "gone"})
    renewed = exercise(burns.CONTEXT, "n", "AnsEntryContext_CollectEntryRenewalPayment", {}, {}, collected)
    items = [
        update("first", 0, create(rewards.RULES, "rules", rules), *rounds,
               *(create(COIN, f"coin {number}", terms) for number, terms in enumerate(coins))),
        *tokens.by_hand(), *burns.by_hand(), *coupons(), *governance.by_hand(), *wallets.by_hand(), *supply.locks(),
        update("self", 49, paid(outputs=[output("alice", "1.0")])),
        update("unread", 50, renewed, *(create(template, f"unread {template}", terms) for template, terms in unread)),
        update("closed", 7_300, archive(OPEN, "r1")),
        update("spent", 14_500, archive(COIN, "coin 0", "Amulet_Melt")),
        # Between them lies a day without any.
        update("later", 200_000, create("Some.Module:Template", "later", {})),
    ]  # fmt: skip
    return inputs_of(frame_of(items), opening=opening_of([("old", COIN, coin("bob", "1.0"))])).gives


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
        ({"reassignments": lambda *_: pa.Table.from_pandas(flows.legs_of(*flows.LEGS))}, [{}, {"begun": False}]),
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
