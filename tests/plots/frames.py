"""Frames as the loaders and analyses give them, made up for pictures."""

from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd

START = pd.Timestamp("2026-11-01T00:00:00Z").as_unit("us")


def synchronizer(number):
    """Names that share a prefix in pairs, every third one long."""
    name = f"sync-{number // 2}" if number % 3 else f"sync-of-a-consortium-with-a-long-name-{number}"
    return f"{name}::1220{number:02x}" + f"{number * 7919:060x}"


def flows(synchronizers, rows):
    """Reassignments between so many synchronizers, busier ones first, of every status."""
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, synchronizers + 1)
    source = rng.choice(synchronizers, rows, p=weights / weights.sum())
    target = (source + rng.integers(1, max(synchronizers, 2), rows)) % synchronizers
    target[::40] = source[::40]
    left = START + pd.to_timedelta(np.sort(rng.uniform(0, 86_400, rows)), unit="s").as_unit("us")
    taken = pd.to_timedelta(np.exp(rng.normal(3, 1, rows)), unit="s").as_unit("us")
    frame = pd.DataFrame(
        {
            "source_synchronizer": map(synchronizer, source), "target_synchronizer": map(synchronizer, target),
            "unassigned_at": left, "assigned_at": left + taken, "in_flight": taken,
            "status": np.where(source == target, "repaired", "completed"), "contract_id": map(str, range(rows)),
        }
    )  # fmt: skip
    for first, every, status, unknown in ((1, 25, "in flight", "assigned_at"),
                                          (2, 50, "assigned without unassignment", "unassigned_at")):  # fmt: skip
        frame.loc[first::every, "status"] = status
        frame.loc[first::every, [unknown, "in_flight"]] = pd.NaT
    return frame


def holdings(parties, *, snapshots=1):
    """Summaries: party n holds 100/n unlocked and 10 locked; fees are a hundredth of that, times the snapshot."""
    return pd.DataFrame(
        {
            "record_time": START + step * pd.Timedelta("6h"), "computed_as_of_round": 100 + step,
            "party_id": party(number), "total_unlocked_coin": free, "total_locked_coin": Decimal(10),
            "accumulated_holding_fees_unlocked": free * (step + 1) / 100,
            "accumulated_holding_fees_locked": Decimal(step + 1) / 10,
        }
        for step, number in product(range(snapshots), range(1, parties + 1))
        for free in [round(Decimal(100 / number), 10)]
    )  # fmt: skip


def updates(rows):
    """Updates, one a second, in turn a transaction, an assignment and an unassignment."""
    kinds = ("transaction", "assignment", "unassignment")
    return over(rows, "1s", kind=lambda row: kinds[row % 3], synchronizer_id=lambda row: synchronizer(row % 4))


def over(rows, step, when="record_time", **columns):
    """A row per step of time, of columns that are made from its number."""
    frame = pd.DataFrame({name: [make(row) for row in range(rows)] for name, make in columns.items()})
    frame.insert(0, when, START + pd.to_timedelta(step) * np.arange(rows))
    return frame


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
    return pd.DataFrame(
        {
            "instrument_id": f"instrument-{number}", "symbol": f"S{number}",
            "loaded_at": START + pd.Timedelta(days=load),
            "total_supply": Decimal(1000 * (number + 1) * (10 + load)) / 10, "total_supply_as_of": START,
        }
        for load, number in product(range(loads), range(count))
    )  # fmt: skip


def party(number):
    """A party id."""
    return f"party-{number}::1220{number:064x}"


def rounds(count, *, first=100):
    """Rounds that mint 400 more each and burn 90 less than half of it; the supply before them is 10,000."""
    minted = [Decimal(1000 + 400 * number) for number in range(count)]
    net = np.array([one - (one / 2 - 90) for one in minted])
    return over(
        count, "10min", "opened_at", round=lambda row: first + row, minted=lambda row: minted[row],
        burned=lambda row: minted[row] / 2 - 90, net_change=lambda row: net[row], unexplained=lambda _: Decimal(0),
        total=lambda row: 10_000 + sum(net[: row + 1]),
    )  # fmt: skip


def issuance(count, *, first=100):
    """Rounds that may issue 1,000, from the middle on 500: a fifth for the fund, half minted, a tenth each the rest."""
    allowed = [Decimal(1000 if number < count / 2 else 500) for number in range(count)]
    parts = {"amulet_to_issue_per_year": 10_000_000, "allowed": 1, "allowed_development_fund": Decimal("0.2"),
             "minted": Decimal("0.5"), "expired": Decimal("0.1"), "open": Decimal("0.1")}  # fmt: skip
    amounts = {name: [one * part for one in allowed] for name, part in parts.items()}
    return pd.DataFrame({"round": range(first, first + count), **amounts})


