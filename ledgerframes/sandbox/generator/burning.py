"""Coin that is paid and burned at once, for traffic and preapprovals; genesis and the activities call it."""

from __future__ import annotations

from typing import Final

from ledgerframes.sandbox.generator.coins import tap
from ledgerframes.sandbox.generator.coupons import coin_for, reward_usage, tagged
from ledgerframes.sandbox.generator.summaries import holding_metadata
from ledgerframes.sandbox.generator.transfers import (
    Output,
    Payment,
    Transferred,
    payment_context,
    purse,
    spendable,
    transfer,
    transfer_context,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, divided, times, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import MEMBER_TRAFFIC, PREAPPROVAL
from ledgerframes.sandbox.world.timestamps import DAY


def affordable(sim: Simulation, owner: str, amount: int, open_round: Contract) -> list[Contract]:
    """Coins of a party that cover an amount and its fees; none if it has too few."""
    inputs = purse(sim, owner, 12)
    return inputs if spendable(inputs, open_round) >= amount else []


def burn(
    tx: Transaction,
    sim: Simulation,
    inputs: list[Contract],
    amount: int,
    open_round: Contract,
    *,
    payer: str,
    to_dso: bool,
    reason: str,
    under: Event,
) -> Transferred:
    """Transfer an amount and archive the new coin.

    Args:
        tx: the transaction being written.
        sim: the ledger.
        inputs: coins of the payer that suffice.
        amount: in ten-billionths.
        open_round: the round that determines fees and price.
        payer: the paying party.
        to_dso: it goes to the organization, which bears the fee from it, as for traffic; else it comes back to the
            payer, which bears the fee besides, as for a preapproval.
        reason: the purpose.
        under: the exercise it follows from.
    """
    output = Output(sim.parties.dso if to_dso else payer, amount, ratio=UNITS if to_dso else 0)
    payment = Payment(open_round, reason=reason, app_rewards=False)
    done = transfer(tx, sim, inputs, [output], payment, sender=payer, under=under)
    tx.archive(*done.created, under=under)
    return done


_TOPUP: Final = 200_000
_MEGABYTE: Final = 10**6


def buy_traffic(tx: Transaction, sim: Simulation) -> None:
    """Buy a multiple of the least amount of traffic for a validator's participant."""
    rng = sim.rng
    provider = sim.parties.validators[int(rng.random() ** 2 * len(sim.parties.validators))]
    rules, open_round, amount = sim.coin_rules, sim.open_round(), _TOPUP * rng.randrange(1, 8)
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
    reward_usage(tx, provider, None, burned - done.sums.burned, open_round, event, featured=False)
    bought = {
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


LIFETIME: Final = 90 * DAY

# About one USD a year.
_FEE_PER_DAY: Final = 27_400_000


def preapprove(tx: Transaction, sim: Simulation, receiver: str) -> bool:
    """Let a party accept any coin it is sent, for ninety days; returns whether its provider could pay for it."""
    provider, open_round = sim.parties.validators[0], sim.rounds[0]
    until = timestamps.trimmed(sim.now + LIFETIME)
    price = _price(open_round, LIFETIME)
    inputs = affordable(sim, provider, price, open_round)
    if not inputs:
        return False
    argument = {
        "context": payment_context(sim, open_round),
        "inputs": [tagged(coin) for coin in inputs],
        "receiver": receiver,
        "provider": provider,
        "expiresAt": until,
        "expectedDso": sim.parties.dso,
    }
    acting = tuple(dict.fromkeys((receiver, provider)))
    choice = "AmuletRules_CreateTransferPreapproval"
    event = tx.exercise(sim.coin_rules, choice, argument, acting=acting)
    result = _paid(tx, inputs, price, open_round, provider=provider, under=event)
    begin = timestamps.trimmed(sim.now)
    payload = {
        "receiver": receiver,
        "provider": provider,
        "validFrom": begin,
        "lastRenewedAt": begin,
        "expiresAt": until,
    }
    event["exercise_result"] = {
        "transferPreapprovalCid": tx.create(PREAPPROVAL, payload, under=event).contract_id,
        **result,
    }
    return True


def change_preapproval(tx: Transaction, sim: Simulation) -> None:
    """Consent for a party that has not, or renew the oldest consent."""
    # One of the busiest never consents, so that both cases are easy to find.
    receiver = sim.parties.people_but(sim.rng, sim.parties.people[0])
    provider = sim.parties.validators[0]
    consent = sim.one(PREAPPROVAL, receiver)
    if consent is None:
        if not preapprove(tx, sim, receiver):
            tap(tx, sim, provider, 5_000 * UNITS)
        return
    open_round, price = sim.rounds[0], _price(sim.rounds[0], LIFETIME)
    inputs = affordable(sim, provider, price, open_round) if consent.payload["provider"] == provider else []
    if not inputs:
        tap(tx, sim, provider, 5_000 * UNITS)
        return
    until = timestamps.trimmed(timestamps.parse(consent.payload["expiresAt"]) + LIFETIME)
    argument = {
        "context": payment_context(sim, open_round),
        "inputs": [tagged(coin) for coin in inputs],
        "newExpiresAt": until,
    }
    event = tx.exercise(consent, "TransferPreapproval_Renew", argument, acting=(provider,), consuming=True)
    result = _paid(tx, inputs, price, open_round, provider=provider, under=event)
    payload = {**consent.payload, "lastRenewedAt": timestamps.trimmed(sim.now), "expiresAt": until}
    renewed = tx.create(PREAPPROVAL, payload, under=event).contract_id
    parties = {"receiver": receiver, "provider": provider}
    event["exercise_result"] = {"transferPreapprovalCid": renewed, **parties, **result}


def _paid(
    tx: Transaction, inputs: list[Contract], price: int, open_round: Contract, *, provider: str, under: Event
) -> dict[str, object]:
    """Burn the price; the members of the result that are about it."""
    reason = "transfer preapproval"
    done = burn(tx, tx.sim, inputs, price, open_round, payer=provider, to_dso=False, reason=reason, under=under)
    meta = holding_metadata("burn", burned=price + done.sums.burned, reason=reason)
    return {"transferResult": done.result, "amuletPaid": decimal(price), "meta": {"values": meta}}


def _price(open_round: Contract, lifetime: int) -> int:
    return coin_for(open_round, divided(_FEE_PER_DAY * lifetime, DAY * UNITS))
