"""`issuance` and `supply_by_purpose` against the raw events, read another way, and what no history has, by hand."""

import json
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import IncompleteFiguresWarning
from ledgerframes.models.computing import together
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import inputs_of
from tests.economics.books import OPEN, POOLS, RULES, UNCLAIMED, UNCLAIMED_FUND, Books, micros
from tests.economics.histories import WHOLE, frame_of, opening_of
from tests.economics.items import archive, create, update
from tests.economics.payments import coin, locked
from tests.replay import read_capture
from tests.sandbox.economy_books import COIN, LOCKED, allowed_by, round_number, rounded

HELD = ("unlocked", *(f"locked_{purpose}" for purpose in
                      ("transfer", "allocation", "payment", "governance", "vesting", "other")))  # fmt: skip


@pytest.fixture(scope="module")
def history(twelve_days_history):
    return twelve_days_history


def assert_allowed(books, rows):
    """Whether the rows say what the raw rounds allow."""
    rounds = {round_number(life.payload): life.payload for life in books.of(OPEN)}
    assert list(rows.index) == sorted(rounds)
    for number, opened in rounds.items():
        row, tick = rows.loc[number], int(opened["tickDuration"]["microseconds"])
        pools = (row.allowed_validator, row.allowed_app, row.allowed_development_fund, row.allowed_sv)
        assert (row.allowed, *pools) == allowed_by(opened["issuanceConfig"], tick)
        assert row.allowed_usd == rounded(row.allowed * Decimal(opened["amuletPrice"]))


def test_what_the_curve_allows_is_in_the_raw_rounds(books, tables):
    rows = lf.issuance(tables).set_index("round")

    assert_allowed(books, rows)
    assert {*rows.next_step_round.isna()} == {True, False}
    # What a round says of the next step is what that round is allowed, once it is there.
    allowed = [column for column in rows if column.startswith("allowed") and f"next_{column}" in rows]
    told = rows[rows.next_step_round.isin(rows.index)]
    assert len(told)
    assert told[[f"next_{column}" for column in allowed]].to_numpy().tolist() == (
        rows.loc[told.next_step_round, allowed].to_numpy().tolist()
    )


@pytest.mark.usefixtures("captures")
def test_what_the_curve_allows_is_in_the_rounds_of_a_captured_page():
    books = Books(json.loads(read_capture("scan-updates-page").reply.body)["transactions"])

    assert_allowed(books, lf.issuance(frame_of(books.items, **WHOLE)).set_index("round"))


def test_what_became_of_a_rounds_coupons_is_in_the_raw_events(books, tables):
    minted, expired, left = books.coupons()

    rows = lf.issuance(tables).set_index("round")

    assert min(map(len, (minted, expired, left))) > 2
    price = {round_number(life.payload): Decimal(life.payload["amuletPrice"]) for life in books.of(OPEN)}
    for number, row in rows.iterrows():
        assert (row.minted, row.expired) == (minted[number], expired[number])
        assert (None if pd.isna(row.open) else row.open) == left.get(number)
        assert (row.minted_usd, row.expired_usd) == tuple(
            rounded(amount * price[number]) for amount in (row.minted, row.expired)
        )
        assert pd.isna(row.allowed_featured_app) or (
            row.allowed_featured_app + row.allowed_unfeatured_app - row.allowed_app < Decimal("1e-6")
        )
    by_round = lf.supply_per_round(tables).set_index("round").burned
    assert rows.burned[rows.burned != 0].to_dict() == by_round[by_round != 0].to_dict()
    assert rows.whole.to_dict() == lf.round_history(tables).set_index("round").whole.to_dict()
    sums = rows[[name for name in rows if f"cumulative_{name}" in rows]].cumsum()
    assert sums.add_prefix("cumulative_").equals(rows[[f"cumulative_{name}" for name in sums]])


