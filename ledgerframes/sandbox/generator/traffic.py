"""Validators buy the right to send more over the synchronizer; the coin that they pay is burned."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.burning import affordable, burn, transfer_context
from ledgerframes.sandbox.generator.coins import tap
from ledgerframes.sandbox.generator.coupons import coin_for, reward_usage
from ledgerframes.sandbox.generator.summaries import holding_metadata
from ledgerframes.sandbox.generator.transfer_inputs import tagged
from ledgerframes.sandbox.world.amounts import UNITS, decimal, times, units
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES, MEMBER_TRAFFIC
from ledgerframes.sandbox.world.transaction import Transaction

_TOPUP: Final = 200_000
_MEGABYTE: Final = 10**6


def buy_traffic(tx: Transaction, sim: Simulation) -> None:
    """Buy a multiple of the least amount of traffic for a validator's participant."""
    rng = sim.rng
    provider = sim.parties.validators[int(rng.random() ** 2 * len(sim.parties.validators))]
    rules, open_round, amount = sim.rules[COIN_RULES.entity], sim.open_round(), _TOPUP * rng.randrange(1, 8)
    schedule = rules.payload["configSchedule"]["initialValue"]["decentralizedSynchronizer"]["fees"]
    usd = times(amount * UNITS // _MEGABYTE, units(schedule["extraTrafficPrice"]))
    price = coin_for(open_round, usd)
    inputs = affordable(sim, provider, price, open_round)
    if not inputs:
        tap(tx, sim, provider, 2 * price + 50 * UNITS)
        return
    argument = {
        "inputs": [tagged(coin) for coin in inputs],
        "context": transfer_context(open_round),
        "provider": provider,
        "memberId": f"PAR::{provider}",
        "synchronizerId": sim.main,
        "migrationId": str(sim.migration_id),
        "trafficAmount": str(amount),
        "expectedDso": sim.parties.dso,
    }
    event = tx.exercise(rules, "AmuletRules_BuyMemberTraffic", argument, acting=(provider,))
    done = burn(tx, sim, inputs, price, open_round, payer=provider, to_dso=True, reason="traffic purchase", under=event)
    burned = price + done.sums.holding_fees + done.sums.change_fee
    # The transfer inside has rewarded its fees already.
    reward_usage(
        tx,
        sim,
        user=provider,
        provider=None,
        burned=burned - done.sums.burned,
        featured=False,
        open_round=open_round,
        under=event,
    )
    bought = {
        "dso": sim.parties.dso,
        "memberId": f"PAR::{provider}",
        "synchronizerId": sim.main,
        "migrationId": str(sim.migration_id),
        "totalPurchased": str(amount),
        "numPurchases": "1",
        "amuletSpent": decimal(price),
        "usdSpent": decimal(usd),
    }
    traffic = tx.create(MEMBER_TRAFFIC, bought, owner=provider, under=event)
    event["exercise_result"] = {
        "round": open_round.payload["round"],
        "summary": done.result["summary"],
        "amuletPaid": decimal(price),
        "purchasedTraffic": traffic.contract_id,
        "senderChangeAmulet": done.change.contract_id if done.change else None,
        "meta": {"values": holding_metadata("burn", burned=burned, reason="traffic purchase")},
    }
