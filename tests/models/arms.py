"""Counts which arms of a `case` of the models are taken, and the histories that take them."""

import re
from itertools import product

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

import ledgerframes as lf
from ledgerframes.models.declared_reads import READS
from ledgerframes.models.engine import INPUTS, kind_of, known, macros, text_of
from ledgerframes.models.inputs import inputs_of
from ledgerframes.tables.from_snapshots import SNAPSHOTS_READ
from tests.analysis import test_flows as flows
from tests.economics import test_mint_burn as burns
from tests.economics import test_rewards as rewards
from tests.economics import test_token_transfers as tokens
from tests.economics.histories import frame_of, opening_of
from tests.economics.items import archive, create, exercise, update
from tests.economics.payments import coin, locked, output, paid
from tests.economics.test_reward_flows import with_validators
from tests.models import test_daily as daily
from tests.models import test_governance_tables as governance
from tests.models import test_supply_tables as supply
from tests.sandbox.economy_books import COIN, LOCKED

OPEN = "Splice.Round:OpenMiningRound"
#: What is one thing in SQL: a comment, a text, a word or a bracket.
TOKEN = re.compile(r"--.*|'(?:[^']|'')*'|\w+|[()]")
HOUR = 3_600_000_000
TAKEN = "select sequence_name from duckdb_sequences() where last_value is not null"
CALENDARS = ("week", "month", "quarter", "year")
MODELS = {name: text_of(name) for name in sorted(known() - {*INPUTS, *READS})}
MACROS = {re.search(r"macro (\w+)\(", text)[1]: text for text in macros()}


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


class Counting:
    """Makes the steps of models with texts that count which arms of a `case` are taken.

    Attributes:
        left: by model or macro, the arms that no step has taken, by a sequence of each.
    """

    def __init__(self):
        self.counted = False
        texts = {**MODELS, **MACROS}
        self.left = {name: {f"arm_{name}_{arm[0]}": arm for arm in arms(text)} for name, text in texts.items()}

    def text(self, name, sql):
        """The same SQL, which takes a number of an arm's sequence for each row that takes the arm."""
        added = []
        for sequence, (start, end) in self.left.get(name, {}).items():
            added += [(start, f" case when nextval('{sequence}') is not null then ("), (end, ") end ")]
        for place, text in sorted(added, reverse=True):
            sql = sql[:place] + text + sql[place:]
        return sql

    def make(self, engine, order):
        """Make steps, in their order, and take what they take."""
        run = engine._connection.execute
        for sequence in (one for own in self.left.values() for one in own):
            run(f"create or replace temp sequence {sequence}")
        engine._register(order)
        for step in order:
            for counted, sql in product((True, False), (self.text(step, text_of(step)), text_of(step))):
                self.define(run, counted=counted)
                try:
                    run(f"create temp {kind_of(step)} {step} as {sql}")
                    engine._connection.sql(f"from {step}").to_arrow_table()
                    break
                except duckdb.BinderException:  # a sequence may not be everywhere, such as in the order of a window
                    run(f"drop {kind_of(step)} if exists {step}")
            engine._built[step] = kind_of(step)
        self.define(run, counted=False)
        taken = {name for (name,) in run(TAKEN).fetchall()}
        self.left = {name: {one: own[one] for one in own.keys() - taken} for name, own in self.left.items()}

    def define(self, run, *, counted):
        """Define the macros with arms that are left."""
        if counted != self.counted:
            run(";".join(self.text(name, sql) if counted else sql for name, sql in MACROS.items() if self.left[name]))
            self.counted = counted

    def wants(self, name):
        """Whether a model, or a macro that it calls itself, has arms that are left."""
        return self.left[name] or any(self.left[macro] and f"{macro}(" in MODELS[name] for macro in MACROS)


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
    rounds = [create(OPEN, f"r{number}", {"round": {"number": number}}) for number in (1, 8, 9)]
    rounds.append(create("Splice.Round:ClosedMiningRound", "no coupons", rewards.CLOSED | {"round": {"number": "8"}}))
    rules = {"configSchedule": {"initialValue": supply.curve_with(amulet="0.1.15")}}
    coins = [coin("alice", "2.0", rate="1.0"), coin("alice", "1.5E-8")]
    # Amounts that are not written as they are now.
    unread = (COIN, coin("alice", "much")), (LOCKED, locked("alice", "much")), (rewards.UNCLAIMED, {"amount": "much"})
    collected = exercise("Splice.Wallet.Subscriptions:S", "s", "SubscriptionPayment_Collect", {}, {"amulet": "gone"})
    renewed = exercise(burns.CONTEXT, "n", "AnsEntryContext_CollectEntryRenewalPayment", {}, {}, collected)
    items = [
        update("first", 0, create(rewards.RULES, "rules", rules), *rounds,
               *(create(COIN, f"coin {number}", terms) for number, terms in enumerate(coins))),
        *tokens.by_hand(), *burns.by_hand(), *coupons(), *governance.by_hand(), *daily.by_hand(), *supply.locks(),
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


def histories(net, history, switched_history):
    """What computed tables are given in the tests, and with which settings."""
    rewarded = with_validators(switched_history)
    decided = lf.load_verdicts(net, start="begin", as_="arrow", progress=False).verdicts
    opening = lf.active_contracts(frame_of(supply.locks()), opening="nothing", as_="arrow")
    half = inputs_of(rewarded._replace(events=late(rewarded))).gives | {"opening": lambda *_: opening}
    asked = {"begun": True, "parties": ["alice"]}
    periods = [{"by_period": True, "by_assigned": True}, *({"by_period": True, "calendar": name} for name in CALENDARS)]
    return [
        (by_hand(), [{"every_us": HOUR}, {"range_known": False}]),
        ({"reassignments": lambda *_: pa.Table.from_pandas(flows.legs_of(*flows.LEGS))}, [{}, {"begun": False}]),
        (dated(), [{}]),
        (inputs_of(history).gives | {"verdicts": lambda *_: decided}, [asked, *periods]),
        (inputs_of(rewarded).gives, [{}]),
        (half, [{}, {"begun": False}]),
    ]
