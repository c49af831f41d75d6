"""IOUs as commands see them: their payload, and their choices; `models` lists them."""

from __future__ import annotations

from typing import Final

from msgspec import field

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.command_context import Choice, ChoiceContext, Model, Payload
from ledgerframes.sandbox.commands.errors import failed
from ledgerframes.sandbox.commands.values import Amount, Nothing, Record, read_record
from ledgerframes.sandbox.world.amounts import decimal
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import IOU


class Iou(Record):
    """A debt of an issuer to an owner."""

    issuer: Party
    owner: Party
    currency: Text
    amount: Amount
    observers: list[Party] = field(default_factory=list)
    reference: str | None = None


class NewOwner(Record):
    """The argument of Iou_Transfer."""

    new_owner: Party


class Part(Record):
    """The argument of Iou_Split."""

    split_amount: Amount


class Viewer(Record):
    """The argument of Iou_GetBalance."""

    viewer: Party


def _check_iou(iou: Iou) -> None:
    if iou.amount <= 0:
        raise failed(f"an IOU is about an amount above zero, not {decimal(iou.amount)}")


def _transfer(context: ChoiceContext) -> str:
    return context.create(IOU, {**context.payload, "owner": context.argument.new_owner})


def _split(context: ChoiceContext) -> list[str]:
    whole = read_record(context.payload, Iou, place=IOU.entity).amount
    part = context.argument.split_amount
    if not 0 < part < whole:
        raise failed(f"an IOU of {decimal(whole)} cannot be split at {decimal(part)}")
    return [context.create(IOU, {**context.payload, "amount": decimal(units)}) for units in (part, whole - part)]


def _owner(contract: Contract, _: Record) -> tuple[str]:
    return (contract.payload["owner"],)


def _observers(payload: Payload) -> tuple[str, ...]:
    return (payload["owner"], *payload["observers"])


IOU_MODEL: Final = Model(
    IOU,
    signatories=lambda payload: (payload["issuer"],),
    observers=_observers,
    payload=Iou,
    check=_check_iou,
    choices=(
        Choice("Iou_Transfer", NewOwner, _owner, _transfer),
        Choice("Iou_Split", Part, _owner, _split),
        Choice("Iou_Settle", Nothing, _owner, lambda _: None),
        Choice(
            "Iou_GetBalance",
            Viewer,
            lambda _, argument: (argument.viewer,),
            lambda context: context.payload["amount"],
            consuming=False,
        ),
    ),
)
