"""The ledger's calls that read updates and contracts: one update, or pages by offset; `Ledger` inherits them.

Offsets number the updates of one participant, and a page token is valid only at the participant that issued it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec import Raw, Struct

from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import Update, reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.event_formats import (
    EventFormat,
    TransactionFormat,
    chosen_format,
    chosen_json,
    event_format_json,
    update_format_json,
)
from ledgerframes.interfaces.ledger_answers import (
    LedgerTransaction,
    Reassignment,
    bare,
    read_transaction,
    read_update,
)
from ledgerframes.interfaces.rules import Count64, LedgerString, Positive32, Text, fits, without_none
from ledgerframes.transport import Endpoint

LEDGER_END: Final = Endpoint("ledger", "GET", "/v2/state/ledger-end")
UPDATES_PAGE: Final = Endpoint("ledger", "POST", "/v2/updates/get-updates-page")
CONTRACTS_PAGE: Final = Endpoint(
    "ledger",
    "POST",
    "/v2/state/active-contracts-page",
    since="Canton has it since 3.5.10; 3.5.1 to 3.5.9 have a GET with a body in its place, which cannot be sent",
)
TRANSACTION_BY_ID: Final = Endpoint(
    "ledger",
    "POST",
    "/v2/updates/transaction-by-id",
    deprecated="deprecated since release 3.4; newer releases have POST /v2/updates/update-by-id, used where it is",
)
UPDATE_BY_ID: Final = Endpoint("ledger", "POST", "/v2/updates/update-by-id")
UPDATE_BY_HASH: Final = Endpoint("ledger", "POST", "/v2/updates/update-by-hash", since="Canton has it since 3.6")


class SynchronizerTime(Struct, frozen=True, rename="camel"):
    """Up to which record time a participant has seen a synchronizer; without a connection, that may be long ago."""

    synchronizer_id: str
    record_time: str


class LedgerEnd(Struct, frozen=True, rename="camel"):
    """The answer of `ledger_end`.

    Attributes:
        offset: the offset of the participant's newest update; 0 or None if it has none.
        synchronizer_times: None if the participant does not state them; Canton does since 3.6.
    """

    offset: int | None = None
    synchronizer_times: list[SynchronizerTime] | None = None


@dataclass(frozen=True)
class LedgerUpdate:
    """One update of a page.

    Attributes:
        kind: `Transaction`, `Reassignment`, `OffsetCheckpoint`, `TopologyTransaction`, or a kind of a later release.
        raw: its JSON without the wrapping object.
    """

    kind: str
    raw: bytes = field(repr=False)


@dataclass(frozen=True)
class LedgerUpdatesPage:
    """A page of a participant's updates.

    Attributes:
        updates: in the order of their offsets.
        lowest_offset_exclusive: the page has every requested update after this offset …
        highest_offset_inclusive: … and not after this one.
        next_page_token: of the page that follows, only valid at this participant; None after the last page.
    """

    updates: tuple[LedgerUpdate, ...] = field(repr=False)
    lowest_offset_exclusive: int
    highest_offset_inclusive: int
    next_page_token: str | None

    @property
    def committed(self) -> list[bytes]:
        """The JSON of its updates without checkpoints, which mark a time and have no events."""
        return [update.raw for update in self.updates if update.kind != "OffsetCheckpoint"]


@dataclass(frozen=True)
class LedgerContract:
    """One entry of a page of active contracts.

    Attributes:
        kind: `JsActiveContract`; `JsIncompleteUnassigned` of a contract that has left its synchronizer and has not
            arrived; `JsIncompleteAssigned` of one that has arrived before it was seen leaving.
        workflow_id: of the update that created or assigned it; None where none was set.
        raw: the entry's JSON without its kind.
    """

    kind: str
    workflow_id: str | None
    raw: bytes = field(repr=False)


@dataclass(frozen=True)
class LedgerContractsPage:
    """A page of the contracts that were active at an offset.

    Attributes:
        contracts: the page's entries, in no particular order.
        active_at_offset: the offset of the snapshot, the same on all its pages.
        next_page_token: of the page that follows, only valid at this participant; None after the last page.
    """

    contracts: tuple[LedgerContract, ...] = field(repr=False)
    active_at_offset: int
    next_page_token: str | None


class LedgerReadCalls(Calls):
    """The calls of the ledger interface that read updates and contracts. One method, one request."""

    @sends(TRANSACTION_BY_ID)
    def transaction_by_id(
        self,
        update_id: str,
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[Update[LedgerTransaction]]:
        """Read a transaction (contract: POST /v2/updates/transaction-by-id).

        A format is always sent, since participants refuse a request without one. Where the server has only
        update-by-id, that route is used.

        Args:
            update_id: the id of the transaction.
            requesting_parties: whose events to show: every template, creations and exercises.
            transaction_format: which events to show, and how; not together with `requesting_parties`. Without
                either, whatever any party sees is shown, which requires the right to read as any party.

        Raises:
            NotFoundError: the participant does not know the transaction.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"updateId": fits(update_id, LedgerString, "update_id")}
        older = TRANSACTION_BY_ID.request(json=body | {"transactionFormat": shown})
        # Release 3.6 has only update-by-id, which refuses a request without `updateFormat`.
        newer = UPDATE_BY_ID.request(json=body | {"updateFormat": {"includeTransactions": shown}})
        return Call(older, read_transaction, alternatives=(newer,))

    @sends(UPDATE_BY_ID, neighbour=True, like=transaction_by_id)
    def update_by_id(
        self,
        update_id: str,
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[Update[LedgerTransaction | Reassignment]]:
        """Read a transaction or a reassignment (POST /v2/updates/update-by-id, the successor of transaction-by-id).

        If the server has only transaction-by-id, that is asked; it does not know reassignments. The format's events are
        those of a reassignment, too.

        Args:
            update_id: the update's id.

        Raises:
            NotFoundError: the participant does not know the update.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"updateId": fits(update_id, LedgerString, "update_id")}
        newer = UPDATE_BY_ID.request(json=body | {"updateFormat": update_format_json(shown)})
        older = TRANSACTION_BY_ID.request(json=body | {"transactionFormat": shown})
        return Call(newer, read_update, alternatives=(older,))

    @sends(UPDATE_BY_HASH, neighbour=True, like=transaction_by_id)
    def update_by_hash(
        self,
        hash: str,  # noqa: A002 - the field's word
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
    ) -> Call[Update[LedgerTransaction | Reassignment]]:
        """Read a transaction by the hash that an external party signed (POST /v2/updates/update-by-hash).

        Args:
            hash: as the participant writes it, in `transaction_hash` of a transaction or a prepared submission.

        Raises:
            NotFoundError: the participant does not know the hash, or its release does not serve the route.
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown = chosen_json(requesting_parties, transaction_format)
        body = {"transactionHash": fits(hash, Text, "hash"), "updateFormat": update_format_json(shown)}
        return Call(UPDATE_BY_HASH.request(json=body), read_update)

    @sends(LEDGER_END, neighbour=True)
    def ledger_end(self) -> Call[LedgerEnd]:
        """Read the offset of the participant's newest update, and synchronizers' times (GET /v2/state/ledger-end).

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     net.ledger.ledger_end().offset
            75
        """
        return Call(LEDGER_END.request(), reads(LedgerEnd))

    @sends(UPDATES_PAGE, neighbour=True, like=transaction_by_id)
    def updates_page(
        self,
        *,
        requesting_parties: Iterable[str] | None = None,
        transaction_format: TransactionFormat | None = None,
        begin_exclusive: int | None = None,
        end_inclusive: int | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
        descending: bool = False,
    ) -> Call[LedgerUpdatesPage]:
        """Read a page of transactions and reassignments (POST /v2/updates/get-updates-page).

        For a further page give the same arguments and `page_token`, and ask the same participant: with several, use
        `net.ledger.on(server)`. Without `end_inclusive`, in ascending order, there is always a further page. The
        format's events are those of reassignments, too.

        Args:
            begin_exclusive: only updates after this offset; None or 0 begins with the participant's history.
            end_inclusive: only updates up to this offset.
            page_size: the most items to return; the participant chooses without it, and refuses too large ones.
            page_token: the `next_page_token` of the page before; None or empty is the first page.
            descending: newest first.

        Raises:
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        shown_events = chosen_json(requesting_parties, transaction_format)
        begin = fits(begin_exclusive, Count64 | None, "begin_exclusive")
        end = fits(end_inclusive, Count64 | None, "end_inclusive")
        if begin is not None and end is not None and begin > end:
            raise InputError(f"begin_exclusive={begin} is after end_inclusive={end}; give a range from old to new")
        body = without_none(
            updateFormat=update_format_json(shown_events),
            beginOffsetExclusive=begin,
            endOffsetInclusive=end,
            maxPageSize=fits(page_size, Positive32 | None, "page_size"),
            pageToken=fits(page_token, str | None, "page_token") or None,
            descendingOrder=fits(descending, bool, "descending") or None,
        )
        return Call(UPDATES_PAGE.request(json=body), read_updates_page)

    @sends(CONTRACTS_PAGE, neighbour=True, like=updates_page)
    def active_contracts_page(
        self,
        *,
        requesting_parties: Iterable[str] | None = None,
        event_format: EventFormat | None = None,
        at_offset: int | None = None,
        page_size: int | None = None,
        page_token: str | None = None,
    ) -> Call[LedgerContractsPage]:
        """Read a page of the contracts that were active at an offset (POST /v2/state/active-contracts-page).

        For a further page give the same arguments and `page_token`, and ask the same participant: with several, use
        `net.ledger.on(server)`.

        Args:
            requesting_parties: whose contracts to show, of every template.
            event_format: which contracts to show, and how; not together with `requesting_parties`. Without either,
                every party's are shown, which requires the right to read as any party.
            at_offset: the offset; the participant's newest without it. At 0 nothing is active.

        Raises:
            NotAuthorizedError: the token's user may not read as these parties, or as any party.
        """
        chosen = chosen_format(requesting_parties, event_format, "event_format")
        shown_events = chosen.event_format if isinstance(chosen, TransactionFormat) else chosen
        body = without_none(
            eventFormat=event_format_json(shown_events, "event_format"),
            activeAtOffset=fits(at_offset, Count64 | None, "at_offset"),
            maxPageSize=fits(page_size, Positive32 | None, "page_size"),
            pageToken=fits(page_token, str | None, "page_token") or None,
        )
        return Call(CONTRACTS_PAGE.request(json=body), read_contracts_page)


class _Update(Struct):
    update: dict[str, Raw]


class _UpdatesPage(Struct, rename="camel"):
    lowest_page_offset_exclusive: int
    highest_page_offset_inclusive: int
    updates: list[_Update] | None = None
    next_page_token: str | None = None


class _Entry(Struct, rename="camel"):
    contract_entry: dict[str, Raw] | None = None
    workflow_id: str | None = None


class _ContractsPage(Struct, rename="camel"):
    active_at_offset: int
    active_contracts: list[_Entry] | None = None
    next_page_token: str | None = None


_updates_page: Final = reads(_UpdatesPage)
_contracts_page: Final = reads(_ContractsPage)


def read_updates_page(body: bytes) -> LedgerUpdatesPage:
    """Read the answer of get-updates-page; the updates are decoded on access."""
    page = _updates_page(body)
    sent = (only(wrapped.update, "an update") for wrapped in page.updates or ())
    updates = tuple(LedgerUpdate(kind, bare(raw)) for kind, raw in sent)
    low, high = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
    return LedgerUpdatesPage(updates, low, high, page.next_page_token or None)


def read_contracts_page(body: bytes) -> LedgerContractsPage:
    """Read the answer of active-contracts-page; entries without a contract (`JsEmpty`) are left out."""
    page = _contracts_page(body)
    contracts = []
    for entry in page.active_contracts or ():
        if entry.contract_entry is None:
            continue
        kind, content = only(entry.contract_entry, "a contract entry")
        if kind != "JsEmpty":
            contracts.append(LedgerContract(kind, entry.workflow_id or None, content))
    return LedgerContractsPage(tuple(contracts), page.active_at_offset, page.next_page_token or None)


def only(variants: dict[str, Raw], thing: str) -> tuple[str, bytes]:
    """The kind and the content of an object with one key.

    Raises:
        msgspec.ValidationError: it has none, or several.
    """
    if len(variants) != 1:
        raise msgspec.ValidationError(f"{thing} has exactly one key, its kind; this one has {sorted(variants)}")
    ((kind, content),) = variants.items()
    return kind, bytes(content)
