"""The events that a ledger request asks for: its formats as received, and the resulting selection."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from ledgerframes.sandbox.commands.errors import UnreadableError, invalid
from ledgerframes.sandbox.world.templates import IMPLEMENTED

Shape = Literal["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"]
LEDGER_EFFECTS: Final = "TRANSACTION_SHAPE_LEDGER_EFFECTS"

_MEMBERS: Final = {"TemplateFilter": "templateId", "InterfaceFilter": "interfaceId"}
_FLAGS: Final = frozenset({"includeCreatedEventBlob", "includeInterfaceView"})
REFERENCE: Final = re.compile(r"(#?)([^:#]+):([^:]+:[^:]+)")


class CumulativeFilter(Struct, rename="camel"):
    """One entry of a filter; its one member names the variant."""

    identifier_filter: dict[str, dict[str, Any]]


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


def _matcher(variants: dict[str, dict[str, Any]]) -> Matcher:
    if len(variants) != 1:
        raise UnreadableError("Invalid value for: body (identifierFilter takes exactly one variant)")
    ((name, body),) = variants.items()
    if name == "Empty":
        # An empty filter widens nothing.
        return Matcher(nothing=True)
    value = body.get("value")
    if name not in (*_MEMBERS, "WildcardFilter") or not isinstance(value, dict):
        raise UnreadableError(f"Invalid value for: body (identifierFilter {name!r} is none, or lacks its value)")
    for flag in _FLAGS & value.keys():
        if not isinstance(value[flag], bool):
            raise UnreadableError(f"Invalid value for: body ({flag} must be a boolean)")
    with_blob = value.get("includeCreatedEventBlob", False)
    if name == "WildcardFilter":
        return Matcher(with_blob=with_blob)
    reference = value.get(_MEMBERS[name])
    parts = REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
    if parts is None:
        raise invalid(f"{_MEMBERS[name]} {reference!r} is not a package reference, module and entity")
    if name == "TemplateFilter":
        return Matcher(template_id=parts[0], with_blob=with_blob)
    return Matcher(interface=parts[3], view=parts[0] if value.get("includeInterfaceView") else "", with_blob=with_blob)
