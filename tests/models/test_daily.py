"""Tables of days and weeks, against the events read another way, the books of raw items and other models."""

from collections import defaultdict
from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.economics.books import DAY, OPEN, micros
from tests.economics.histories import WHOLE, frame_of, known
from tests.economics.items import DSO, archive, create, exercise, update
from tests.economics.payments import RULES, output, paid, result
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
def history(twelve_days_history):
    return twelve_days_history


@pytest.fixture(scope="module")
def days(tables):
    return lf.network_daily(tables).set_index("time")


def acted(history, floor):
    """The parties that acted, by interval."""
    parties = defaultdict(set)
    for time, acting in history.events.select(["record_time", "acting_parties"]).to_pandas().itertuples(index=False):
        parties[floor(time)].update(() if acting is None else acting)
    return parties


def test_a_day_has_the_updates_and_parties_of_its_events(history, days):
    updates = history.updates.to_pandas()
    kinds = updates.assign(day=updates.record_time.dt.floor("D")).groupby("day").kind
    assert days.updates[days.updates > 0].to_dict() == kinds.size().to_dict()
    assert days.transactions.sum() == (updates.kind == "transaction").sum()
    assert days.reassignments.sum() == len(history.reassignments)
    assert list(days.index) == list(pd.date_range(days.index[0], days.index[-1], freq="D"))

    parties, known = acted(history, lambda time: time.floor("D")), set()
    for day in days.index:
        recent = [parties[day - pd.Timedelta(days=back)] for back in range(30)]
        row = days.loc[day]
        assert row.active_parties == len(parties[day])
        assert row.new_parties == len(parties[day] - known)
        assert row.returning_parties == len(parties[day] & known)
        assert row.active_7d == len(set().union(*recent[:7]))
        assert row.active_30d == len(set().union(*recent))
        known |= parties[day]
    assert days.new_parties.sum() == len(known)


def test_a_day_sums_the_models(tables, days):
    coin, flows, bought = lf.mint_burn(tables), lf.reward_flows(tables), lf.traffic_purchases(tables)
    paid = lf.movements(tables).query("kind == 'transfer_in'")
    minted = coin.filter(like="minted_").sum(axis=1)
    burned = coin.filter(like="burned_").sum(axis=1)
    sums = {
        "minted": (coin, minted), "burned": (coin, burned), "net_change": (coin, coin.net_change),
        "fees": (coin, coin.burned_fees), "unexplained": (coin, coin.unexplained), "paid": (paid, paid.amount),
        "rewards_claimed": (flows, flows.amount.where(flows.event == "claimed", Decimal(0))),
        "traffic_bytes": (bought, bought.bytes), "traffic_paid": (bought, bought.amount),
        "burned_usd": (coin, valued(tables, coin, burned)),
        "minted_usd": (coin, valued(tables, coin, minted)),
    }  # fmt: skip
    for name, (table, values) in sums.items():
        wanted = values.groupby(table.record_time.dt.floor("D")).sum()
        assert days[name][days[name] != 0].to_dict() == wanted[wanted != 0].to_dict(), name
    payments = paid.groupby(paid.record_time.dt.floor("D")).size()
    assert days.payments[days.payments > 0].to_dict() == payments.to_dict()
    created = lf.rewards(tables).query("kind == 'app'")
    apps = created.groupby(created.created_at.dt.floor("D")).provider.nunique()
    assert days.apps[days.apps > 0].to_dict() == apps.to_dict()


def valued(tables, coin, amounts):
    """Each amount at the price that its update states, else of its round, else of the round that opened last."""
    rounds = lf.round_history(tables)
    by_round = dict(zip(rounds["round"], rounds.amulet_price_usd, strict=True))
    values = []
    for row, amount in zip(coin.itertuples(), amounts, strict=True):
        opened = rounds[rounds.opens_at <= row.record_time].sort_values("opens_at").amulet_price_usd
        price = row.amulet_price_usd or by_round.get(row.round) or opened.iloc[-1]
        values.append((amount * price).quantize(Decimal("1E-10")))
    return pd.Series(values)


