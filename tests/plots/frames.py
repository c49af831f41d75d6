"""Frames as the loaders and analyses give them, made up for pictures."""

from decimal import Decimal

import numpy as np
import pandas as pd

START = pd.Timestamp("2026-11-01T00:00:00Z").as_unit("us")


def synchronizer(number):
    """Names that share a prefix in pairs, every third one long."""
    name = f"sync-{number // 2}" if number % 3 else f"sync-of-a-consortium-with-a-long-name-{number}"
    return f"{name}::1220{number:02x}" + f"{number * 7919:060x}"


def flows(synchronizers, rows, *, seed=5):
    """Reassignments between so many synchronizers, busier ones first, of every status."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, synchronizers + 1)
    source = rng.choice(synchronizers, rows, p=weights / weights.sum())
    target = (source + rng.integers(1, max(synchronizers, 2), rows)) % synchronizers
    target[::40] = source[::40]
    status = np.where(source == target, "repaired", "completed").astype(object)
    status[1::25] = "in flight"
    status[2::50] = "assigned without unassignment"
    left = pd.Series(START + pd.to_timedelta(np.sort(rng.uniform(0, 86_400, rows)), unit="s")).dt.as_unit("us")
    taken = pd.Series(pd.to_timedelta(np.exp(rng.normal(3, 1, rows)), unit="s")).dt.as_unit("us")
    frame = pd.DataFrame(
        {
            "unassign_id": [f"00{row:04x}" for row in range(rows)],
            "contract_id": [f"00c{row:04x}" for row in range(rows)],
            "template_name": "Iou:Iou",
            "source_synchronizer": [synchronizer(number) for number in source],
            "target_synchronizer": [synchronizer(number) for number in target],
            "reassignment_counter": 1,
            "unassigned_at": left,
            "assigned_at": left + taken,
            "in_flight": taken,
            "status": pd.Series(status, dtype="str"),
        }
    )
    frame.loc[frame.status == "in flight", ["assigned_at", "in_flight"]] = pd.NaT
    frame.loc[frame.status == "assigned without unassignment", ["unassigned_at", "in_flight"]] = pd.NaT
    return frame


def flow(source="a::1220", target="b::1220", status="completed", at="2026-11-01T10:00:00Z", seconds=20.0):
    """One reassignment."""
    left, taken = pd.Timestamp(at), pd.Timedelta(seconds=seconds)
    return {
        "contract_id": "00", "source_synchronizer": source, "target_synchronizer": target, "status": status,
        "unassigned_at": left, "assigned_at": left + taken, "in_flight": taken,
    }  # fmt: skip


def holdings(parties, *, snapshots=1):
    """Summaries: party n holds 100/n unlocked and 10 locked; fees are a hundredth of that, times the snapshot."""
    rows = [
        summary(party(number), 100 / number, 10, step) for step in range(snapshots) for number in range(1, parties + 1)
    ]
    return pd.DataFrame(rows)


def summary(party, unlocked, locked, step):
    """One party's holdings at one snapshot."""
    share = Decimal(step + 1) / 100
    free, bound = round(Decimal(unlocked), 10), round(Decimal(locked), 10)
    return {
        "record_time": START + step * pd.Timedelta("6h"), "migration_id": 4, "computed_as_of_round": 100 + step,
        "party_id": party, "total_unlocked_coin": free, "total_locked_coin": bound, "total_coin_holdings": free + bound,
        "accumulated_holding_fees_unlocked": free * share, "accumulated_holding_fees_locked": bound * share,
        "accumulated_holding_fees_total": (free + bound) * share, "total_available_coin": free - free * share,
    }  # fmt: skip


def updates(rows):
    """Updates, one a second, in turn a transaction, an assignment and an unassignment."""
    return pd.DataFrame(
        {
            "record_time": START + pd.to_timedelta(np.arange(rows), unit="s"),
            "kind": [("transaction", "assignment", "unassignment")[row % 3] for row in range(rows)],
            "synchronizer_id": [synchronizer(row % 4) for row in range(rows)],
        }
    )


