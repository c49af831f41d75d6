"""Transfer offers between wallets: made, accepted with the payment inside, rejected, withdrawn."""

from __future__ import annotations

from itertools import islice

from ledgerframes.sandbox.generator.burning import app_context
from ledgerframes.sandbox.generator.coupons import tagged
from ledgerframes.sandbox.generator.transfers import Output, Payment, purse, spendable, transfer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import UNITS, decimal, units
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.simulation import Simulation, Transaction
from ledgerframes.sandbox.world.templates import ACCEPTED_OFFER, OFFER
from ledgerframes.sandbox.world.world import World


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