def test_a_part_says_which_days_its_ends_cut_and_how_far_back_it_reaches(twelve_days, days):
    start, end = days.index[1] + pd.Timedelta("5h"), days.index[12]  # which leaves the day before it whole
    part = lf.load_history(twelve_days, start=start, end=end, progress=False, decimals="exact")
    rows = lf.network_daily(part, opening=lf.load_opening(twelve_days, at=start)).set_index("time")

    assert rows.whole.to_list() == [False, *[True] * 10]
    assert rows.new_parties.isna().all()
    assert rows.active_7d.isna().to_list() == [True] * 7 + [False] * 4
    assert rows.active_7d[7:].to_list() == days.active_7d[rows.index[7:]].to_list()


def test_an_apps_day_sums_its_coupons_and_apps_share_what_was_claimed(tables):
    apps, coupons, flows = lf.app_daily(tables), lf.rewards(tables), lf.reward_flows(tables)
    coupons, flows = (table[table.kind == "app"] for table in (coupons, flows))
    claimed, expired = (coupons[coupons.outcome == outcome] for outcome in ("claimed", "expired"))
    priced = flows[flows.event == "claimed"]
    by_day = apps.set_index(["time", "provider"])
    created, ended, paid = (
        (coupons, "created_at", "beneficiary"), (claimed, "ended_at", "beneficiary"), (priced, "record_time", "party"),
    )  # fmt: skip
    gone = (expired, "ended_at", "beneficiary")
    for name, (rows, time, party), amount in (
        ("coupons_created", created, 1), ("coupons_claimed", ended, 1), ("coupons_expired", gone, 1),
        ("activity_weight", created, coupons.weight), ("rewards_claimed", ended, claimed.amount),
        ("rewards_claimed_usd", paid, priced.amount_usd), ("rewards_expired", gone, expired.amount),
    ):  # fmt: skip
        wanted = rows.assign(summed=amount).groupby([rows[time].dt.floor("D"), party]).summed.sum()
        there = by_day[name][by_day[name] != 0]
        assert {*there.index} == {*wanted[wanted != 0].index} != set(), name
        # What expired together is rounded once.
        assert (abs(there - wanted[there.index]) <= (Decimal("1E-6") if "expired" in name else 0)).all(), name

    for _, day in apps.groupby("time"):
        total = sum(day.rewards_claimed)
        shares = [(one / total).quantize(Decimal("1E-10")) if total else None for one in day.rewards_claimed]
        assert day.share.to_list() == shares


