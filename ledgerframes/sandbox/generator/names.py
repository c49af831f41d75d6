"""Entries of the name service: requested and paid, collected, renewed, expired."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.generator.coins import locked_for, mint, release, time_lock
from ledgerframes.sandbox.generator.configuration import fees_of
from ledgerframes.sandbox.generator.coupons import coin_for, tagged
from ledgerframes.sandbox.generator.transfers import Output, Payment, app_context, purse, spendable, transfer
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal, units
from ledgerframes.sandbox.world.contracts import Contract, Template
from ledgerframes.sandbox.world.simulation import Event, Simulation, Transaction
from ledgerframes.sandbox.world.templates import (
    FIRST_PAYMENT,
    IDLE_SUBSCRIPTION,
    LATER_PAYMENT,
    NAME_CONTEXT,
    NAME_ENTRY,
    NAME_RULES,
    SUBSCRIPTION,
    SUBSCRIPTION_REQUEST,
)
from ledgerframes.sandbox.world.timestamps import DAY
from ledgerframes.sandbox.world.world import World

LIFETIME: Final = 90 * DAY
RENEWAL: Final = 30 * DAY
TRIAL: Final = 30 * timestamps.SECOND

Payload = dict[str, Any]

_ROUNDS_TO_COLLECT: Final = 6


def change_name(tx: Transaction, sim: Simulation) -> None:
    """Request and pay for an entry if a user has none; else pay for its renewal, or let it expire."""
    owner = sim.parties.person(sim.rng)
    entry, idle = sim.one(NAME_ENTRY, owner), sim.one(IDLE_SUBSCRIPTION, owner)
    payments = (sim.world.contracts.free(one, sim.main).values() for one in (FIRST_PAYMENT, LATER_PAYMENT))
    if any(one.payload["subscriptionData"]["sender"] == owner for waiting in payments for one in waiting):
        return mint(tx, sim, owner)
    if entry is not None and (idle is None or sim.rng.random() < 0.3):
        tx.exercise(entry, "AnsEntry_Expire", {"actor": owner}, acting=(owner,), consuming=True, result=None)
        return None
    means = _means(sim, owner)
    if means is None:
        return mint(tx, sim, owner)
    if entry is None:
        _ask(tx, sim, owner, means)
    elif idle is not None:
        _make_payment(tx, sim, idle, "SubscriptionIdleState_MakePayment", means, LATER_PAYMENT)
    return None


def payment_to_collect(sim: Simulation) -> Contract | None:
    """A payment for a name that the organization has not collected yet, with all that collecting it takes."""
    for template in (FIRST_PAYMENT, LATER_PAYMENT):
        for payment in sim.world.contracts.free(template, sim.main).values():
            owner = payment.payload["subscriptionData"]["sender"]
            # There is an entry to renew, or none if one is to be created.
            fits = (sim.one(NAME_ENTRY, owner) is None) == (template is FIRST_PAYMENT)
            if fits and locked_for(sim, payment) and sim.one(NAME_CONTEXT, owner):
                return payment
    return None


def collect_payment(tx: Transaction, sim: Simulation) -> None:
    """Collect a payment: unlock it, transfer it to the organization, burn it, and make or renew the entry."""
    payment = payment_to_collect(sim)
    assert payment is not None
    owner, open_round = payment.payload["subscriptionData"]["sender"], sim.rounds[0]
    first, dso, rules = payment.template is FIRST_PAYMENT, sim.parties.dso, sim.world.rules[NAME_RULES.entity]
    context, entry = sim.the(NAME_CONTEXT, owner), sim.one(NAME_ENTRY, owner)
    context_of = app_context(sim, open_round)
    common = {"paymentCid": payment.contract_id, "transferContext": context_of}
    renewing = {} if first or entry is None else {"entryCid": entry.contract_id}
    word = "InitialEntry" if first else "EntryRenewal"
    argument = {**common, **renewing, "ansRulesCid": rules.contract_id}
    root = tx.exercise(context, f"AnsEntryContext_Collect{word}Payment", argument, acting=(dso,))
    inner = {"user": owner, "entryContext": context.contract_id, **common, **renewing}
    step = tx.exercise(rules, f"AnsRules_Collect{word}Payment", inner, acting=sorted((dso, owner)), under=root)
    state = _collect(tx, payment, context_of, open_round, under=step)
    lifetime = RENEWAL if entry else LIFETIME
    if renewing and entry is not None:
        renewal = {"extension": {"microseconds": str(lifetime)}}
        under = tx.exercise(entry, "AnsEntry_Renew", renewal, acting=sorted((owner, dso)), consuming=True, under=step)
        until = timestamps.parse(entry.payload["expiresAt"]) + lifetime
        made = tx.create(NAME_ENTRY, {**entry.payload, "expiresAt": timestamps.trimmed(until)}, under=under)
        under["exercise_result"] = {"entryCid": made.contract_id}
    else:
        names = {name: context.payload[name] for name in ("user", "name", "url", "description", "dso")}
        made = tx.create(NAME_ENTRY, {**names, "expiresAt": timestamps.trimmed(sim.now + lifetime)}, under=step)
    step["exercise_result"] = {"entryCid": made.contract_id, "subscriptionStateCid": state.contract_id}
    root["exercise_result"] = step["exercise_result"]


def grant_names(tx: Transaction, sim: Simulation, owner: str) -> None:
    """Give a party a long-lived name and one that soon expires; nobody pays for, renews or ends either."""
    for purpose, lifetime in (("wallet", LIFETIME), ("trial", TRIAL)):
        payload = _names(sim, owner, f"{owner.partition('::')[0]}-{purpose}")
        payload["expiresAt"] = timestamps.trimmed(sim.now + lifetime)
        tx.create(NAME_ENTRY, payload, owner="")


def names_of(world: World, owner: str) -> list[Contract]:
    """A party's names that have not expired by the ledger's own clock, the oldest first."""
    entries = (entry for entry in world.contracts.of(NAME_ENTRY) if entry.payload["user"] == owner)
    return [entry for entry in entries if timestamps.parse(entry.payload["expiresAt"]) > world.now]


def _ask(tx: Transaction, sim: Simulation, owner: str, means: _Means) -> None:
    """Request an entry and accept the subscription that it takes, which locks the first payment."""
    payload, dso = _names(sim, owner, owner.partition("::")[0]), sim.parties.dso
    argument = {**{name: payload[name] for name in ("name", "url", "description")}, "user": owner}
    event = tx.exercise(sim.world.rules[NAME_RULES.entity], "AnsRules_RequestEntry", argument, acting=(owner,))
    data = {
        "sender": owner,
        "receiver": dso,
        "provider": dso,
        "dso": dso,
        "description": f"{_config(sim)['descriptionPrefix']}{payload['name']}",
    }
    pay_data = {
        "paymentAmount": {"amount": _config(sim)["entryFee"], "unit": "USDUNIT"},
        "paymentInterval": {"microseconds": str(LIFETIME)},
        "paymentDuration": {"microseconds": str(RENEWAL)},
    }
    subscription = {"subscriptionData": data, "payData": pay_data}
    request = tx.create(SUBSCRIPTION_REQUEST, subscription, owner=owner, under=event)
    for former in list(sim.world.contracts.free(NAME_CONTEXT, sim.main, owner).values()):
        # One asked in vain before, or let the entry expire.
        tx.archive(former, under=event)
    context = tx.create(NAME_CONTEXT, {**payload, "reference": request.contract_id}, under=event)
    event["exercise_result"] = {"entryCid": context.contract_id, "requestCid": request.contract_id}
    _make_payment(tx, sim, request, "SubscriptionRequest_AcceptAndMakePayment", means, FIRST_PAYMENT)


class _Means(NamedTuple):
    """The coins for a payment, the price in coin, and the round it goes by."""

    inputs: list[Contract]
    price: int
    open_round: Contract


def _means(sim: Simulation, owner: str) -> _Means | None:
    """The means of a party to pay the fee of an entry; None if it has too little."""
    open_round = sim.open_round()
    price, inputs = coin_for(open_round, units(_config(sim)["entryFee"])), purse(sim, owner, 6)
    return None if spendable(inputs, open_round) < price else _Means(inputs, price, open_round)


def _make_payment(
    tx: Transaction, sim: Simulation, contract: Contract, choice: str, means: _Means, template: Template
) -> None:
    """Exercise the wallet's choice that locks a payment, on a subscription's request or idle state."""
    (inputs, price, open_round), payload = means, contract.payload
    owner = payload["subscriptionData"]["sender"]
    argument = {
        "inputs": [tagged(coin) for coin in inputs],
        "context": app_context(sim, open_round),
        "walletProvider": sim.parties.host(owner),
    }
    event = tx.exercise(contract, choice, argument, acting=(owner,), consuming=True)
    lock = time_lock([sim.parties.dso], sim.now + DAY, "CNS payment")
    output = Output(owner, min(spendable(inputs, open_round), _with_fees(price, open_round)), lock=lock)
    done = transfer(tx, sim, inputs, [output], Payment(open_round, reason="CNS payment"), sender=owner, under=event)
    pending = {
        "subscriptionData": payload["subscriptionData"],
        "payData": payload["payData"],
        "lockedAmulet": done.created[0].contract_id,
        "targetAmount": decimal(price),
        "round": open_round.payload["round"],
        "reference": payload.get("reference", contract.contract_id),
    }
    payment = tx.create(template, pending, under=event)
    event["exercise_result"] = {
        "senderChange": done.change.contract_id if done.change else None,
        "subscriptionPayment": payment.contract_id,
    }


def _with_fees(price: int, open_round: Contract) -> int:
    """A price and twice the fees that collecting it is going to take, since the coin's price moves until then."""
    fees = fees_of(open_round)
    later = fees.of_output(price, to_self=False) + fees.create
    return price + 2 * (later + fees.of_holding(price, _ROUNDS_TO_COLLECT, fees.holding))


