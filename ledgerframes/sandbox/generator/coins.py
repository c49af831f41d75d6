"""What people do with the native coin: minting, paying, batches of payments, locking, unlocking, expiry."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.generator.simulation import Simulation
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, COIN_RULES, LOCKED_COIN, TRANSFER_FACTORY
from ledgerframes.sandbox.world.transaction import Event, Transaction

# Amounts have ten decimal places and are kept as integers of the last one, so nothing is rounded.
UNITS: Final = 10**10
HOLDING_FEE: Final = "0.0000158548"


def amount(units: int) -> str:
    """Ten-billionths of a coin as decimal text with ten places."""
    return f"{units // UNITS}.{units % UNITS:010}"


def units_of(coin: Contract) -> int:
    """A coin's initial amount in ten-billionths."""
    text: str = coin.payload["amount"]["initialAmount"]
    return int(text.replace(".", ""))


def mint(tx: Transaction, sim: Simulation, owner: str | None = None) -> None:
    """Give a user new coin, by the tap or as a reward."""
    rng = sim.rng
    owner = owner or sim.parties.person(rng)
    worth = rng.randrange(1, 5_000 * UNITS)
    choice = "AmuletRules_DevNet_Tap" if rng.random() < 0.5 else "AmuletRules_Mint"
    argument = {"receiver": owner, "amount": amount(worth), "openRound": sim.rounds[0].contract_id}
    minting = tx.exercise(sim.rules[COIN_RULES.entity], choice, argument, acting=(owner,))
    coin = _create_coin(tx, owner, worth, minting)
    minting["exercise_result"] = {"amuletSum": {"amulet": coin.contract_id, "round": sim.rounds[0].payload["round"]}}


def pay(tx: Transaction, sim: Simulation) -> None:
    """Pay one to three people, by the coin's rules or through the token standard's interface."""
    rng = sim.rng
    sender = sim.parties.person(rng)
    inputs = _purse(sim, sender, 4)
    if not inputs:
        return mint(tx, sim, sender)
    receivers = [sim.parties.people_but(rng, sender) for _ in range(1 if rng.random() < 0.7 else 3)]
    if rng.random() < 0.25:
        return _pay_by_interface(tx, sim, inputs, receivers)
    tx.workflow_id = "wallet-payment" if rng.random() < 0.3 else ""
    transfer(tx, sim, inputs, receivers)
    return None


def pay_batch(tx: Transaction, sim: Simulation) -> None:
    """Pay many people at once: a tree of more than ten events, two exercises deep."""
    rng = sim.rng
    sender = sim.parties.person(rng)
    inputs = _purse(sim, sender, 8)
    if not inputs:
        return mint(tx, sim, sender)
    argument = {"operations": [{"tag": "CO_MergeTransferInputs", "value": {}}], "context": {"dso": sim.parties.dso}}
    batch = tx.exercise(sim.rules[COIN_RULES.entity], "AmuletRules_BatchTransfer", argument, acting=(sender,))
    receivers = [sim.parties.people_but(rng, sender) for _ in range(rng.randrange(8, 14))]
    created = transfer(tx, sim, inputs, receivers, under=batch)
    batch["exercise_result"] = {"outcomes": [{"tag": "COO_CreatedAmulet", "value": one} for one in created]}
    tx.workflow_id = "payout-run"
    return None


def transfer(
    tx: Transaction, sim: Simulation, inputs: list[Contract], receivers: list[str], *, under: Event | None = None
) -> list[str]:
    """Archive the inputs and create as much coin: a share for each receiver, the change for the sender.

    Returns:
        The contract ids of what the receivers got.
    """
    sender, total = inputs[0].owner, sum(map(units_of, inputs))
    shares = _split(sim, total, len(receivers))
    rules = sim.rules[COIN_RULES.entity]
    argument = {
        "transfer": {
            "sender": sender,
            "provider": sender,
            "inputs": [{"tag": "InputAmulet", "value": coin.contract_id} for coin in inputs],
            "outputs": [
                {"receiver": receiver, "amount": amount(share), "receiverFeeRatio": "0.0000000000", "lock": None}
                for receiver, share in zip(receivers, shares, strict=False)
            ],
            "beneficiaries": None,
        },
        "context": {
            "openMiningRound": sim.rounds[0].contract_id,
            "issuingMiningRounds": [],
            "validatorRights": [],
            "featuredAppRight": None,
        },
        "expectedDso": sim.parties.dso,
    }
    event = tx.exercise(rules, "AmuletRules_Transfer", argument, acting=(sender, *receivers[:1]), under=under)
    for coin in inputs:
        tx.archive(coin, under=event)
    created = [
        _create_coin(tx, receiver, share, event).contract_id for receiver, share in zip(receivers, shares, strict=False)
    ]
    change = _create_coin(tx, sender, shares[-1], event).contract_id if shares[-1] else None
    event["exercise_result"] = {
        "round": sim.rounds[0].payload["round"],
        "createdAmulets": [{"tag": "TransferResultAmulet", "value": one} for one in created],
        "senderChangeAmulet": change,
        "amuletPrice": sim.rounds[0].payload["amuletPrice"],
    }
    return created


