"""`validator_daily` and `wallets_daily`, against the books of the raw items."""

from collections import defaultdict

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import DAY, OPEN, Books, micros
from tests.economics.histories import DSO, WHOLE, archive, create, frame_of, update
from tests.sandbox.economy_books import round_number

LICENSE = "Splice.ValidatorLicense:ValidatorLicense"
PREAPPROVAL, SETUP = "Splice.AmuletRules:TransferPreapproval", "Splice.AmuletRules:ExternalPartySetupProposal"
REPORTS = {
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord", "Splice.ValidatorLicense:ValidatorFaucetCoupon",
}  # fmt: skip
KINDS = {
    "rewards_validator_faucet": ["validator_faucet"], "rewards_app": ["app"], "rewards_validator": ["validator"],
    "rewards_other": ["sv", "unclaimed_activity", "development_fund"],
}  # fmt: skip


@pytest.fixture(scope="module")
def history(switched):
    return lf.load_history(switched, start="begin", progress=False, decimals="exact")


@pytest.fixture(scope="module")
def tables(history):
    """The same, for several tables."""
    with together(history) as inputs:
        yield inputs


@pytest.fixture(scope="module")
def books(history):
    return Books(lf.rebuild_items(history))


def test_a_validators_day_has_the_rounds_that_payloads_say(tables, books):
    reports, missed, last = defaultdict(set), defaultdict(dict), {}
    for life in books.of(*REPORTS):
        reports[life.payload["validator"], life.day].add(round_number(life.payload))
    for life in books.of(LICENSE):
        if state := life.payload["faucetState"]:
            last[life.payload["validator"], life.day] = int(state["lastReceivedFor"]["number"])
            missed[life.payload["validator"]][life.day] = int(state["numCouponsMissed"])

    rows = lf.validator_daily(tables)

    for row in rows.itertuples():
        day, own = micros(row.time) // DAY, missed[row.validator]
        assert row.rounds_reported == len(reports[row.validator, day])
        counted = [number for of_day, number in sorted(own.items()) if of_day <= day]
        before = counted[-2] if len(counted) > 1 else 0
        assert row.rounds_missed == (counted[-1] - before if day in own else 0)
        if (row.validator, day) in last:
            assert row.last_round == last[row.validator, day]
    assert {who for who, reported in reports.items() if reported} == {
        (row.validator, micros(row.time) // DAY) for row in rows.itertuples() if row.rounds_reported
    }


def test_a_validators_day_sums_what_it_claimed_and_what_it_paid_for_traffic(tables):
    rows, flows, bought = lf.validator_daily(tables), lf.reward_flows(tables), lf.traffic_purchases(tables)
    flows = flows[flows.event == "claimed"]
    claimed, purchased = (
        dict(list(table.groupby([table[party], table.record_time.dt.floor("D")])))
        for table, party in ((flows, "party"), (bought, "provider"))
    )

    assert rows.rewards_validator.sum() > 0 < rows.traffic_paid.sum()
    assert sum(rows.rewards_claimed_usd.dropna()) > 0
    for row in rows.itertuples():
        own = claimed.get((row.validator, row.time), flows[:0])
        paid = purchased.get((row.validator, row.time), bought[:0])
        for name, kinds in KINDS.items():
            assert getattr(row, name) == sum(own.amount[own.kind.isin(kinds)]), name
        assert row.rewards_claimed == sum(own.amount)
        usd = own.amount_usd
        assert pd.isna(row.rewards_claimed_usd) if usd.isna().any() else row.rewards_claimed_usd == sum(usd)
        assert (row.traffic_bytes, row.traffic_paid) == (sum(paid.bytes), sum(paid.amount))
        assert row.net == row.rewards_claimed - row.traffic_paid


def test_days_of_a_validator_add_up_to_its_liveness_and_a_silent_one_has_its_days(history, tables, books):
    rows, liveness = lf.validator_daily(tables), lf.validator_liveness(tables).set_index("validator")
    sums = rows.groupby("validator")[["rounds_reported", "rounds_missed"]].sum()

    reported = liveness[liveness.collected.notna()]
    assert sums.rounds_reported[reported.index].to_dict() == reported.collected.to_dict()
    assert sums.rounds_missed[reported.index].to_dict() == reported.missed.to_dict()
    # One that never reported has days, and no figure of its own.
    assert 0 < len(liveness) - len(reported) == (sums == 0).all(axis=1).sum()
    assert rows.groupby("validator").silent_for.last().to_dict() == liveness.silent_for.to_dict()
    for _, days in rows.groupby("validator"):
        assert list(days.time) == list(pd.date_range(days.time.iloc[0], rows.time.max()))
    closing = {round_number(life.payload): pd.Timestamp(life.payload["targetClosesAt"]) for life in books.of(OPEN)}
    end = history.events.record_time.max()
    for row in rows[rows.last_round.notna()].itertuples():
        moment = min(row.time + pd.Timedelta("1D"), end)
        newest = max((number for number, time in closing.items() if time <= moment), default=None)
        if newest is None:
            assert pd.isna(row.silent_for)
        else:
            assert row.silent_for == max(newest - row.last_round, 0)


@pytest.mark.parametrize("function", [lf.validator_daily, lf.wallets_daily])
def test_a_part_with_its_opening_is_the_part_of_the_whole_and_is_refused_without(function, switched, history, tables):
    whole, start = function(tables), history.events.record_time.iloc[0].floor("D") + pd.Timedelta("3D")
    part = lf.load_history(switched, start=start, progress=False, decimals="exact")
    opening = lf.load_opening(switched, at=start)
    with pytest.raises(lf.errors.PartialResultError, match="opening="):
        function(part)

    rows = function(part, opening=opening)
    wanted = whole[whole.time >= start].reset_index(drop=True)
    # Of a claim whose coupon began before, and of the last round that closed before, the part does not know.
    unknown = [name for name in rows if name.endswith("_usd") or name == "silent_for"]
    pd.testing.assert_frame_equal(rows.drop(columns=unknown), wanted.drop(columns=unknown), check_index_type=False)


def test_wallets_are_what_the_contracts_of_preapprovals_say(history, tables, books):
    rows = lf.wallets_daily(tables)
    given, changed = [*books.of(PREAPPROVAL)], defaultdict(set)
    for life in given:
        what = "renewed" if "TransferPreapproval_Renew" in life.above else "created"
        changed[life.payload["provider"], life.day, what].add(life.payload["receiver"])

    assert rows.renewed.sum() > 0
    end = micros(history.events.record_time.max())
    for row in rows.itertuples():
        day = micros(row.time) // DAY
        for what in ("created", "renewed"):
            assert getattr(row, what) == len(changed[row.provider, day, what])
        active = {
            life.payload["receiver"]
            for life in given
            if life.payload["provider"] == row.provider
            and life.day <= day
            and (life.until is None or life.until // DAY > day)
            and micros(life.payload["expiresAt"]) > min((day + 1) * DAY, end)
        }
        assert row.active == len(active)
    assert rows.created.sum() == sum(len(own) for who, own in changed.items() if who[2] == "created")


def preapproval(name, receiver, provider="app", until="2026-03-01T00:00:00Z"):
    """A create."""
    return create(PREAPPROVAL, name, {"dso": DSO, "receiver": receiver, "provider": provider, "expiresAt": until})


def by_hand():
    """Ends of preapprovals and setups of external parties, which the sandbox does not have."""
    proposals = [
        create(SETUP, f"setup {user}", {"validator": "val", "user": user, "dso": DSO})
        for user in ("erin", "frank", "grace", "heidi")
    ]
    short = preapproval("p3", "carol", until="2026-01-02T00:00:00Z")
    return [
        update("w0", 60, preapproval("p0", "alice"), preapproval("p1", "bob"), short, *proposals),
        update("w1", 61, archive(SETUP, "setup erin", "ExternalPartySetupProposal_Accept", {}, {},
                                 preapproval("p4", "erin", "val"))),
        update("w2", 62, archive(SETUP, "setup frank", "ExternalPartySetupProposal_Reject"),
               archive(SETUP, "setup grace", "ExternalPartySetupProposal_Withdraw")),
        update("w3", 90_000,
               archive(PREAPPROVAL, "p0", "TransferPreapproval_Renew", {}, {}, preapproval("p5", "alice")),
               archive(PREAPPROVAL, "p1", "TransferPreapproval_Cancel", {"p": "bob"}),
               archive(PREAPPROVAL, "p3", "TransferPreapproval_Expire")),
        update("w4", 180_000, archive(PREAPPROVAL, "p5", "Archive")),
    ]  # fmt: skip


def test_wallets_by_hand():
    rows = lf.wallets_daily(frame_of(by_hand(), **WHOLE))

    columns = ["created", "renewed", "cancelled", "expired", "active"]
    setups = ["setups_proposed", "setups_accepted", "setups_rejected", "setups_withdrawn"]
    found = {(row.time.day, row.provider): [row[name] for name in columns] for _, row in rows.iterrows()}
    # Carol's had run out at the end of its first day, and stayed until the next.
    assert found == {
        (1, "app"): [3, 0, 0, 0, 2], (1, "val"): [1, 0, 0, 0, 1], (2, "app"): [0, 1, 1, 1, 1],
        (2, "val"): [0, 0, 0, 0, 1], (3, "app"): [0, 0, 1, 0, 0], (3, "val"): [0, 0, 0, 0, 1],
    }  # fmt: skip
    assert rows[rows.provider == "val"][setups].to_numpy().tolist() == [[4, 1, 1, 1], [0] * 4, [0] * 4]
    assert list(rows.whole) == [True] * 4 + [False] * 2


@pytest.mark.parametrize("function", [lf.network_daily, lf.validator_daily, lf.wallets_daily])
def test_days_too_far_apart_have_no_rows_between_them(function):
    """A ledger may state any time; a row for each day of thousands of years is of no use to anybody."""
    made = [
        preapproval("p0", "alice", until="9999-12-31T00:00:00Z"),
        create(LICENSE, "l0", {"validator": "val", "sponsor": "sv"}),
    ]
    items = [update("far0", 0, *made), update("far1", 120_000 * 86_400, create("A:A", "a", {}))]

    assert len(function(frame_of(items, **WHOLE))) == 2