def _collect(
    tx: Transaction, payment: Contract, context_of: Payload, open_round: Contract, *, under: Event
) -> Contract:
    """Take the payment and burn it; the subscription's state until the next one."""
    sim, owner = tx.sim, payment.payload["subscriptionData"]["sender"]
    dso = sim.parties.dso
    name = payment.template.entity.partition(":")[2]
    argument = {"transferContext": context_of}
    event = tx.exercise(payment, f"{name}_Collect", argument, acting=(dso,), consuming=True, under=under)
    locked = locked_for(sim, payment)
    assert locked is not None
    coin = release(tx, sim, locked, under=event)
    # The rest of the lock pays the fees, and is returned to its owner if it is too much.
    amount = min(units(payment.payload["targetAmount"]), spendable([coin], open_round))
    terms_of_payment = Payment(open_round, provider=dso, app_rewards=False)
    done = transfer(tx, sim, [coin], [Output(dso, amount)], terms_of_payment, sender=owner, under=event)
    made = done.created[0]
    data, pay_data = payment.payload["subscriptionData"], payment.payload["payData"]
    terms = {"subscriptionData": data, "reference": payment.payload["reference"]}
    subscription = tx.create(SUBSCRIPTION, terms, under=event)
    idle = {
        "subscription": subscription.contract_id,
        **terms,
        "payData": pay_data,
        "nextPaymentDueAt": timestamps.trimmed(sim.now + LIFETIME),
    }
    state = tx.create(IDLE_SUBSCRIPTION, idle, owner=owner, under=event)
    event["exercise_result"] = {
        "subscription": subscription.contract_id,
        "subscriptionState": state.contract_id,
        "amulet": made.contract_id,
    }
    tx.archive(made, under=under)
    return state


def _config(sim: Simulation) -> Payload:
    config: Payload = sim.world.rules[NAME_RULES.entity].payload["config"]
    return config


def _names(sim: Simulation, owner: str, name: str) -> Payload:
    name = f"{name}.unverified.cns"
    url = f"https://{name}.example/"
    return {"user": owner, "name": name, "url": url, "description": "", "dso": sim.parties.dso}
