"""The events that a ledger request asks for: its formats as received, the resulting selection, and interface views."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from ledgerframes.sandbox.commands.errors import STATE, invalid, unreadable
from ledgerframes.sandbox.world.templates import (
    ALLOCATION_INTERFACE,
    COIN,
    HOLDING_INTERFACE,
    LOCKED_COIN,
    TRANSFER_FACTORY,
    TRANSFER_INTERFACE,
)

Payload = Mapping[str, Any]
View = Callable[[Payload], dict[str, Any]]

_META: Final[Mapping[str, Any]] = {"values": {}}


def interface_views(references: Iterable[str], entity: str, arguments: Raw) -> list[dict[str, Any]]:
    """The views of one contract.

    Args:
        references: the interfaces asked for, as `#package-name:Module:Entity` or with a package's hash; those that the
            template does not implement are left out.
        entity: `Module:Entity` of the contract's template.
        arguments: the contract's own record, as JSON.
    """
    known = IMPLEMENTED.get(entity, {})
    views = ((reference, known.get(reference.partition(":")[2])) for reference in references)
    return [{"interfaceId": _with_hash(name), **_computed(view, arguments)} for name, view in views if view is not None]


def _computed(view: View, arguments: Raw) -> dict[str, Any]:
    """A view and its status; a contract of another shape has none, and its status says so."""
    try:
        value = view(msgspec.json.decode(arguments))
    except (LookupError, TypeError, msgspec.DecodeError) as error:
        message = f"The view of this contract cannot be computed: {error!r}"
        return {"viewStatus": {"code": STATE[1], "message": message, "details": []}}
    return {"viewStatus": {"code": 0, "message": "", "details": []}, "viewValue": value}


def _with_hash(reference: str) -> str:
    """An interface's id in answers: with a package's hash even if its name was requested."""
    package, _, entity = reference.partition(":")
    return f"{sha256(package.encode()).hexdigest()}:{entity}" if package.startswith("#") else reference


def _coin(payload: Payload) -> dict[str, Any]:
    return {
        "owner": payload["owner"],
        "instrumentId": {"admin": payload["dso"], "id": "Amulet"},
        "amount": payload["amount"]["initialAmount"],
        "lock": None,
        "meta": _META,
    }


def _locked_coin(payload: Payload) -> dict[str, Any]:
    lock = payload["lock"]
    lock_view = {"holders": lock["holders"], "expiresAt": lock["expiresAt"], "expiresAfter": None, "context": None}
    return {**_coin(payload["amulet"]), "lock": lock_view}


def _factory(payload: Payload) -> dict[str, Any]:
    return {"admin": payload["dso"], "meta": _META}


#: The interfaces that each template implements, with their views; all by `Module:Entity`.
IMPLEMENTED: Final[Mapping[str, Mapping[str, View]]] = MappingProxyType(
    {
        COIN.entity: {HOLDING_INTERFACE: _coin},
        LOCKED_COIN.entity: {HOLDING_INTERFACE: _locked_coin},
        TRANSFER_FACTORY.entity: {TRANSFER_INTERFACE: _factory, ALLOCATION_INTERFACE: _factory},
    }
)


Shape = Literal["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"]
LEDGER_EFFECTS: Final = "TRANSACTION_SHAPE_LEDGER_EFFECTS"

REFERENCE: Final = re.compile(r"(#?)([^:#]+):([^:]+:[^:]+)")

T = TypeVar("T")


class Valued(Struct, Generic[T]):
    """A variant's body."""

    value: T


class Variants(Struct, rename="pascal", forbid_unknown_fields=True):
    """One of several things; its one member names which."""

    def chosen(self) -> Any:
        """The member that is there.

        Raises:
            UnreadableError: there is none, or more than one.
        """
        present = [value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None]
        if len(present) != 1:
            names = ", ".join(self.__struct_encode_fields__)
            raise unreadable(f"exactly one of {names} is to be given")
        return present[0]


class WildcardFilter(Struct, rename="camel"):
    """Every contract."""

    include_created_event_blob: bool = False


class TemplateFilter(WildcardFilter, kw_only=True):
    """The contracts of a template."""

    template_id: str


class InterfaceFilter(WildcardFilter, kw_only=True):
    """The contracts of templates that implement an interface."""

    interface_id: str
    include_interface_view: bool = False


class IdentifierFilter(Variants):
    """The variants of a filter's entry; `Empty` widens nothing."""

    wildcard_filter: Valued[WildcardFilter] | None = None
    template_filter: Valued[TemplateFilter] | None = None
    interface_filter: Valued[InterfaceFilter] | None = None
    empty: dict[str, Any] | None = None


