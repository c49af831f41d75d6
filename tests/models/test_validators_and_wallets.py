"""`validator_daily` and `wallets_daily`, against the books of the raw items."""

from collections import defaultdict

import pandas as pd
import pyarrow.compute as pc
import pytest

import ledgerframes as lf
from tests.economics.books import DAY, OPEN, micros
from tests.economics.histories import WHOLE, frame_of
from tests.economics.items import DSO, archive, create, update
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
def history(switched_history):
    return switched_history


def test_a_validators_day_has_the_rounds_that_payloads_say(history, tables, books):
    reports, missed, last = defaultdict(set), defaultdict(dict), {}
    for life in books.of(*REPORTS):
        reports[life.payload["validator"], life.day].add(round_number(life.payload))
    for life in books.of(LICENSE):
        if state := life.payload["faucetState"]:
            last[life.payload["validator"], life.day] = int(state["lastReceivedFor"]["number"])
            missed[life.payload["validator"]][life.day] = int(state["numCouponsMissed"])
    closing = {round_number(life.payload): pd.Timestamp(life.payload["targetClosesAt"]) for life in books.of(OPEN)}
    end = pc.max(history.events["record_time"]).as_py()

    rows = lf.validator_daily(tables)

    for row in rows.itertuples():
        day, own = micros(row.time) // DAY, missed[row.validator]
        assert row.rounds_reported == len(reports.pop((row.validator, day), ()))
        counted = [number for of_day, number in sorted(own.items()) if of_day <= day]
        before = counted[-2] if len(counted) > 1 else 0
        assert row.rounds_missed == (counted[-1] - before if day in own else 0)
        if (row.validator, day) in last:
            assert row.last_round == last[row.validator, day]
        closed = [number for number, time in closing.items() if time <= min(row.time + pd.Timedelta("1D"), end)]
        silent = None if pd.isna(row.last_round) or not closed else max(max(closed) - row.last_round, 0)
        assert (None if pd.isna(row.silent_for) else row.silent_for) == silent
    assert not any(reports.values())
    # Days add up, and one that never reported has days, but no figure of its own.
    liveness = lf.validator_liveness(tables).set_index("validator")
    reported, sums = liveness.collected.dropna(), rows.groupby("validator")[["rounds_reported"]].sum().rounds_reported
    assert sums[sums > 0].to_dict() == reported.to_dict()
    assert len(sums) == len(liveness) > len(reported)
    for _, days in rows.groupby("validator"):
        assert list(days.time) == list(pd.date_range(days.time.iloc[0], rows.time.max()))


def test_a_validators_day_sums_what_it_claimed_and_what_it_paid_for_traffic(tables):
    rows, flows, bought = lf.validator_daily(tables), lf.reward_flows(tables), lf.traffic_purchases(tables)
    flows = flows[flows.event == "claimed"]
    claimed, purchased = (
        dict(list(table.groupby([table[party], table.record_time.dt.floor("D")])))
        for table, party in ((flows, "party"), (bought, "provider"))
    )

    assert rows.rewards_validator.sum() > 0 < rows.traffic_paid.sum()
    for row in rows.itertuples():
        own = claimed.get((row.validator, row.time), flows[:0])
        paid = purchased.get((row.validator, row.time), bought[:0])
        for name, kinds in KINDS.items():
            assert getattr(row, name) == sum(own.amount[own.kind.isin(kinds)]), name
        usd = own.amount_usd
        assert pd.isna(row.rewards_claimed_usd) if usd.isna().any() else row.rewards_claimed_usd == sum(usd)
        assert (row.traffic_bytes, row.traffic_paid) == (sum(paid.bytes), sum(paid.amount))
        assert row.net == row.rewards_claimed - row.traffic_paid == sum(own.amount) - sum(paid.amount)


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

    rows = function(frame_of(items, **WHOLE))
    assert len(rows) == 2
    if function is lf.network_daily:  # of events alone
        assert rows[["transactions", "reassignments"]].to_numpy().tolist() == [[1, 0], [1, 0]]
