"""Activities with the native coin: minting, paying, offers between wallets, batches of payments, locking, expiry."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ledgerframes.sandbox.generator.configuration import fees_of
from ledgerframes.sandbox.generator.coupons import tagged
from ledgerframes.sandbox.generator.summaries import creation, holding_metadata
from ledgerframes.sandbox.generator.transfers import (
    Output,
    Payment,
    app_context,
    make_coin,
    purse,
    put_coin,
    spendable,
    transfer,
)
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, spelled, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import ACCEPTED_OFFER, LOCKED_COIN, OFFER
from ledgerframes.sandbox.world.world import World

# Small enough that holding fees use it up within a few rounds.
_TIP_ROUNDS: Final = 4
#: The purposes of locked coin, if locks state them.
PURPOSES: Final = ("vesting of an employee", "escrow of a sale", "lock of a featured app", "lock of a super validator")
_ON_PURPOSE: Final = 0.5


def mint(tx: Transaction, sim: Simulation, owner: str | None = None) -> None:
    """Give a user new coin, by the tap or by the organization's decision."""
    rng = sim.rng
    owner = owner or sim.parties.person(rng)
    tapped = rng.random() < 0.5
    tap(tx, sim, owner, rng.randrange(UNITS, 5_000 * UNITS), choice="DevNet_Tap" if tapped else "Mint")


def tap(tx: Transaction, sim: Simulation, owner: str, amount: int, *, choice: str = "DevNet_Tap") -> Contract:
    """Mint an amount for a party."""
    open_round = sim.rounds[0]
    argument = {"receiver": owner, "amount": decimal(amount), "openRound": open_round.contract_id}
    acting = (owner,) if choice == "DevNet_Tap" else tuple(sorted((owner, sim.parties.dso)))
    rules = sim.coin_rules
    minting = tx.exercise(rules, f"AmuletRules_{choice}", argument, acting=acting)
    coin = make_coin(tx, owner, amount, open_round, minting)
    minting["exercise_result"] = {"amuletSum": creation(coin.contract_id, open_round)}
    if choice == "DevNet_Tap":
        minting["exercise_result"]["meta"] = {"values": holding_metadata("mint")}
    return coin


def pay(tx: Transaction, sim: Simulation) -> None:
    """Pay one to three people by the coin's rules, now and then an amount that is not worth keeping."""
    rng = sim.rng
    sender = sim.parties.person(rng)
    count = 1 if rng.random() < 0.7 else 3
    receivers = [sim.parties.people_but(rng, sender) for _ in range(count)]
    tx.workflow_id = "wallet-payment" if rng.random() < 0.3 else ""
    reason = rng.choice(("", "", "", "rent", "invoice 2025/17"))
    _spend(tx, sim, sender, receivers, coins=4, provider=sim.parties.host(sender), reason=reason)


def pay_batch(tx: Transaction, sim: Simulation) -> None:
    """Pay many people by one transfer: a tree of more than ten events."""
    rng = sim.rng
    sender = sim.parties.person(rng)
    receivers = [sim.parties.people_but(rng, sender) for _ in range(rng.randrange(8, 14))]
    if _spend(tx, sim, sender, receivers, coins=8):
        tx.workflow_id = "payout-run"