def licenses(validators):
    """Licenses as one load gives them: all made anew just now, first rounds ten apart, in no order."""
    order = np.random.default_rng(1).permutation(validators)
    return pd.DataFrame(
        {
            "validator": [f"validator-{number}::1220{number:060x}" for number in order],
            "created_at": START, "first_round": pd.array(1000 + 10 * order, dtype="Int64"),
        }
    )  # fmt: skip


def instruments(count, *, loads=1):
    """Instruments with supplies of 1,000, 2,000 …, a tenth more at every load, a day apart."""
    rows = [
        {
            "instrument_id": f"instrument-{number}", "symbol": f"S{number}",
            "loaded_at": START + pd.Timedelta(days=load),
            "total_supply": Decimal(1000 * (number + 1) * (10 + load)) / 10, "total_supply_as_of": START,
        }
        for load in range(loads)
        for number in range(count)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def party(number):
    """A party id."""
    return f"party-{number}::1220{number:064x}"


def rounds(count, *, first=100):
    """Rounds that mint 400 more each and burn 90 less than half of it; the supply before them is 10,000."""
    minted = [Decimal(1000 + 400 * number) for number in range(count)]
    burned = [one / 2 - 90 for one in minted]
    net = [one - other for one, other in zip(minted, burned, strict=True)]
    return pd.DataFrame(
        {
            "round": range(first, first + count),
            "opened_at": [START + pd.Timedelta("10min") * number for number in range(count)],
            "minted": minted, "burned": burned, "net_change": net, "unexplained": [Decimal(0)] * count,
            "total": [10_000 + sum(net[: number + 1]) for number in range(count)],
        }
    )  # fmt: skip


def issuance(count, *, first=100):
    """Rounds that may issue 1,000, from the middle on 500: a fifth for the fund, half minted, a tenth each the rest."""
    allowed = [Decimal(1000 if number < count / 2 else 500) for number in range(count)]
    return pd.DataFrame(
        {
            "round": range(first, first + count), "amulet_to_issue_per_year": [one * 10_000_000 for one in allowed],
            "allowed": allowed, "allowed_development_fund": [one / 5 for one in allowed],
            "minted": [one / 2 for one in allowed], "expired": [one / 10 for one in allowed],
            "open": [one / 10 for one in allowed],
        }
    )  # fmt: skip


def supply_by_purpose(times):
    """What there is every two hours: 10,000 unlocked and 50 more each time, 1,000 locked for each but one purpose."""
    purposes = ("transfer", "allocation", "payment", "governance", "vesting")
    unlocked = [Decimal(10_000 + 50 * row) for row in range(times)]
    return pd.DataFrame(
        {
            "time": [START + row * pd.Timedelta(hours=2) for row in range(times)], "unlocked": unlocked,
            **{f"locked_{purpose}": [Decimal(1_000)] * times for purpose in purposes},
            "locked_other": [Decimal(0)] * times, "circulating": [one + 3_000 for one in unlocked],
            **{name: [Decimal(500)] * times for name in (
                "unclaimed_rewards", "development_fund_unallocated", "development_fund_allocated")},
        }
    )  # fmt: skip


def rewards(rows, *, parties=3):
    """What happened to rewards, every ten minutes, of four kinds in turn, worth 12 for the first party, 6, 4, 3 …"""
    kinds, events = ("sv", "app", "validator", "validator_faucet"), ("claimed", "claimed", "expired", "created")
    return pd.DataFrame(
        {
            "record_time": START + pd.to_timedelta(10 * np.arange(rows), unit="min"),
            "event": [events[row // 4 % 4] for row in range(rows)],
            "kind": [kinds[row % 4] for row in range(rows)],
            "party": [party(row % parties) for row in range(rows)],
            "coupons": 1,
            "amount": [round(Decimal(12) / (row % parties + 1), 10) for row in range(rows)],
        }
    )


def burns(rows):
    """What updates burned, one an hour: 10 for traffic, 4 for names, and 1 in fees, every third update nothing."""
    return pd.DataFrame(
        {
            "record_time": START + pd.to_timedelta(np.arange(rows), unit="h"),
            **{
                f"burned_{cause}": [Decimal(size if row % 3 < 2 else 0) for row in range(rows)]
                for cause, size in (("traffic", 10), ("names", 4), ("preapprovals", 0), ("fees", 1), ("expiry", 0))
            },
        }
    )


def balances(parties, *, days=1):
    """Party n holds 1000/n at first and 10 more every day, all of it unlocked but 1."""
    rows = [
        {
            "time": START + pd.Timedelta(days=day), "party_id": party(number), "total_unlocked_coin": held - 1,
            "total_locked_coin": Decimal(1), "total_coin_holdings": held, "total_available_coin": held - 2,
        }
        for day in range(days)
        for number in range(1, parties + 1)
        for held in [round(Decimal(1000) / number, 10) + 10 * day]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def transfers(parties, rows):
    """Each party in turn pays the next one; the first pays most, and every tenth payment is to itself."""
    return pd.DataFrame(
        {
            "round": [7 + row // 10 for row in range(rows)],
            "sender": [party(row % parties) for row in range(rows)],
            "receiver": [
                party((row + (1 if (row + 1) % 10 else 0) + row // parties % 3) % parties) for row in range(rows)
            ],
            "amount": [round(Decimal(500) / (row % parties + 1), 10) for row in range(rows)],
        }
    )


def growth(validators):
    """One more validator a day."""
    return pd.DataFrame(
        {
            "time": [START + pd.Timedelta(days=day) for day in range(validators)],
            "new": 1,
            "validators": range(1, validators + 1),
        }
    )


def votes(requests):
    """One every six hours, of every outcome; the last row was opened before the range."""
    outcomes = ("accepted", "rejected", "accepted", "expired", "accepted_but_failed", "accepted", "open")
    opened = [START + row * pd.Timedelta(hours=6) if row < requests - 1 else pd.NaT for row in range(requests)]
    return pd.DataFrame(
        {
            "opened_at": pd.Series(opened).astype("datetime64[us, UTC]"),
            "outcome": [outcomes[row % len(outcomes)] for row in range(requests)],
        }
    )


def price_votes(rows):
    """One every two hours; the price rises slowly, and the votes lie around it."""
    middle = [Decimal("0.005") + Decimal(row) / 100_000 for row in range(rows)]
    return pd.DataFrame(
        {
            "record_time": [START + row * pd.Timedelta(hours=2) for row in range(rows)],
            "median_usd": middle,
            "lowest_usd": [price * Decimal("0.95") for price in middle],
            "highest_usd": [price * Decimal("1.1") for price in middle],
        }
    )


def apps(providers, days):
    """App n claims a part of 1/n each day, more by and by; what the last one claims on the last day is not known."""
    rows = [
        {"time": START + pd.Timedelta(days=day), "provider": party(number),
         "rewards_claimed": Decimal(1000 + 10 * day * number) / number}
        for day in range(days) for number in range(1, providers + 1)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame.loc[len(frame) - 1, "rewards_claimed"] = None
    return frame


def scorecards(validators, days):
    """Validator n has 1/n of the rewards of the first, and buys traffic every fourth day; every fifth misses rounds."""
    return pd.DataFrame(
        {
            "time": START + pd.Timedelta(days=day), "validator": party(number),
            "rounds_reported": 144 - 20 * (number % 5), "rounds_missed": 20 * (number % 5),
            "rewards_app": Decimal(400) / number, "rewards_validator": Decimal(90) / number,
            "rewards_validator_faucet": Decimal(570) / number,
            "rewards_other": Decimal(0), "traffic_paid": Decimal(0 if day % 4 else 300) / number,
        }
        for day in range(days) for number in range(1, validators + 1)
    )  # fmt: skip


def cohorts(weeks):
    """Ten parties and one more a week; of these two less come back each week, and none of the first in its third."""
    return pd.DataFrame(
        {
            "cohort": START - pd.Timedelta(days=6) + pd.Timedelta(days=7 * week), "weeks_after": after,
            "cohort_parties": 10 + week, "parties": max(10 + week - 2 * after, 0) if (week, after) != (0, 3) else 0,
            "whole": week + after < weeks - 1,
        }
        for week in range(weeks) for after in range(weeks - week - 1, -1, -1)
    )  # fmt: skip