def supply_by_purpose(times):
    """What there is every two hours: 10,000 unlocked and 50 more each time, 1,000 locked for each but one purpose."""
    sizes = {**dict.fromkeys(("transfer", "allocation", "payment", "governance", "vesting"), 1_000), "other": 0}
    pools = ("unclaimed_rewards", "development_fund_unallocated", "development_fund_allocated")
    return over(times, "2h", "time", unlocked=lambda row: Decimal(10_000 + 50 * row)).assign(
        **{f"locked_{purpose}": [Decimal(size)] * times for purpose, size in sizes.items()},
        circulating=lambda rows: rows.unlocked + 3_000, **dict.fromkeys(pools, Decimal(500)),
    )  # fmt: skip


def rewards(rows, *, parties=3):
    """What happened to rewards, every ten minutes, of four kinds in turn, worth 12 for the first party, 6, 4, 3 …"""
    kinds, events = ("sv", "app", "validator", "validator_faucet"), ("claimed", "claimed", "expired", "created")
    return over(
        rows, "10min", event=lambda row: events[row // 4 % 4], kind=lambda row: kinds[row % 4],
        party=lambda row: party(row % parties), coupons=lambda _: 1,
        amount=lambda row: round(Decimal(12) / (row % parties + 1), 10),
    )  # fmt: skip


def burns(rows):
    """What updates burned, one an hour: 10 for traffic, 4 for names, and 1 in fees, every third update nothing."""
    sizes = {"traffic": 10, "names": 4, "preapprovals": 0, "fees": 1, "expiry": 0}
    causes = {f"burned_{cause}": lambda row, size=size: Decimal(size if row % 3 < 2 else 0)
              for cause, size in sizes.items()}  # fmt: skip
    return over(rows, "1h", **causes)


def balances(parties, *, days=1):
    """Party n holds 1000/n at first and 10 more every day, all of it unlocked but 1."""
    return pd.DataFrame(
        {
            "time": START + pd.Timedelta(days=day), "party_id": party(number), "total_unlocked_coin": held - 1,
            "total_locked_coin": Decimal(1), "total_coin_holdings": held, "total_available_coin": held - 2,
        }
        for day, number in product(range(days), range(1, parties + 1))
        for held in [round(Decimal(1000) / number, 10) + 10 * day]
    )  # fmt: skip


def transfers(parties, rows):
    """Each party in turn pays the next one; the first pays most, and every tenth payment is to itself."""
    return pd.DataFrame(
        {
            "round": 7 + row // 10, "sender": party(row % parties),
            "receiver": party((row + (1 if (row + 1) % 10 else 0) + row // parties % 3) % parties),
            "amount": round(Decimal(500) / (row % parties + 1), 10),
        }
        for row in range(rows)
    )  # fmt: skip


def growth(validators):
    """One more validator a day."""
    return over(validators, "1D", "time", new=lambda _: 1, validators=lambda row: row + 1)


def votes(requests):
    """One every six hours, of every outcome; the last row was opened before the range."""
    outcomes = ("accepted", "rejected", "accepted", "expired", "accepted_but_failed", "accepted", "open")
    frame = over(requests, "6h", "opened_at", outcome=lambda row: outcomes[row % len(outcomes)])
    return frame.assign(opened_at=frame.opened_at.where(frame.index < requests - 1))


def price_votes(rows):
    """One every two hours; the price rises slowly, and the votes lie around it."""
    middle = [Decimal("0.005") + Decimal(row) / 100_000 for row in range(rows)]
    spread = {"median_usd": 1, "lowest_usd": Decimal("0.95"), "highest_usd": Decimal("1.1")}
    return over(rows, "2h", **{name: lambda row, by=by: middle[row] * by for name, by in spread.items()})


def apps(providers, days):
    """App n claims a part of 1/n each day, more by and by; what the last one claims on the last day is not known."""
    frame = pd.DataFrame(
        {
            "time": START + pd.Timedelta(days=day), "provider": party(number),
            "rewards_claimed": Decimal(1000 + 10 * day * number) / number,
        }
        for day, number in product(range(days), range(1, providers + 1))
    )  # fmt: skip
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