class CumulativeFilter(Struct, rename="camel"):
    """One entry of a filter."""

    identifier_filter: IdentifierFilter


class Filters(Struct):
    """The events shown to one party; no entry at all is one wildcard."""

    cumulative: list[CumulativeFilter] = []


class EventFormat(Struct, rename="camel"):
    """The requested events (contract: Resources, EventFormat); verbose answers look the same here."""

    filters_by_party: dict[str, Filters] = {}
    filters_for_any_party: Filters | None = None
    verbose: bool = False


class TransactionFormat(Struct, rename="camel"):
    """The requested events and their shape; an unspecified shape is the ACS delta."""

    event_format: EventFormat
    transaction_shape: Shape = "TRANSACTION_SHAPE_UNSPECIFIED"


class Subject(NamedTuple):
    """The input of filters.

    Attributes:
        interfaces: `Module:Entity` of each interface that an event's template implements or its choice came through.
    """

    template_id: str
    package_name: str
    interfaces: Collection[str]


class Seen(NamedTuple):
    """How an event is seen.

    Attributes:
        parties: the witnesses that are requesting parties.
        with_blob: the contract's blob was requested.
        views: the interfaces whose views were requested, as references, each once.
    """

    parties: list[str]
    with_blob: bool
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The parties whose events are requested, and which of their events.

    Attributes:
        by_party: by party, the requested part of its events.
        anyone: the requested part of all events, if any.
    """

    by_party: Mapping[str, tuple[WildcardFilter, ...]]
    anyone: tuple[WildcardFilter, ...] | None = None

    def parties(self, witnesses: Iterable[str]) -> list[str]:
        """The witnesses that are requesting parties."""
        return [party for party in witnesses if self.anyone is not None or party in self.by_party]

    def seen(self, subject: Subject, witnesses: Collection[str]) -> Seen | None:
        """How an event with these witnesses is seen; None if it is not."""
        filters = [one for party in witnesses for one in self.by_party.get(party, ())] + list(self.anyone or ())
        matching = [one for one in filters if _lets_through(one, subject)]
        if not matching:
            return None
        viewed = [one for one in matching if isinstance(one, InterfaceFilter) and one.include_interface_view]
        with_blob = any(one.include_created_event_blob for one in matching)
        return Seen(self.parties(witnesses), with_blob, tuple(dict.fromkeys(one.interface_id for one in viewed)))


def everything(parties: Iterable[str], *, anyone: bool = False) -> Selection:
    """All events of these parties, or all events."""
    return Selection({party: (WildcardFilter(),) for party in parties}, (WildcardFilter(),) if anyone else None)


def selection(wanted: EventFormat) -> Selection:
    """The selection of a format.

    Raises:
        UnreadableError: a filter is not one variant with its members.
        LedgerError: no party's events are requested, or a reference is not valid.
    """
    if not wanted.filters_by_party and wanted.filters_for_any_party is None:
        raise invalid("filtersByParty and filtersForAnyParty cannot both be empty")
    anyone = None if wanted.filters_for_any_party is None else _read(wanted.filters_for_any_party)
    return Selection({party: _read(filters) for party, filters in wanted.filters_by_party.items()}, anyone)


def interfaces_of(template_id: str, through: str | None = None) -> tuple[str, ...]:
    """The interfaces of a template, and the one a choice came through."""
    implemented = tuple(IMPLEMENTED.get(template_id.partition(":")[2], ()))
    return implemented if through is None else (*implemented, through.partition(":")[2])


def _lets_through(wanted: WildcardFilter, subject: Subject) -> bool:
    """Whether a filter lets an event through; a package's name stands for every version, its hash for that one."""
    match wanted:
        case TemplateFilter(template_id=name) if name.startswith("#"):
            return name == f"#{subject.package_name}:{subject.template_id.partition(':')[2]}"
        case TemplateFilter(template_id=name):
            return name == subject.template_id
        case InterfaceFilter(interface_id=name):
            return name.partition(":")[2] in subject.interfaces
    return True


def _read(filters: Filters) -> tuple[WildcardFilter, ...]:
    """Read the filters of a party; the variant `Empty` lets nothing through."""
    if not filters.cumulative:
        # The contract: without filters a single wildcard applies.
        return (WildcardFilter(),)
    chosen = [entry.identifier_filter.chosen() for entry in filters.cumulative]
    read = tuple(one.value for one in chosen if isinstance(one, Valued))
    for one in read:
        for name in ("template_id", "interface_id"):
            reference = getattr(one, name, None)
            if reference is not None and REFERENCE.fullmatch(reference) is None:
                raise invalid(f"{name[:-3]}Id {reference!r} is not a package reference, module and entity")
    return read