def rules_with(*steps):
    """The coin's rules with later steps of the curve, each so many rounds after the first and a coin per year."""
    return {"configSchedule": {"initialValue": curve_with(*steps)}}


def curve_with(*steps, amulet="0.1.14"):
    """A configuration of the coin with its issuance curve and the package that it names."""
    first, *future = [{"_1": {"microseconds": str(after * 600_000_000)}, "_2": {"amuletToIssuePerYear": coin}}
                      for after, coin in ((0, "31536000000.0"), *steps)]  # fmt: skip
    curve = {"initialValue": first["_2"], "futureValues": future}
    return {"issuanceCurve": curve, "packageConfig": {"amulet": amulet}}


def opens(number, *, tick="600000000"):
    """An open round; the curve lets 1 coin a microsecond be issued in a year of ticks."""
    return create(OPEN, f"r{number}", {
        "round": {"number": str(number)}, "amuletPrice": "0.5", "opensAt": "2026-01-01T12:00:00Z",
        "issuingFor": {"microseconds": str(number * 600_000_000)}, "tickDuration": {"microseconds": tick},
        "issuanceConfig": {"amuletToIssuePerYear": "31536000000.0"},
    })  # fmt: skip


def test_the_next_step_is_that_of_the_rules_that_held_when_a_round_opened():
    history = [
        update("g1", 0, opens(7)),
        update("g2", 10, create(RULES, "new", rules_with((9, "3.0"), (8, "2.0")))),
        update("g3", 20, opens(8)),
        update("g4", 30, opens(9), opens(10, tick="0"), create(RULES, "odd", rules_with((11, "more"), (12, "1.0")))),
    ]
    opening = opening_of([("old", RULES, rules_with((7, "5.0"), (30, "4.0")))])

    rows = lf.issuance(frame_of(history), opening=opening)

    assert rows.next_step_round.fillna(0).to_list() == [30, 9, 0, 0]
    assert rows.next_amulet_to_issue_per_year.to_list() == [Decimal(4), Decimal(3), None, None]
    assert rows.next_step_at[0] == pd.Timestamp("2026-01-01T12:00Z") + 23 * pd.Timedelta("10min")
    assert rows.allowed.to_list() == [Decimal(600_000), Decimal(600_000), Decimal(600_000), 0]
    assert rows.attrs["not_understood"] == {"Splice.AmuletRules:AmuletRules: _2.amuletToIssuePerYear": 1}


def test_a_configuration_for_later_brings_the_next_step_too():
    later = [
        {"_1": "2026-01-01T12:10:00Z", "_2": curve_with((40, "4.0"))},
        {"_1": "2026-01-01T12:35:00Z", "_2": curve_with((9, "8.0"), (40, "4.0"))},
        {"_1": "2026-01-01T13:00:00Z", "_2": curve_with((9, "2.0"))},
    ]
    rules = {"configSchedule": {**rules_with((30, "3.0"))["configSchedule"], "futureValues": later}}

    rows = lf.issuance(frame_of([
        update("g0", 0, opens(6)), update("g1", 1, create(RULES, "rules", rules)), update("g2", 2, opens(7)),
    ]))  # fmt: skip

    # The second begins between two rounds, so it holds for the next of them; the first round had no rules yet.
    assert rows.next_step_round.fillna(0).to_list() == [0, 11]
    assert rows.next_amulet_to_issue_per_year[1] == Decimal(8)
    assert rows.next_step_at[1] == pd.Timestamp("2026-01-01T12:40Z")


#: The package that a configuration names, from when on one names 0.1.15, and the fund's share of 600,000. Rounds
#: begin to issue 10 s apart from 12:00:02 on, but for the last, which opens at 12:00:00.
SHARES = [
    ("0.1.14", None, 0), ("0.1.15", None, 30_000), ("0.2.0", None, 30_000), ("unnamed", None, 0),
    ("0.1.14", "12:00:42.000001", 0), ("0.1.14", "12:00:52", 30_000), ("0.1.14", "12:00:00", 30_000),
]  # fmt: skip


