"""The transfer at the heart of the coin: inputs are consumed, fees taken, outputs and change made, usage rewarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.generator.configuration import Fees, fees_of
from ledgerframes.sandbox.generator.coupons import consume_coupon, issuing_rounds, reward_usage, rights_of, tagged
from ledgerframes.sandbox.generator.summaries import Balances, Sums
from ledgerframes.sandbox.world.amounts import decimal, spelled, times, units
from ledgerframes.sandbox.world.contracts import Contract, round_of
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import COIN, FEATURED_RIGHT, LOCKED_COIN

Payload = dict[str, Any]

# The share of the inputs available to outputs: the highest transfer fee is one in a hundred.
_LEFT_OF_FEES: Final = (100, 101)


class Output(NamedTuple):
    """One output.

    Attributes:
        units: its amount in ten-billionths, before the receiver's share of the fee.
        ratio: the share of its fee taken from its amount, in ten-billionths: all of it for coin that is burned at once.
        lock: a TimeLock, or None.
    """

    receiver: str
    units: int
    ratio: int = 0
    lock: Payload | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    """The circumstances of a transfer, apart from its inputs and outputs.

    Attributes:
        open_round: the round that determines fees and price.
        provider: the app that gets the reward for it; empty for the sender.
        reason: the sender's stated reason.
        app_rewards: whether the app is rewarded; burning rewards the validator alone.
    """

    open_round: Contract
    provider: str = ""
    reason: str = ""
    app_rewards: bool = True


class Transferred(NamedTuple):
    """The result of a transfer.

    Attributes:
        created: the outputs' contracts.
        change: the sender's change, if any is left.
        result: the TransferResult.
        sums: its amounts in ten-billionths.
    """

    created: list[Contract]
    change: Contract | None
    result: Payload
    sums: Sums


def purse(sim: Simulation, owner: str, most: int) -> list[Contract]:
    """Some of a party's coins on the main synchronizer, the oldest first."""
    return list(islice(sim.world.contracts.free(COIN, sim.main, owner).values(), most))


def spendable(inputs: Sequence[Contract], open_round: Contract, *, outputs: int = 1) -> int:
    """The maximum total of a number of outputs, whatever fees they pay; not above zero if there is too little."""
    fees, sums = fees_of(open_round), Sums()
    for coin in inputs:
        count_coin(sums, Balances(), coin, fees, open_round)
    left = sums.available - (outputs + 1) * (fees.create + fees.lock_holder)
    part, whole = _LEFT_OF_FEES
    return left * part // whole if fees.charged else left


def transfer(
    tx: Transaction,
    sim: Simulation,
    inputs: Sequence[Contract],
    outputs: Sequence[Output],
    payment: Payment,
    *,
    sender: str,
    under: Event | None = None,
) -> Transferred:
    """Exercise AmuletRules_Transfer.

    Args:
        tx: the transaction being written.
        sim: the ledger.
        inputs: coins of the sender, and coupons that it may claim in a round that is issuing.
        outputs: the outputs and their owners; the inputs must suffice.
        payment: the round that determines fees, and who is rewarded.
        sender: whose transfer it is.
        under: the exercise it follows from.
    """
    open_round, provider = payment.open_round, payment.provider or sender
    fees, sums, balances = fees_of(open_round), Sums(), Balances()
    featured = sim.one(FEATURED_RIGHT, provider)
    coupons = [coin for coin in inputs if coin.template is not COIN]
    argument = {
        "transfer": {
            "sender": sender,
            "provider": provider,
            "inputs": [tagged(coin) for coin in inputs],
            "outputs": [_written(output) for output in outputs],
            "beneficiaries": None,
        },
        "context": {
            "openMiningRound": open_round.contract_id,
            "issuingMiningRounds": issuing_rounds(sim, coupons),
            "validatorRights": rights_of(sim, coupons),
            "featuredAppRight": featured.contract_id if featured else None,
        },
        "expectedDso": sim.parties.dso,
    }
    holders = [holder for output in outputs if output.lock for holder in output.lock["holders"]]
    acting = sorted({sender, provider, *(output.receiver for output in outputs), *holders})
    event = tx.exercise(sim.coin_rules, "AmuletRules_Transfer", argument, acting=acting, under=under)
    for coin in inputs:
        if coin.template is COIN:
            count_coin(sums, balances, coin, fees, open_round)
            tx.archive(coin, under=event)
        else:
            consume_coupon(tx, sim, coin, sums, under=event)
    made = [after_fees(output, fees, sums, sender=sender) for output in outputs]
    settle_change(sums, made, fees)
    rewarded = provider if payment.app_rewards else None
    reward_usage(tx, sender, rewarded, sums.burned, open_round, event, featured=featured is not None)
    created = [
        make_coin(tx, output.receiver, amount, open_round, event, lock=output.lock, balances=balances)
        for output, (amount, _) in zip(outputs, made, strict=True)
    ]
    change = make_coin(tx, sender, sums.change, open_round, event, balances=balances) if sums.change else None
    to_others = any(output.receiver != sender for output in outputs)
    kind = "transfer" if to_others else "merge-split"
    event["exercise_result"] = {
        "round": open_round.payload["round"],
        "summary": sums.record(balances, price=open_round.payload["amuletPrice"]),
        "createdAmulets": [
            {"tag": _TAGS[contract_id.template.entity], "value": contract_id.contract_id} for contract_id in created
        ],
        "senderChangeAmulet": change.contract_id if change else None,
        "meta": sums.metadata(kind, sender=sender if to_others else "", reason=payment.reason),
    }
    return Transferred(created, change, event["exercise_result"], sums)