def lock(tx: Transaction, sim: Simulation) -> None:
    """Lock a coin until some time, with another party as the lock's holder."""
    owner = sim.parties.person(sim.rng)
    coins = _purse(sim, owner, 1)
    if not coins:
        return mint(tx, sim, owner)
    holder, until = sim.parties.people_but(sim.rng, owner), tx.sim.now + 3_600_000_000
    terms = {"holders": [holder], "expiresAt": timestamps.trimmed(until), "optContext": None}
    argument = {"owner": owner, "amulet": coins[0].contract_id, "lock": terms}
    locking = tx.exercise(sim.rules[COIN_RULES.entity], "AmuletRules_LockAmulet", argument, acting=(owner, holder))
    tx.archive(coins[0], under=locking)
    payload = {"amulet": coins[0].payload, "lock": terms}
    locked = tx.create(LOCKED_COIN, payload, signatories=(sim.parties.dso, owner, holder), under=locking)
    locking["exercise_result"] = locked.contract_id
    return None


def unlock(tx: Transaction, sim: Simulation) -> None:
    """End a lock; the coin comes back with its first amount and its round of creation."""
    locked = next(iter(sim.world.contracts.free(LOCKED_COIN, sim.main).values()), None)
    if locked is None:
        return lock(tx, sim)
    payload = locked.payload["amulet"]
    by_owner = sim.rng.random() < 0.5
    choice = "LockedAmulet_OwnerExpireLock" if by_owner else "LockedAmulet_Unlock"
    acting = (payload["owner"],) if by_owner else locked.signatories[1:]
    argument = {"openRoundCid": sim.rounds[0].contract_id}
    event = tx.exercise(locked, choice, argument, acting=acting, consuming=True)
    coin = _create(tx, payload, event)
    event["exercise_result"] = {"amuletSum": {"amulet": coin.contract_id}, "meta": None}
    return None


def expire(tx: Transaction, sim: Simulation) -> None:
    """Let a coin end whose fees are said to have eaten it up."""
    owner = sim.parties.person(sim.rng)
    coins = _purse(sim, owner, 1)
    if not coins:
        return mint(tx, sim, owner)
    argument = {"roundCid": sim.rounds[-1].contract_id}
    event = tx.exercise(coins[0], "Amulet_Expire", argument, acting=(sim.parties.dso,), consuming=True)
    event["exercise_result"] = {"expireSum": {"owner": owner, "amount": coins[0].payload["amount"]["initialAmount"]}}
    return None


def _pay_by_interface(tx: Transaction, sim: Simulation, inputs: list[Contract], receivers: list[str]) -> None:
    sender = inputs[0].owner
    factory = sim.rules[TRANSFER_FACTORY.entity]
    argument = {
        "expectedAdmin": sim.parties.dso,
        "transfer": {
            "sender": sender,
            "receiver": receivers[0],
            "inputHoldingCids": [one.contract_id for one in inputs],
        },
        "extraArgs": {"context": {"values": {}}, "meta": {"values": {}}},
    }
    event = tx.exercise(
        factory,
        "TransferFactory_Transfer",
        argument,
        acting=(sender,),
        interface_id=sim.packages.transfer_interface,
    )
    created = transfer(tx, sim, inputs, receivers, under=event)
    output = {"tag": "TransferInstructionResult_Completed", "value": {"receiverHoldingCids": created}}
    event["exercise_result"] = {"output": output, "senderChangeCids": [], "meta": {"values": {}}}


def _purse(sim: Simulation, owner: str, most: int) -> list[Contract]:
    return list(islice(sim.world.contracts.free(COIN, sim.main, owner).values(), most))


def _split(sim: Simulation, total: int, receivers: int) -> list[int]:
    """Shares for so many receivers, and the rest last; their sum is the total."""
    rest, shares = total, []
    for _ in range(receivers):
        shares.append(sim.rng.randrange(rest // 2 + 1) // (receivers if receivers > 1 else 1))
        rest -= shares[-1]
    return [*shares, rest]


def _create_coin(tx: Transaction, owner: str, worth: int, under: Event) -> Contract:
    terms = {
        "initialAmount": amount(worth),
        "createdAt": {"number": tx.sim.round_number()},
        "ratePerRound": {"rate": HOLDING_FEE},
    }
    return _create(tx, {"dso": tx.sim.parties.dso, "owner": owner, "amount": terms}, under)


def _create(tx: Transaction, payload: dict[str, Any], under: Event) -> Contract:
    owner: str = payload["owner"]
    return tx.create(COIN, payload, signatories=(tx.sim.parties.dso, owner), owner=owner, under=under)
