"""What people do with the native coin: minting, paying, batches of payments, locking, unlocking, expiry."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.generator.simulation import Stage
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, COIN_RULES, LOCKED_COIN, TRANSFER_FACTORY
from ledgerframes.sandbox.world.transaction import Event, Transaction

UNITS: Final = 10**10
HOLDING_FEE: Final = "0.0000158548"


def amount(units: int) -> str:
    """Ten-billionths of a coin as decimal text with ten places."""
    return f"{units // UNITS}.{units % UNITS:010}"


def units_of(coin: Contract) -> int:
    """A coin's initial amount in ten-billionths."""
    text: str = coin.payload["amount"]["initialAmount"]
    return int(text.replace(".", ""))


def mint(tx: Transaction, stage: Stage, owner: str | None = None) -> None:
    """Give a user new coin, by the tap or as a reward."""
    rng = stage.rng
    owner = owner or stage.cast.person(rng)
    worth = rng.randrange(1, 5_000 * UNITS)
    choice = "AmuletRules_DevNet_Tap" if rng.random() < 0.5 else "AmuletRules_Mint"
    argument = {"receiver": owner, "amount": amount(worth), "openRound": stage.rounds[0].contract_id}
    minting = tx.exercise(stage.rules[COIN_RULES.entity], choice, argument, acting=(owner,))
    coin = _create_coin(tx, owner, worth, minting)
    minting["exercise_result"] = {"amuletSum": {"amulet": coin.contract_id, "round": stage.rounds[0].payload["round"]}}


def pay(tx: Transaction, stage: Stage) -> None:
    """Pay one to three people, by the coin's rules or through the token standard's interface."""
    rng = stage.rng
    sender = stage.cast.person(rng)
    inputs = _purse(stage, sender, 4)
    if not inputs:
        return mint(tx, stage, sender)
    receivers = [stage.cast.people_but(rng, sender) for _ in range(1 if rng.random() < 0.7 else 3)]
    if rng.random() < 0.25:
        return _pay_by_interface(tx, stage, inputs, receivers)
    tx.workflow_id = "wallet-payment" if rng.random() < 0.3 else ""
    transfer(tx, stage, inputs, receivers)
    return None


def pay_batch(tx: Transaction, stage: Stage) -> None:
    """Pay many people at once: a tree of more than ten events, two exercises deep."""
    rng = stage.rng
    sender = stage.cast.person(rng)
    inputs = _purse(stage, sender, 8)
    if not inputs:
        return mint(tx, stage, sender)
    argument = {"operations": [{"tag": "CO_MergeTransferInputs", "value": {}}], "context": {"dso": stage.cast.dso}}
    batch = tx.exercise(stage.rules[COIN_RULES.entity], "AmuletRules_BatchTransfer", argument, acting=(sender,))
    receivers = [stage.cast.people_but(rng, sender) for _ in range(rng.randrange(8, 14))]
    created = transfer(tx, stage, inputs, receivers, under=batch)
    batch["exercise_result"] = {"outcomes": [{"tag": "COO_CreatedAmulet", "value": one} for one in created]}
    tx.workflow_id = "payout-run"
    return None


def transfer(
    tx: Transaction, stage: Stage, inputs: list[Contract], receivers: list[str], *, under: Event | None = None
) -> list[str]:
    """Archive the inputs and create as much coin: a share for each receiver, the change for the sender.

    Returns:
        The contract ids of what the receivers got.
    """
    sender, total = inputs[0].owner, sum(map(units_of, inputs))
    shares = _split(stage, total, len(receivers))
    rules = stage.rules[COIN_RULES.entity]
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
            "openMiningRound": stage.rounds[0].contract_id,
            "issuingMiningRounds": [],
            "validatorRights": [],
            "featuredAppRight": None,
        },
        "expectedDso": stage.cast.dso,
    }
    event = tx.exercise(rules, "AmuletRules_Transfer", argument, acting=(sender, *receivers[:1]), under=under)
    for coin in inputs:
        tx.archive(coin, under=event)
    created = [
        _create_coin(tx, receiver, share, event).contract_id for receiver, share in zip(receivers, shares, strict=False)
    ]
    change = _create_coin(tx, sender, shares[-1], event).contract_id if shares[-1] else None
    event["exercise_result"] = {
        "round": stage.rounds[0].payload["round"],
        "createdAmulets": [{"tag": "TransferResultAmulet", "value": one} for one in created],
        "senderChangeAmulet": change,
        "amuletPrice": stage.rounds[0].payload["amuletPrice"],
    }
    return created