def _spend(
    tx: Transaction,
    sim: Simulation,
    sender: str,
    receivers: list[str],
    *,
    coins: int,
    provider: str = "",
    reason: str = "",
) -> bool:
    """Pay each receiver a share of the value of some coins; where they do not cover the fees, their owner gets more."""
    open_round, inputs = sim.open_round(), purse(sim, sender, coins)
    # The rest is change.
    rest, outputs = spendable(inputs, open_round, outputs=len(receivers)), []
    if rest <= len(receivers):
        mint(tx, sim, sender)
        return False
    tips = sim.rng.random() < 0.1
    for left, receiver in zip(range(len(receivers), 0, -1), receivers, strict=True):
        share = 1 + sim.rng.randrange(rest // 2 + 1) // left
        share = min(share, _tip(sim, open_round)) if tips else min(share, rest - left + 1)
        outputs.append(Output(receiver, share))
        rest -= share
    transfer(tx, sim, inputs, outputs, Payment(open_round, provider=provider, reason=reason), sender=sender)
    return True


def lock(tx: Transaction, sim: Simulation) -> None:
    """Lock a part of a coin until some time, with another party as the lock's holder."""
    rng = sim.rng
    owner, open_round = sim.parties.person(rng), sim.open_round()
    inputs = purse(sim, owner, 2)
    most = spendable(inputs, open_round)
    if most <= 0:
        return mint(tx, sim, owner)
    tip = rng.random() < 0.2
    until = sim.now + sim.calendar.tick * rng.randrange(1, 3 if tip else 24)
    purpose = rng.choice(PURPOSES) if rng.random() < _ON_PURPOSE else None
    terms = time_lock([sim.parties.people_but(rng, owner)], until, purpose)
    amount = _tip(sim, open_round) if tip else rng.randrange(1, most + 1)
    output = Output(owner, min(amount, most), lock=terms)
    transfer(tx, sim, inputs, [output], Payment(open_round), sender=owner)
    return None


def time_lock(holders: list[str], until: int, context: str | None = None) -> dict[str, Any]:
    """A TimeLock; `until` is in microseconds."""
    return {"holders": holders, "expiresAt": timestamps.trimmed(until), "optContext": context}


def unlock(tx: Transaction, sim: Simulation) -> None:
    """End a lock, by its owner alone once it has expired; the coin keeps its first amount and its round."""
    # A lock with a context belongs to a payment, and ends with it; dust is ignored.
    free, dust = sim.world.contracts.free(LOCKED_COIN, sim.main), sim.world.coins.dust
    own = (owned for contract_id, owned in free.items() if contract_id not in dust)
    now = min(sim.now, tx.effective)
    locked = next((coin for coin in own if _ends_alone(coin.payload["lock"], now)), None)
    if locked is None:
        return lock(tx, sim)
    terms = locked.payload["lock"]
    expired = timestamps.parse(terms["expiresAt"]) <= now
    alone = expired and (terms["optContext"] is not None or sim.rng.random() < 0.5)
    release(tx, sim, locked, "OwnerExpireLock" if alone else "Unlock")
    return None


def _ends_alone(terms: dict[str, Any], now: int) -> bool:
    """Whether a lock is about nothing else: it has no context, or a purpose whose time is over."""
    context = terms["optContext"]
    return context is None or (context in PURPOSES and timestamps.parse(terms["expiresAt"]) <= now)


def release(
    tx: Transaction, sim: Simulation, locked: Contract, choice: str = "Unlock", *, under: Event | None = None
) -> Contract:
    """Exercise LockedAmulet_Unlock, or the choice that the owner has once the lock has expired."""
    payload, open_round = locked.payload["amulet"], sim.rounds[0]
    owner = payload["owner"]
    acting = (owner,) if choice == "OwnerExpireLock" else (owner, *locked.payload["lock"]["holders"])
    argument = {"openRoundCid": open_round.contract_id}
    event = tx.exercise(
        locked, f"LockedAmulet_{choice}", argument, acting=sorted(set(acting)), consuming=True, under=under
    )
    coin = put_coin(tx, payload, event)
    event["exercise_result"] = {
        "amuletSum": creation(coin.contract_id, open_round),
        "meta": {"values": holding_metadata("unlock")},
    }
    return coin


def locked_for(sim: Simulation, contract: Contract) -> Contract | None:
    """The coin that is locked for a payment or an instruction, unless its lock has ended."""
    locked = sim.world.contracts.active.get(contract.payload["lockedAmulet"])
    return locked if locked is not None and locked.synchronizer_id == sim.main else None


def expire(tx: Transaction, sim: Simulation) -> None:
    """Let a member end a coin that its holding fees have eaten up."""
    expired = next((coin for coin in _expired(sim) if _may_end(sim, coin)), None)
    if expired is None:
        return pay(tx, sim)
    locked, open_round = expired.template is LOCKED_COIN, sim.rounds[0]
    payload = expired.payload["amulet"] if locked else expired.payload
    terms, choice = payload["amount"], "LockedAmulet_ExpireAmulet" if locked else "Amulet_Expire"
    argument, member = {"roundCid": open_round.contract_id}, sim.rng.choice(sim.parties.sponsors)
    dso_argument = {"cid": expired.contract_id, "choiceArg": argument, "sv": member}
    rules = sim.dso_rules
    root = tx.exercise(rules, f"DsoRules_{choice}", dso_argument, acting=(member,))
    event = tx.exercise(expired, choice, argument, acting=(sim.parties.dso,), consuming=True, under=root)
    amount, rate = units(terms["initialAmount"]), units(terms["ratePerRound"]["rate"])
    as_of_zero = amount + int(terms["createdAt"]["number"]) * rate
    event["exercise_result"] = {
        "expireSum": {
            "owner": payload["owner"],
            "round": open_round.payload["round"],
            "changeToInitialAmountAsOfRoundZero": spelled(-as_of_zero),
            "changeToHoldingFeesRate": spelled(-rate),
        },
        "meta": {"values": holding_metadata("expire-dust", burned=amount)},
    }
    root["exercise_result"] = {"expireSum": event["exercise_result"]["expireSum"]}
    return None


def _expired(sim: Simulation) -> list[Contract]:
    """The coins that are worth nothing by the earliest open round, if they can be ended."""
    now, active = int(sim.rounds[0].payload["round"]["number"]), sim.world.contracts.active
    ids = [contract_id for contract_id, until in sim.world.coins.dust.items() if until <= now]
    return [active[contract_id] for contract_id in ids if contract_id in active]


def _may_end(sim: Simulation, coin: Contract) -> bool:
    if coin.contract_id not in sim.world.contracts.free(coin.template, sim.main, coin.owner):
        return False
    lock = coin.payload.get("lock")
    return lock is None or (lock["optContext"] is None and timestamps.parse(lock["expiresAt"]) <= sim.now)


def _tip(sim: Simulation, open_round: Contract) -> int:
    return 1 + sim.rng.randrange(_TIP_ROUNDS * fees_of(open_round).holding)


def make_offer(tx: Transaction, sim: Simulation) -> None:
    """Offer somebody coin, to be accepted within a day."""
    sender = sim.parties.person(sim.rng)
    offer(tx, sim, sender=sender, receiver=sim.parties.people_but(sim.rng, sender))


def answer_offer(tx: Transaction, sim: Simulation) -> None:
    """Answer an open offer: mostly accepted and paid at once."""
    offers = list(islice(sim.world.contracts.free(OFFER, sim.main).values(), 12))
    if not offers:
        return make_offer(tx, sim)
    chosen = sim.rng.choice(offers)
    chance = sim.rng.random()
    if chance < 0.65:
        return _accept(tx, sim, chosen)
    choice, party = ("Reject", "receiver") if chance < 0.85 else ("Withdraw", "sender")
    acting, result = (chosen.payload[party],), {"trackingInfo": {"trackingId": chosen.payload["trackingId"]}}
    tx.exercise(chosen, f"TransferOffer_{choice}", {}, acting=acting, consuming=True, result=result)
    return None


def offers_of(world: World, party: str) -> list[Contract]:
    """The open offers from or to a party, the oldest first; one that ran out is open until somebody ends it."""
    return [one for one in world.contracts.of(OFFER) if party in (one.payload["sender"], one.payload["receiver"])]


def offer(tx: Transaction, sim: Simulation, *, sender: str, receiver: str, owner: str = "") -> None:
    """Make an offer; one that somebody owns is answered by nobody."""
    rng = sim.rng
    payload = {
        "sender": sender,
        "receiver": receiver,
        "dso": sim.parties.dso,
        "amount": {"amount": decimal(rng.randrange(1, 300 * UNITS)), "unit": "AMULETUNIT"},
        "description": rng.choice(["rent", "thanks", "invoice 2025/17", "Käffchen", "", "gift \N{WRAPPED PRESENT}"]),
        "expiresAt": timestamps.trimmed(sim.now + 86_400 * timestamps.SECOND),
        "trackingId": f"{rng.getrandbits(128):032x}",
    }
    tx.create(OFFER, payload, owner=owner)


def _accept(tx: Transaction, sim: Simulation, offered: Contract) -> None:
    payload = offered.payload
    sender, receiver = payload["sender"], payload["receiver"]
    event = tx.exercise(offered, "TransferOffer_Accept", {}, acting=(receiver,), consuming=True)
    accepted = tx.create(ACCEPTED_OFFER, payload, under=event)
    event["exercise_result"] = {"acceptedTransferOffer": accepted.contract_id}
    open_round, wanted = sim.open_round(), units(payload["amount"]["amount"])
    coins = purse(sim, sender, 3)
    if spendable(coins, open_round) < wanted:
        return
    argument = {
        "inputs": [tagged(coin) for coin in coins],
        "transferContext": app_context(sim, open_round),
        "walletProvider": sim.parties.host(sender),
    }
    completing = tx.exercise(accepted, "AcceptedTransferOffer_Complete", argument, acting=(sender,), consuming=True)
    payment = Payment(open_round, provider=sim.parties.host(sender), reason=payload["description"])
    done = transfer(tx, sim, coins, [Output(receiver, wanted)], payment, sender=sender, under=completing)
    completing["exercise_result"] = {
        "transferResult": done.result,
        "senderChangeAmulet": done.change.contract_id if done.change else None,
        "trackingInfo": {"trackingId": payload["trackingId"]},
    }