def make_coin(
    tx: Transaction,
    owner: str,
    amount: int,
    open_round: Contract,
    under: Event,
    *,
    lock: Payload | None = None,
    balances: Balances | None = None,
) -> Contract:
    """Create a coin of an open round, locked or not."""
    terms = {
        "initialAmount": decimal(amount),
        "createdAt": open_round.payload["round"],
        "ratePerRound": {"rate": spelled(fees_of(open_round).holding)},
    }
    if balances is not None:
        balances.add(terms, owner, 1)
    return put_coin(tx, {"dso": tx.sim.parties.dso, "owner": owner, "amount": terms}, under, lock=lock)


def put_coin(tx: Transaction, payload: Payload, under: Event, *, lock: Payload | None = None) -> Contract:
    """Create a coin of given terms, locked or not."""
    if lock is None:
        return tx.create(COIN, payload, under=under)
    return tx.create(LOCKED_COIN, {"amulet": payload, "lock": lock}, under=under)


_TAGS: Final = {COIN.entity: "TransferResultAmulet", LOCKED_COIN.entity: "TransferResultLockedAmulet"}


def _written(output: Output) -> Payload:
    return {
        "receiver": output.receiver,
        "receiverFeeRatio": decimal(output.ratio) if output.ratio else spelled(0),
        "amount": decimal(output.units),
        "lock": output.lock,
    }


def _terms(coin: Contract) -> Payload:
    payload = coin.payload["amulet"] if coin.template is LOCKED_COIN else coin.payload
    return {"owner": payload["owner"], **payload["amount"]}


def count_coin(sums: Sums, balances: Balances, coin: Contract, fees: Fees, open_round: Contract) -> None:
    """Add an input coin to a transfer's sums: its amount, and its holding fee for the rounds that it was held."""
    terms = _terms(coin)
    amount = units(terms["initialAmount"])
    rounds = max(0, round_of(open_round) - int(terms["createdAt"]["number"]))
    sums.coin += amount
    sums.holding_fees += fees.of_holding(amount, rounds, units(terms["ratePerRound"]["rate"]))
    balances.add(terms, terms["owner"], -1)


def after_fees(output: Output, fees: Fees, sums: Sums, *, sender: str) -> tuple[int, int]:
    """An output's own amount, and the amount that it takes from the inputs."""
    holders = len(output.lock["holders"]) if output.lock else 0
    fee = fees.of_output(output.units, to_self=output.receiver == sender, holders=holders)
    sums.output_fees.append(fee)
    own = times(fee, output.ratio)
    return output.units - own, output.units + fee - own


def settle_change(sums: Sums, made: Sequence[tuple[int, int]], fees: Fees) -> None:
    """Return the rest of the inputs to the sender, less the fee of one more coin."""
    left = sums.available - sum(taken for _, taken in made)
    assert left >= 0
    assert all(amount > 0 for amount, _ in made)
    sums.change_fee = min(left, fees.create)
    sums.change = left - sums.change_fee


def payment_context(sim: Simulation, open_round: Contract) -> dict[str, Any]:
    """The PaymentTransferContext of a choice that pays with coins alone."""
    return {
        "amuletRules": sim.coin_rules.contract_id,
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
    rules = sim.coin_rules.contract_id
    return {"amuletRules": rules, "openMiningRound": open_round.contract_id, "featuredAppRight": None}
