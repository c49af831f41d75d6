"""Which events a ledger answer shows, and how: filters and formats as typed values; used by the ledger interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, get_args

from msgspec import Struct

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import PartyId, Text, each, fits, wrapped

T = TypeVar("T")
TransactionShape = Literal[
    "TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"
]
SHAPES: Final = get_args(TransactionShape)


class TemplateFilter(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Lets events of one template through.

    Attributes:
        template_id: `#package-name:Module:Entity`, or with a package id, which is deprecated.
        include_created_event_blob: add the blob that discloses a contract to others.
    """

    template_id: Text
    include_created_event_blob: bool | None = None


class InterfaceFilter(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Lets events of the templates that implement one interface through.

    Attributes:
        interface_id: `#package-name:Module:Entity`, or with a package id, which is deprecated.
        include_interface_view: add the contract as the interface sees it.
        include_created_event_blob: add the blob that discloses a contract to others.
    """

    interface_id: Text
    include_interface_view: bool | None = None
    include_created_event_blob: bool | None = None


class WildcardFilter(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Lets events of every template through."""

    include_created_event_blob: bool | None = None


class EmptyFilter(Struct, frozen=True):
    """The variant without meaning, `Empty`."""


Filter = TemplateFilter | InterfaceFilter | WildcardFilter | EmptyFilter


class Filters(Struct, frozen=True):
    """Filters that widen each other; none at all is the same as one `WildcardFilter()`.

    Attributes:
        cumulative: no template, interface or wildcard twice.
    """

    cumulative: Sequence[Filter] = ()


class EventFormat(Struct, frozen=True, kw_only=True):
    """Which events are shown (contract: Resources, EventFormat).

    Attributes:
        filters_by_party: by party id, the part shown of the party's events.
        filters_for_any_party: the part shown of any party's events, which requires the right to read as any party.
        verbose: add labels and types to values.
    """

    filters_by_party: Mapping[str, Filters] = {}
    filters_for_any_party: Filters | None = None
    verbose: bool = False


class TransactionFormat(Struct, frozen=True, kw_only=True):
    """Which events of a transaction are shown, and in which shape (contract: Resources, TransactionFormat).

    Attributes:
        event_format: which events.
        transaction_shape: `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals;
            `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises.
    """

    event_format: EventFormat
    transaction_shape: TransactionShape = "TRANSACTION_SHAPE_ACS_DELTA"


def whole_format(parties: Sequence[str] | None, *, interfaces: Sequence[str] = ()) -> TransactionFormat:
    """The format that leaves nothing out: every template, creations and exercises, values with their types.

    Args:
        parties: whose view; None is any party's, which requires the right to read as any party.
        interfaces: interfaces whose views of the contracts are to be added, as `InterfaceFilter` names them.
    """
    views = [InterfaceFilter(interface, include_interface_view=True) for interface in interfaces]
    # Each filter widens the result, so the views come in addition to all events.
    filters = Filters([WildcardFilter(), *views])
    if parties is None:
        shown = EventFormat(filters_for_any_party=filters, verbose=True)
    else:
        shown = EventFormat(filters_by_party=dict.fromkeys(parties, filters), verbose=True)
    # Only this shape has exercises; the others show creations and archivals in sum.
    return TransactionFormat(event_format=shown, transaction_shape="TRANSACTION_SHAPE_LEDGER_EFFECTS")


def chosen_json(parties: Iterable[str] | None, custom: TransactionFormat | None) -> dict[str, Any]:
    """The format of a request as the ledger interface writes it, made from the parties where none is given.

    Raises:
        InputError: both are given, or a rule of the contract is broken.
    """
    # With an id alone real servers answer 400: "Either transaction_format or requesting_parties is required".
    name = "transaction_format"
    chosen = chosen_format(parties, custom, name)
    if not isinstance(chosen, TransactionFormat):
        raise InputError(f"{name}={shown(chosen)}; give a TransactionFormat")
    if chosen.transaction_shape not in SHAPES:
        shape = shown(chosen.transaction_shape)
        raise InputError(f"{name}.transaction_shape={shape}; give one of {', '.join(SHAPES)}")
    return {
        "eventFormat": event_format_json(chosen.event_format, f"{name}.event_format"),
        "transactionShape": chosen.transaction_shape,
    }


def chosen_format(parties: Iterable[str] | None, custom: T | None, name: str) -> T | TransactionFormat:
    """The caller's format; without one, that which shows everything that the parties see.

    Raises:
        InputError: both are given, or a party id is not valid.
    """
    if custom is None:
        return whole_format(None if parties is None else each(parties, "requesting_parties", kind=PartyId, least=1))
    if parties is not None:
        raise InputError(f"requesting_parties={shown(parties)} excludes {name}; give {name} only")
    return custom


def update_format_json(transactions: dict[str, Any]) -> dict[str, Any]:
    """The format of an update of either kind: reassignments are found only if the request includes them."""
    return {"includeTransactions": transactions, "includeReassignments": transactions["eventFormat"]}


def event_format_json(value: EventFormat, name: str) -> dict[str, Any]:
    """An event format as the ledger interface writes it.

    Raises:
        InputError: a rule of the contract is broken.
    """
    if not isinstance(value, EventFormat) or not isinstance(value.filters_by_party, Mapping):
        raise InputError(f"{name}={shown(value)}; give an EventFormat whose filters_by_party is a dict")
    place = f"{name}.filters_by_party"
    by_party = {
        fits(party, PartyId, f"{place} key"): _filters_json(filters, f"{place}[{party!r}]")
        for party, filters in value.filters_by_party.items()
    }
    body: dict[str, Any] = {"filtersByParty": by_party, "verbose": fits(value.verbose, bool, f"{name}.verbose")}
    if value.filters_for_any_party is not None:
        body["filtersForAnyParty"] = _filters_json(value.filters_for_any_party, f"{name}.filters_for_any_party")
    return body


def _filters_json(value: Filters, name: str) -> dict[str, Any]:
    if not isinstance(value, Filters):
        raise InputError(f"{name}={shown(value)}; give Filters")
    filters: tuple[Filter, ...] = each(value.cumulative, f"{name}.cumulative", kind=Filter)
    # The contract says that none should occur twice, without defining what a server does then.
    for seen, times in Counter(
        _subject(event_filter) for event_filter in filters if not isinstance(event_filter, EmptyFilter)
    ).items():
        if times > 1:
            raise InputError(f"{name}.cumulative names {seen} {times} times; give it once")
    return {"cumulative": [{"identifierFilter": wrapped(event_filter)} for event_filter in filters]}


def _subject(one: Filter) -> str:
    """The subject of a filter; two filters must not share one."""
    match one:
        case TemplateFilter(template_id=template):
            return f"the template {template!r}"
        case InterfaceFilter(interface_id=interface):
            return f"the interface {interface!r}"
    return "the wildcard"