def test_a_share_of_the_development_fund_that_is_not_stated_is_that_of_the_package():
    """The releases since amulet 0.1.15 give the fund 5 %; a configuration names its package from its moment on."""
    history = []
    for place, (amulet, later, _) in enumerate(SHARES):
        change = [] if later is None else [{"_1": f"2026-01-01T{later}Z", "_2": curve_with(amulet="0.1.15")}]
        step = curve_with((30, "63072000000.0"), amulet=amulet)
        rules = {"configSchedule": {"initialValue": step, "futureValues": change}}
        issuing = create("Splice.Round:IssuingMiningRound", f"issuing {place}", {"round": {"number": str(place)}})
        history += [update(f"g{place}", 10 * place, create(RULES, f"rules {place}", rules), opens(place))]
        history += [update(f"h{place}", 10 * place + 2, issuing)]

    rows = lf.issuance(frame_of(history[:-1]))

    for (_, later, fund), row in zip(SHARES, rows.itertuples(), strict=True):
        assert (row.allowed_development_fund, row.allowed_sv) == (fund, 600_000 - fund)
        if later is None:
            assert (row.next_allowed_development_fund, row.next_allowed_sv) == (2 * fund, 1_200_000 - 2 * fund)


def test_supply_by_purpose_is_that_of_the_raw_contracts(books, tables):
    rows = lf.supply_by_purpose(tables, every="12h")

    names = [*HELD, *POOLS.values(), "development_fund_spent"]
    for place, row in rows.iterrows():
        sums, price = books.stocks(micros(row.time))
        assert [row[name] for name in names] == [sums[name] for name in names]
        assert [row[f"{name}_usd"] for name in names] == [rounded(sums[name] * price) for name in names]
        assert row.total == sum(row[name] for name in HELD)
        assert row.circulating == sum(row[name] for name in HELD[:4])
        if place in (len(rows) // 2, len(rows) - 1):
            (supply,) = lf.supply(tables, at=row.time).itertuples()
            assert (row.unlocked, row.total) == (supply.unlocked, supply.total)
    # Payments are locked for some minutes.
    assert [name for name in names if not rows[name].any()] == ["locked_allocation", "locked_payment"]


def locks():
    """Locked coins, 1 for the first purpose and twice as much for each after it, by who names them or what they say."""

    def locked(name, amount, context=None):
        lock = {"holders": ["bob"], "expiresAt": "2026-02-01T00:00:00Z", "optContext": context}
        return create(LOCKED, name, {"amulet": coin("alice", f"{amount}.0"), "lock": lock})

    def allocation(meta):
        return {"lockedAmulet": meta or "allocated", "allocation": {"meta": {"values": {"cip-105/type": meta}}}}

    second = "AmuletAllocationV2:AmuletAllocationV2"
    names = {
        "aggregateLock": second, "vestingLock": second,
        "instruction": "AmuletTransferInstruction:AmuletTransferInstruction",
        "governed": "GovernanceLock:GovernanceLock", "vested": "GovernanceLock:VestingLock",
    }  # fmt: skip
    words = (
        "transfer to 'bob'", "allocation for settlement of a trade", "amulet-payment-request: bread",
        "Unlocking from supporting SV rights for one", "Locked to support Featured App party app", "misc",
    )  # fmt: skip
    allocated = "Splice.AmuletAllocation:AmuletAllocation"
    named = [
        node
        for place, (name, template) in enumerate(names.items())
        for node in (
            locked(name, 2**place, "misc"),
            create(f"Splice.{template}", f"of {name}", allocation(name) if "Allocation" in template
                   else {"lockedAmulet": name}),
        )
    ]  # fmt: skip
    return [
        update("l1", 2, *named, locked("allocated", 32), create(allocated, "a", allocation(None))),
        update("l2", 3, *(locked(word, 64 * 2**place, word) for place, word in enumerate(words)), locked("none", 4096)),
        update("l3", 64, archive(LOCKED, "governed", "LockedAmulet_UnlockV2"), archive(UNCLAIMED, "u"),
               create(UNCLAIMED, "v", {"amount": "7.0"}), create(UNCLAIMED_FUND, "f", {"amount": "3.0"})),
        update("l4", 65, create(UNCLAIMED, "brief", {"amount": "9.0"})),
        update("l5", 66, archive(UNCLAIMED, "brief")),
    ]  # fmt: skip


def test_what_locks_are_for_is_told_by_who_names_them_else_by_what_they_say():
    opening = opening_of([("u", UNCLAIMED, {"amount": "5.0"}), ("c", COIN, coin("bob", "8192.0"))])

    rows = lf.supply_by_purpose(frame_of(locks()), every="1min", opening=opening)

    assert rows.unclaimed_rewards.to_list() == [5, 7]
    assert rows.development_fund_unallocated.to_list() == [0, 3]
    assert rows[[*HELD]].to_numpy().tolist() == [
        [8192, 4 + 64, 32 + 128, 256, 1 + 8 + 1024, 2 + 16 + 512, 2048 + 4096],
        [8192, 4 + 64, 32 + 128, 256, 1 + 1024, 2 + 16 + 512, 2048 + 4096],
    ]
    assert rows.total_usd.isna().all()


def test_amounts_are_not_known_while_a_contract_of_theirs_cannot_be_read():
    """A newer release may write an amount in another way: such coin is not 0. In a star too, days before are known."""
    day = 86_400
    events = frame_of([
        update("u1", 0, create(COIN, "one", coin("alice", "1.0")), create(UNCLAIMED, "pool", {"amount": "5.0"})),
        update("u2", day, create(LOCKED, "lock", locked("alice", "much"))),
        update("u3", 2 * day, archive(LOCKED, "lock"), create(COIN, "other", coin("bob", "more"))),
        update("u4", 3 * day, archive(COIN, "other"), archive(UNCLAIMED, "pool"),
               create(UNCLAIMED, "new", {"amount": 7})),
        update("u5", 4 * day - 1, archive(UNCLAIMED, "new")),
    ], **WHOLE)  # fmt: skip

    rows = lf.supply_by_purpose(events, every="1D")

    names = ["unlocked", "locked_transfer", "locked_other", "circulating", "total", "unclaimed_rewards"]
    known = rows[names].astype(object).where(rows[names].notna(), None)
    assert known.to_numpy().tolist() == [
        [1, 0, 0, 1, 1, 5], [1, None, None, None, None, 5], [None, 0, 0, None, None, 5], [1, 0, 0, 1, 1, None],
        [1, 0, 0, 1, 1, 0],
    ]  # fmt: skip
    with Engine(inputs_of(events).gives) as engine:
        of_days = [tuple(row.values())[2:] for row in engine.rows("fact_supply_daily").to_pylist()]
    assert of_days == [(1, 0, 1), (1, None, None), (None, 0, None), (1, 0, 1), (1, 0, 1)]
    supplies = [lf.supply(events, at=time, as_="arrow").to_pylist()[0] for time in rows.time[1:3]]
    assert [(one["unlocked"], one["locked"], one["total"]) for one in supplies] == of_days[1:3]
    with pytest.warns(IncompleteFiguresWarning, match="leaves out 2 contracts of coin that it cannot read"):
        lf.balances_over_time(events, every="1D")
    opening = opening_of([("old", COIN, coin("bob", "more"))])
    later = frame_of([update("g", 0, opens(7)), update("h", 1, create(COIN, "one", coin("ann", "1.0")))])
    with together(later, opening=opening) as opened:
        assert lf.supply_per_round(opened).total.isna().all()
        assert lf.supply(opened)[["unlocked", "total"]].isna().all(axis=None)
