"""The contracts that commands create and the choices they exercise: IOUs, and the tap of coin; batches look them up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct, field

from ledgerframes.sandbox.commands.bodies import Party, Text
from ledgerframes.sandbox.commands.errors import failed, wrong_values
from ledgerframes.sandbox.generator.summaries import creation, holding_metadata
from ledgerframes.sandbox.generator.transfers import make_coin
from ledgerframes.sandbox.world.amounts import UNITS, decimal
from ledgerframes.sandbox.world.contracts import Contract, Template, parties_of
from ledgerframes.sandbox.world.simulation import Event, Transaction
from ledgerframes.sandbox.world.templates import COIN_RULES, IOU, OPEN_ROUND

TAP_MAXIMUM: Final = 10**9 * UNITS

_DECIMAL: Final = re.compile(r"(-?)(\d{1,28})(?:\.(\d{1,10}))?", re.ASCII)

R = TypeVar("R", bound="Record")

#: Finds a contract of a template that the batch sees.
Fetch = Callable[[str, Template], Contract]


class Record(Struct, rename="camel", forbid_unknown_fields=True):
    """A record of the ledger's own language; without members, the empty one."""


# A whole number of the tenth decimal place, so that sums are exact.
class Amount(int):
    """A decimal number in ten-billionths: up to 28 digits before the point and ten after it."""


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


class Tap(Record):
    """The argument of AmuletRules_DevNet_Tap."""

    receiver: Party
    amount: Amount
    open_round: Text


@dataclass(frozen=True, slots=True)
class Exercise:
    """A choice being carried out; what follows from it has the authority of its controllers and the signatories."""

    tx: Transaction
    contract: Contract
    argument: Any
    event: Event
    fetch: Fetch


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a template.

    Attributes:
        argument: the record it takes.
        controllers: who must agree, by the contract and the argument.
        run: carries out the consequences; returns the exercise's result.
        consuming: the exercise archives the contract.
    """

    argument: type[Record]
    controllers: Callable[[Contract, Any], Iterable[str]]
    run: Callable[[Exercise], Any]
    consuming: bool = True


def choice_of(template: Template, name: str) -> Choice:
    """The choice of that name.

    Raises:
        LedgerError: the template has none.
    """
    known = {**CHOICES.get(template, {}), "Archive": _ARCHIVING}
    if name not in known:
        raise wrong_values(f"{template.entity} has no choice {name!r}; it has {sorted(known)}")
    return known[name]


def read_record(value: Any, kind: type[R], *, place: str) -> R:
    """A record from its JSON.

    Args:
        value: the received value.
        kind: the record it is to be.
        place: the template or choice, for the message.

    Raises:
        LedgerError: a member is missing, unknown or of another type.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_amount)
    except (msgspec.ValidationError, RecursionError) as error:
        raise wrong_values(f"{place}: {error}") from error


def write_record(record: Record) -> dict[str, Any]:
    """A record as the ledger spells it: decimals as text with ten places."""
    written: dict[str, Any] = msgspec.to_builtins(record, enc_hook=decimal)
    return written


def read_iou(arguments: Any) -> Iou:
    """An IOU that is to be created.

    Raises:
        LedgerError: the arguments are not an IOU's.
    """
    iou = read_record(arguments, Iou, place=IOU.entity)
    if iou.amount <= 0:
        raise failed(f"an IOU is about an amount above zero, not {decimal(iou.amount)}")
    return iou


def create_iou(
    tx: Transaction, payload: dict[str, Any], *, under: Event | None = None, template_id: str = ""
) -> Contract:
    """Create an IOU; whoever signs it does not observe it too."""
    observers = [one for one in parties_of(IOU.observers, payload) if one != payload["issuer"]]
    return tx.create(IOU, payload, observers=tuple(observers), under=under, template_id=template_id)


def _amount(kind: type, value: Any) -> Any:
    number = isinstance(value, str | int | float) and not isinstance(value, bool)
    match = _DECIMAL.fullmatch(str(value)) if number else None
    if match is None:
        raise ValueError("Expected a decimal with up to 28 digits before the point and ten after it")
    sign, whole, fraction = match.groups()
    return kind(int(sign + "1") * (int(whole) * UNITS + int((fraction or "").ljust(10, "0"))))


def _transfer(done: Exercise) -> str:
    payload = {**done.contract.payload, "owner": done.argument.new_owner}
    return create_iou(done.tx, payload, under=done.event).contract_id


def _split(done: Exercise) -> list[str]:
    payload, part = done.contract.payload, done.argument.split_amount
    whole = read_record(payload, Iou, place=IOU.entity).amount
    if not 0 < part < whole:
        raise failed(f"an IOU of {decimal(whole)} cannot be split at {decimal(part)}")
    parts = ({**payload, "amount": decimal(units)} for units in (part, whole - part))
    return [create_iou(done.tx, each, under=done.event).contract_id for each in parts]


def _balance(done: Exercise) -> str:
    return str(done.contract.payload["amount"])


def _tap(done: Exercise) -> dict[str, Any]:
    amount = int(done.argument.amount)
    if not 0 < amount <= TAP_MAXIMUM:
        raise failed(f"the tap gives an amount above zero and up to {decimal(TAP_MAXIMUM)}, not {decimal(amount)}")
    open_round = done.fetch(done.argument.open_round, OPEN_ROUND)
    coin = make_coin(done.tx, done.argument.receiver, amount, open_round, done.event)
    return {"amuletSum": creation(coin.contract_id, open_round), "meta": {"values": holding_metadata("mint")}}


def _owner(contract: Contract, _: Record) -> tuple[str]:
    return (contract.payload["owner"],)


_ARCHIVING: Final = Choice(Record, lambda contract, _: contract.signatories, lambda _: {})

# Every other contract ends by its choice Archive alone, with its signatories' consent.
CHOICES: Final[Mapping[Template, Mapping[str, Choice]]] = MappingProxyType(
    {
        IOU: {
            "Iou_Transfer": Choice(NewOwner, _owner, _transfer),
            "Iou_Split": Choice(Part, _owner, _split),
            "Iou_Settle": Choice(Record, _owner, lambda _: None),
            "Iou_GetBalance": Choice(Viewer, lambda _, wanted: (wanted.viewer,), _balance, consuming=False),
        },
        COIN_RULES: {
            "AmuletRules_DevNet_Tap": Choice(Tap, lambda _, wanted: (wanted.receiver,), _tap, consuming=False)
        },
    }
)
