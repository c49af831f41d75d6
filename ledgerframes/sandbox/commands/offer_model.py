"""Transfer offers and names as commands meet them: what one says, and its choices; `models` lists them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.coin_model import Input, Output, RulesTransfer, Transfer, TransferContext
from ledgerframes.sandbox.commands.command_context import Choice, ChoiceContext, Model
from ledgerframes.sandbox.commands.errors import failed
from ledgerframes.sandbox.commands.values import Amount, Moment, Nothing, Record, read_record
from ledgerframes.sandbox.generator.names import LIFETIME
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.amounts import decimal
from ledgerframes.sandbox.world.templates import ACCEPTED_OFFER, COIN_RULES, NAME_ENTRY, NAME_RULES, OFFER

_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}\.unverified\.cns")


class PaymentAmount(Record):
    """How much of what is offered."""

    amount: Amount
    unit: Literal["AMULETUNIT"]


class Offer(Record):
    """An offer of coin, which may be accepted until it expires."""

    sender: Party
    receiver: Party
    dso: Party
    amount: PaymentAmount
    description: str
    expires_at: Moment
    tracking_id: Text


class Complete(Record):
    """The argument of AcceptedTransferOffer_Complete."""

    inputs: Annotated[list[Text], Meta(min_length=1)]
    wallet_provider: Party


class NameRequest(Record):
    """The argument of AnsRules_RequestEntry."""

    name: str
    url: str
    description: str
    requester: Party


class Actor(Record):
    """The argument of AnsEntry_Expire."""

    actor: Party


def _check_offer(offer: Offer) -> None:
    if offer.amount.amount <= 0:
        raise failed(f"an offer is about an amount above zero, not {decimal(offer.amount.amount)}")


def _accept(context: ChoiceContext) -> dict[str, Any]:
    if timestamps.parse(context.payload["expiresAt"]) <= context.commands.now:
        raise failed(f"the offer ran out at {context.payload['expiresAt']}")
    return {"acceptedTransferOffer": context.create(ACCEPTED_OFFER, context.payload)}


def _decline(context: ChoiceContext) -> dict[str, Any]:
    return {"trackingInfo": {"trackingId": context.payload["trackingId"]}}


def _complete(context: ChoiceContext) -> dict[str, Any]:
    offer = read_record(context.payload, Offer, place=ACCEPTED_OFFER.entity)
    terms = Transfer(
        sender=offer.sender,
        provider=context.argument.wallet_provider,
        inputs=[Input("InputAmulet", contract_id) for contract_id in context.argument.inputs],
        outputs=[Output(offer.receiver, offer.amount.amount)],
    )
    rules, transfer_context = context.sim.rules[COIN_RULES.entity], TransferContext(context.sim.rounds[0].contract_id)
    paid = context.exercise(
        context.commands.fetch(rules.contract_id), "AmuletRules_Transfer", RulesTransfer(terms, transfer_context)
    )
    created = [coin["value"] for coin in paid["createdAmulets"]]
    return {"transferResult": created, "senderChangeAmulet": paid["senderChangeAmulet"]}


def _request_name(context: ChoiceContext) -> dict[str, Any]:
    wanted = context.argument
    if not _NAME.fullmatch(wanted.name):
        raise failed(f"the name {wanted.name!r} is not 1 to 40 of a-z, 0-9, '_', '-' before .unverified.cns")
    payload = {
        "user": wanted.requester,
        "name": wanted.name,
        "url": wanted.url,
        "description": wanted.description,
        "expiresAt": timestamps.trimmed(context.commands.now + LIFETIME),
        "dso": context.sim.parties.dso,
    }
    return {"entryCid": context.create(NAME_ENTRY, payload), "requestCid": None}


def _expire_name(context: ChoiceContext) -> None:
    if context.argument.actor not in context.contract.signatories:
        raise failed(f"{context.argument.actor} is no signatory of the name")
    if timestamps.parse(context.payload["expiresAt"]) > context.commands.now:
        raise failed(f"the name runs until {context.payload['expiresAt']}")


OFFER_MODEL: Final = Model(
    OFFER,
    signatories=lambda payload: (payload["sender"],),
    observers=lambda payload: (payload["receiver"],),
    payload=Offer,
    check=_check_offer,
    choices=(
        Choice("TransferOffer_Accept", Nothing, lambda contract, _: (contract.payload["receiver"],), _accept),
        Choice("TransferOffer_Reject", Nothing, lambda contract, _: (contract.payload["receiver"],), _decline),
        Choice("TransferOffer_Withdraw", Nothing, lambda contract, _: (contract.payload["sender"],), _decline),
    ),
)
ACCEPTED_OFFER_MODEL: Final = Model(
    ACCEPTED_OFFER,
    signatories=lambda payload: (payload["sender"], payload["receiver"]),
    payload=Offer,
    check=_check_offer,
    choices=(
        Choice(
            "AcceptedTransferOffer_Complete", Complete, lambda contract, _: (contract.payload["sender"],), _complete
        ),
    ),
)
NAME_RULES_MODEL: Final = Model(
    NAME_RULES,
    signatories=lambda payload: (payload["dso"],),
    choices=(
        Choice(
            "AnsRules_RequestEntry",
            NameRequest,
            lambda _, argument: (argument.requester,),
            _request_name,
            consuming=False,
        ),
    ),
)
NAME_ENTRY_MODEL: Final = Model(
    NAME_ENTRY,
    signatories=lambda payload: (payload["dso"], payload["user"]),
    owner=lambda payload: str(payload["user"]),
    choices=(Choice("AnsEntry_Expire", Actor, lambda _, argument: (argument.actor,), _expire_name),),
)