def lock(tx: Transaction, stage: Stage) -> None:
    """Lock a coin until some time, with another party as the lock's holder."""
    owner = stage.cast.person(stage.rng)
    coins = _purse(stage, owner, 1)
    if not coins:
        return mint(tx, stage, owner)
    holder, until = stage.cast.people_but(stage.rng, owner), tx.stage.now + 3_600_000_000
    terms = {"holders": [holder], "expiresAt": timestamps.trimmed(until), "optContext": None}
    argument = {"owner": owner, "amulet": coins[0].contract_id, "lock": terms}
    locking = tx.exercise(stage.rules[COIN_RULES.entity], "AmuletRules_LockAmulet", argument, acting=(owner, holder))
    tx.archive(coins[0], under=locking)
    payload = {"amulet": coins[0].payload, "lock": terms}
    locked = tx.create(LOCKED_COIN, payload, signatories=(stage.cast.dso, owner, holder), under=locking)
    locking["exercise_result"] = locked.contract_id
    return None


def unlock(tx: Transaction, stage: Stage) -> None:
    """End a lock; the coin comes back with its first amount and its round of creation."""
    locked = next(iter(stage.world.contracts.free(LOCKED_COIN, stage.main).values()), None)
    if locked is None:
        return lock(tx, stage)
    payload = locked.payload["amulet"]
    by_owner = stage.rng.random() < 0.5
    choice = "LockedAmulet_OwnerExpireLock" if by_owner else "LockedAmulet_Unlock"
    acting = (payload["owner"],) if by_owner else locked.signatories[1:]
    argument = {"openRoundCid": stage.rounds[0].contract_id}
    event = tx.exercise(locked, choice, argument, acting=acting, consuming=True)
    coin = _create(tx, payload, event)
    event["exercise_result"] = {"amuletSum": {"amulet": coin.contract_id}, "meta": None}
    return None


def expire(tx: Transaction, stage: Stage) -> None:
    """Let a coin end whose fees are said to have eaten it up."""
    owner = stage.cast.person(stage.rng)
    coins = _purse(stage, owner, 1)
    if not coins:
        return mint(tx, stage, owner)
    argument = {"roundCid": stage.rounds[-1].contract_id}
    event = tx.exercise(coins[0], "Amulet_Expire", argument, acting=(stage.cast.dso,), consuming=True)
    event["exercise_result"] = {"expireSum": {"owner": owner, "amount": coins[0].payload["amount"]["initialAmount"]}}
    return None


def _pay_by_interface(tx: Transaction, stage: Stage, inputs: list[Contract], receivers: list[str]) -> None:
    sender = inputs[0].owner
    factory = stage.rules[TRANSFER_FACTORY.entity]
    argument = {
        "expectedAdmin": stage.cast.dso,
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
        interface_id=stage.packages.transfer_interface,
    )
    created = transfer(tx, stage, inputs, receivers, under=event)
    output = {"tag": "TransferInstructionResult_Completed", "value": {"receiverHoldingCids": created}}
    event["exercise_result"] = {"output": output, "senderChangeCids": [], "meta": {"values": {}}}


def _purse(stage: Stage, owner: str, most: int) -> list[Contract]:
    return list(islice(stage.world.contracts.free(COIN, stage.main, owner).values(), most))


def _split(stage: Stage, total: int, receivers: int) -> list[int]:
    """Shares for so many receivers, and the rest last; their sum is the total."""
    rest, shares = total, []
    for _ in range(receivers):
        shares.append(stage.rng.randrange(rest // 2 + 1) // (receivers if receivers > 1 else 1))
        rest -= shares[-1]
    return [*shares, rest]


def _create_coin(tx: Transaction, owner: str, worth: int, under: Event) -> Contract:
    terms = {
        "initialAmount": amount(worth),
        "createdAt": {"number": tx.stage.round_number()},
        "ratePerRound": {"rate": HOLDING_FEE},
    }
    return _create(tx, {"dso": tx.stage.cast.dso, "owner": owner, "amount": terms}, under)


def _create(tx: Transaction, payload: dict[str, Any], under: Event) -> Contract:
    owner: str = payload["owner"]
    return tx.create(COIN, payload, signatories=(tx.stage.cast.dso, owner), owner=owner, under=under)
