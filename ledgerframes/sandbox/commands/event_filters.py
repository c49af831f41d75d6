"""The events that a ledger request asks for: its formats as received, and the resulting selection."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct

from ledgerframes.sandbox.commands.errors import UnreadableError, invalid
from ledgerframes.sandbox.world.templates import IMPLEMENTED

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
        given = [value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None]
        if len(given) != 1:
            names = ", ".join(self.__struct_encode_fields__)
            raise UnreadableError(f"Invalid value for: body (exactly one of {names} is to be given)")
        return given[0]


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
class Matcher:
    """One entry of a filter, ready to be applied.

    Attributes:
        template_id: the requested template, as a reference; empty for any.
        interface: the requested interface, as `Module:Entity`; empty for any.
        view: the interface whose view is requested, as it was referred to; empty for none.
        nothing: nothing matches: the variant `Empty`.
    """

    template_id: str = ""
    interface: str = ""
    view: str = ""
    with_blob: bool = False
    nothing: bool = False

    def matches(self, subject: Subject) -> bool:
        """Whether an event is let through."""
        if self.template_id.startswith("#"):
            entity = subject.template_id.partition(":")[2]
            return self.template_id == f"#{subject.package_name}:{entity}"
        if self.template_id:
            return self.template_id == subject.template_id
        return self.interface in subject.interfaces if self.interface else not self.nothing


@dataclass(frozen=True, slots=True)
class Selection:
    """The parties whose events are requested, and which of their events.

    Attributes:
        by_party: by party, the requested part of its events.
        anyone: the requested part of all events, if any.
    """

    by_party: Mapping[str, tuple[Matcher, ...]]
    anyone: tuple[Matcher, ...] | None = None

    def parties(self, witnesses: Iterable[str]) -> list[str]:
        """The witnesses that are requesting parties."""
        return [party for party in witnesses if self.anyone is not None or party in self.by_party]

    def look(self, subject: Subject, witnesses: Collection[str]) -> Seen | None:
        """How an event with these witnesses is seen; None if it is not."""
        asked = [matcher for party in witnesses for matcher in self.by_party.get(party, ())] + list(self.anyone or ())
        matching = [matcher for matcher in asked if matcher.matches(subject)]
        views = tuple(dict.fromkeys(matcher.view for matcher in matching if matcher.view))
        return (
            Seen(self.parties(witnesses), any(matcher.with_blob for matcher in matching), views) if matching else None
        )


def everything(parties: Iterable[str], *, anyone: bool = False) -> Selection:
    """All events of these parties, or all events."""
    return Selection({party: (Matcher(),) for party in parties}, (Matcher(),) if anyone else None)


def selection(wanted: EventFormat) -> Selection:
    """The selection of a format.

    Raises:
        UnreadableError: a filter is not one variant with its members.
        LedgerError: no party's events are requested, or a reference is not valid.
    """
    if not wanted.filters_by_party and wanted.filters_for_any_party is None:
        raise invalid("filtersByParty and filtersForAnyParty cannot both be empty")
    anyone = None if wanted.filters_for_any_party is None else _matchers(wanted.filters_for_any_party)
    return Selection({party: _matchers(filters) for party, filters in wanted.filters_by_party.items()}, anyone)


def interfaces_of(template_id: str, through: str | None = None) -> tuple[str, ...]:
    """The interfaces of a template, and the one a choice came through."""
    implemented = IMPLEMENTED.get(template_id.partition(":")[2], ())
    return implemented if through is None else (*implemented, through.partition(":")[2])


def _matchers(filters: Filters) -> tuple[Matcher, ...]:
    # The contract: without filters a single wildcard applies.
    return tuple(_matcher(event_filter.identifier_filter) for event_filter in filters.cumulative) or (Matcher(),)


def _matcher(variants: IdentifierFilter) -> Matcher:
    match variants.chosen():
        case Valued(value=TemplateFilter() as wanted):
            _parts(wanted.template_id, "templateId")
            return Matcher(template_id=wanted.template_id, with_blob=wanted.include_created_event_blob)
        case Valued(value=InterfaceFilter() as wanted):
            view = wanted.interface_id if wanted.include_interface_view else ""
            interface = _parts(wanted.interface_id, "interfaceId")[3]
            return Matcher(interface=interface, view=view, with_blob=wanted.include_created_event_blob)
        case Valued(value=WildcardFilter() as wanted):
            return Matcher(with_blob=wanted.include_created_event_blob)
    return Matcher(nothing=True)


def _parts(reference: str, name: str) -> re.Match[str]:
    parts = REFERENCE.fullmatch(reference)
    if parts is None:
        raise invalid(f"{name} {reference!r} is not a package reference, module and entity")
    return parts