def test_an_app_has_the_users_and_the_burn_of_its_payments():
    """0.56 and 0.1 in fees, 6 for traffic, its output's fee in that, 0.04 besides, 3 for a preapproval; at 0.005 USD.
    Who pays itself is no user, and who only buys is no application."""
    sent, fees = [output("bob", "1.0", "0.5"), output("alice", "2.0")], {"outputFees": ["0.3", "0.2"]}
    done, member = result(senderChangeFee="0.04") | {"amuletPaid": "6.0"}, {"memberId": "PAR::x", "trafficAmount": "1"}
    bought = (
        exercise(
            RULES,
            "r",
            "AmuletRules_BuyMemberTraffic",
            member | {"provider": who},
            done,
            paid(outputs=[output(DSO, "6.0")], outputFees=["0.9"], sender=who, provider=who),
        )
        for who in ("app", "gas")
    )
    renewal = {"provider": "app", "amuletPaid": "3.0", "transferResult": result()}
    rows = lf.app_daily(frame_of([
        update("a", 0, paid(outputs=sent, holdingFees="0.05", senderChangeFee="0.01", **fees)),
        update("b", 1, paid(outputs=[output("bob", "1.0"), output("carol", "1.0")], outputFees=["0.1", "0.0"])),
        update("c", 2, *bought, archive(PREAPPROVAL, "p", "TransferPreapproval_Renew", {}, renewal)),
        update("d", 86_400, paid(outputs=[output("bob", "1.0")], outputFees=["0.4"])),
    ], **WHOLE))  # fmt: skip

    assert known(rows, "provider", "users", "burned", "burned_usd") == [
        ("app", 2, Decimal("9.7"), Decimal("0.0485")), ("app", 1, Decimal("0.4"), Decimal("0.002")),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:network_daily. the verdicts do not show")
def test_private_transactions_are_verdicts_without_an_update(history, twelve_days, days):
    names = ["private_transactions", "rejected_requests", "median_traffic_cost"]
    verdicts = lf.load_verdicts(twelve_days, start="begin", progress=False).verdicts
    verdicts.loc[::3, ["result", "total_traffic_cost"]] = ["VERDICT_RESULT_REJECTED", 0]  # costs no transaction
    accepted, rejected = (verdicts[verdicts.result == f"VERDICT_RESULT_{how}"] for how in ("ACCEPTED", "REJECTED"))
    unseen = accepted[~accepted.update_id.isin(history.updates["update_id"].to_pylist())]
    of_day = [rows.groupby(rows.record_time.dt.floor("D")) for rows in (unseen, rejected, accepted)]
    costs = of_day[2].total_traffic_cost.apply(lambda costs: sorted(costs)[(len(costs) - 1) // 2])

    found = lf.network_daily(history, verdicts=verdicts).set_index("time")

    for name, rows in zip(names, (of_day[0].size(), of_day[1].size(), costs), strict=True):
        assert found[name][found[name].fillna(0) > 0].to_dict() == rows.to_dict()
    assert found.drop(columns=names).equals(days.drop(columns=names))
    assert days[names].isna().all(axis=None)
    # Of a day that began before them, or ended after them, they would count too few.
    start, end = (days.index[place] + pd.Timedelta("5h") for place in (3, 6))
    part = lf.load_verdicts(twelve_days, start=start, end=end, progress=False)
    known = lf.network_daily(history, verdicts=part).set_index("time")[names].notna()
    assert known[known.any(axis=1)].index.to_list() == [*days.index[4:6]]
    with pytest.warns(lf.errors.IncompleteFiguresWarning, match="do not show of which range they are all"):
        assert lf.network_daily(history, verdicts=rejected)[names].isna().all(axis=None)
    foreign = part.verdicts.assign(update_id=part.verdicts.update_id + "-")
    for wrong, why in ((pd.concat([verdicts, rejected]), "twice"), (foreign, "none of which is in the history")):
        with pytest.raises(lf.errors.InputError, match=why):
            lf.network_daily(history, verdicts=wrong)


def test_parties_of_a_week_act_again(history, tables):
    weeks = lf.retention(tables)
    monday = acted(history, lambda time: (time - pd.Timedelta(days=time.weekday())).floor("D"))
    known, cohorts = set(), {}
    for week in sorted(monday):
        cohorts[week] = monday[week] - known
        known |= monday[week]

    assert weeks.cohort_parties[weeks.weeks_after == 0].sum() == len(known)
    for row in weeks.itertuples():
        assert row.cohort_parties == len(cohorts[row.cohort])
        assert row.parties == len(cohorts[row.cohort] & monday[row.cohort + pd.Timedelta(weeks=row.weeks_after)])
    assert set(weeks.whole) == {True, False}
    last = max(monday)
    assert set(weeks.cohort) == {week for week in cohorts if cohorts[week]}
    assert (weeks.cohort + pd.to_timedelta(weeks.weeks_after * 7, unit="D") <= last).all()


def test_which_week_is_a_partys_first_is_not_guessed(history, twelve_days):
    start = history.updates["record_time"][100].as_py()
    part, opening = lf.load_history(twelve_days, start=start, progress=False), lf.load_opening(twelve_days, at=start)
    for options in ({}, {"opening": opening}):
        with pytest.raises(lf.errors.PartialResultError, match="acted before"):
            lf.retention(part, **options)


def test_a_validators_day_has_the_rounds_that_payloads_say(history, tables, books):
    reports, missed, last = defaultdict(set), defaultdict(dict), {}
    for life in books.of(*REPORTS):
        reports[life.payload["validator"], life.day].add(round_number(life.payload))
    for life in books.of(LICENSE):
        if state := life.payload["faucetState"]:
            last[life.payload["validator"], life.day] = int(state["lastReceivedFor"]["number"])
            missed[life.payload["validator"]][life.day] = int(state["numCouponsMissed"])
    closing = {round_number(life.payload): pd.Timestamp(life.payload["targetClosesAt"]) for life in books.of(OPEN)}
    end = max(history.events["record_time"].to_pylist())

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


def test_a_validators_day_sums_what_it_claimed_and_what_it_paid_for_traffic(switched_history):
    """Of validators' own rewards, too, which the other twelve days have none of."""
    with together(switched_history) as tables:
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
    if function is lf.network_daily:  # of events alone, which do not show what was reassigned
        assert rows[["updates", "reassignments"]].isna().all(axis=None)
        assert list(rows.transactions) == [1, 1]
