"""Coin that is paid and burned at once: traffic, preapprovals and names pay this way."""

from __future__ import annotations

from typing import Any

from ledgerframes.sandbox.generator.transfers import Output, Payment, Transferred, purse, spendable, transfer
from ledgerframes.sandbox.world.amounts import UNITS
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Simulation
from ledgerframes.sandbox.world.templates import COIN_RULES
from ledgerframes.sandbox.world.transaction import Event, Transaction


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
    for coin in done.created:
        tx.archive(coin, under=under)
    return done


def payment_context(sim: Simulation, open_round: Contract) -> dict[str, Any]:
    """The PaymentTransferContext of a choice that pays with coins alone."""
    return {
        "amuletRules": sim.rules[COIN_RULES.entity].contract_id,
        "context": transfer_context(open_round),
    }


def transfer_context(open_round: Contract) -> dict[str, Any]:
    """The TransferContext of a choice that pays with coins alone."""
    return {
        "openMiningRound": open_round.contract_id,
        "issuingMiningRounds": [],
        "validatorRights": [],
        "featuredAppRight": None,
    }


def app_context(sim: Simulation, open_round: Contract) -> dict[str, Any]:
    """The AppTransferContext of a choice of an app that no feature rewards."""
    rules = sim.rules[COIN_RULES.entity].contract_id
    return {"amuletRules": rules, "openMiningRound": open_round.contract_id, "featuredAppRight": None}
