"""Typed answers that several calls share: contracts, and the items of the update history.

Unknown members are ignored here; the loaders keep them. Numbers with a fraction become `Decimal`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from ledgerframes.decoding.page_index import ENDPOINT, peek
from ledgerframes.decoding.splitting import UNREADABLE, NotWholeError, members_of, place_of, raws_of, reason_of
from ledgerframes.errors import DecodeError
from ledgerframes.paging.cursor import Glimpse

T = TypeVar("T")


def exact(text: str) -> Decimal:
    """A number with a fraction or an exponent.

    Raises:
        msgspec.ValidationError: its exponent is beyond any number.
    """
    try:
        # Python's decimals refuse exponents beyond their limits, and JSON allows any.
        return Decimal(text)
    except InvalidOperation as error:
        raise msgspec.ValidationError(f"the number {text[:40]} is too large for any use") from error


def reads(answer: type[T]) -> Callable[[bytes], T]:
    """A reader of bodies that are one JSON value of this type."""
    # As floats, amounts would lose digits after the 17th.
    return msgspec.json.Decoder(answer, float_hook=exact).decode


class Contract(Struct, frozen=True):
    """A contract (contract: Resources, Common record).

    Attributes:
        payload: the template's own record, as raw JSON; `arguments` decodes it.
    """

    template_id: str
    contract_id: str
    payload: Raw
    created_event_blob: str
    created_at: str

    @property
    def arguments(self) -> Any:
        """The payload as Python values."""
        return msgspec.json.decode(self.payload)


class ContractWithState(Struct, frozen=True):
    """A contract and the synchronizer it is assigned to; the contract is absent when a cache hint held."""

    contract: Contract | None = None
    domain_id: str | None = None


class TreeEvent(Struct, frozen=True):
    """An event of a transaction tree; which members are there depends on `event_type`."""

    event_type: str
    event_id: str | None = None
    contract_id: str | None = None
    template_id: str | None = None
    package_name: str | None = None
    create_arguments: Any = None
    created_at: str | None = None
    signatories: list[str] = []
    observers: list[str] = []
    choice: str | None = None
    choice_argument: Any = None
    child_event_ids: list[str] = []
    exercise_result: Any = None
    consuming: bool | None = None
    acting_parties: list[str] = []
    interface_id: str | None = None


class TransactionItem(Struct, frozen=True):
    """A transaction of scan's history (contract: Scan update history items)."""

    update_id: str
    migration_id: int
    workflow_id: str
    record_time: str
    synchronizer_id: str
    effective_at: str
    root_event_ids: list[str]
    events_by_id: dict[str, TreeEvent]
    offset: str | None = None
    external_transaction_hash: str | None = None

    @property
    def kind(self) -> Literal["transaction"]:
        """What the update is."""
        return "transaction"


class ReassignmentHalf(Struct, frozen=True):
    """The assignment, if it has `created_event`, or the unassignment of a reassignment."""

    submitter: str
    source_synchronizer: str
    target_synchronizer: str
    migration_id: int
    reassignment_counter: int
    unassign_id: str | None = None
    contract_id: str | None = None
    created_event: TreeEvent | None = None


class ReassignmentItem(Struct, frozen=True):
    """One leg of a reassignment in scan's history."""

    update_id: str
    record_time: str
    event: ReassignmentHalf
    offset: str | None = None

    @property
    def migration_id(self) -> int:
        """The target's migration id of an assignment, the source's of an unassignment."""
        return self.event.migration_id

    @property
    def kind(self) -> Literal["assignment", "unassignment"]:
        """What the update is."""
        return "unassignment" if self.event.created_event is None else "assignment"


UpdateItem = TransactionItem | ReassignmentItem


class _Tell(Struct):
    event: Raw = Raw(b"null")


_tell: Final = msgspec.json.Decoder(_Tell)
_transaction: Final = reads(TransactionItem)
_reassignment: Final = reads(ReassignmentItem)


def _page_of(raws: Sequence[bytes | Raw]) -> bytes:
    return b'{"transactions":[' + b",".join(map(bytes, raws)) + b"]}"


def _item(raw: bytes | Raw) -> UpdateItem:
    whole = bytes(raw)
    return _transaction(whole) if bytes(_tell.decode(whole).event) == b"null" else _reassignment(whole)


def _unreadable(position: int, raw: bytes, reason: Exception | None) -> DecodeError:
    try:
        named = msgspec.json.decode(members_of(raw)[b'"update_id"'], type=str)
    except (NotWholeError, KeyError, *UNREADABLE):
        named = f"at position {position}"
    return DecodeError(
        f"{ENDPOINT}: item {position} (update {named}) cannot be read as JSON: {reason}. What to do: ask"
        ' another server; in a lake, on_error="reject" puts it aside and continues',
        endpoint=ENDPOINT, table="updates", item=named,
    )  # fmt: skip


@dataclass(frozen=True)
class Update:
    """One update as a server sent it.

    Attributes:
        raw: the JSON of the item.
        item: the same, typed.
    """

    raw: bytes = field(repr=False)
    item: UpdateItem

    @classmethod
    def read(cls, body: bytes) -> Update:
        """Read the body of a look-up by id or by hash."""
        return cls(body, _item(body))


@dataclass(frozen=True)
class UpdatesPage:
    """One page of the update history, in ascending order of migration id and record time.

    Attributes:
        raw: the JSON of the page.
        glimpse: cursor and id of every item, the last of which is where the next page begins.
        unplaced: items without a place, and why, where they were to be left out.
    """

    raw: bytes = field(repr=False)
    glimpse: Glimpse = field(repr=False)
    unplaced: tuple[tuple[bytes, DecodeError], ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, body: bytes) -> UpdatesPage:
        """Read the body of POST /v2/updates.

        Raises:
            DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
        """
        try:
            return cls(body, peek(body))
        except UNREADABLE:
            for position, raw in enumerate(raws_of(body)):
                if (reason := reason_of(raw)) is not None:
                    raise _unreadable(position, raw, reason) from reason
            raise

    @classmethod
    def read_leniently(cls, body: bytes) -> UpdatesPage:
        """Read the body of POST /v2/updates, leaving out items that say no place in the history.

        An invalid item with a readable migration id and record time stays in the page; decoding it reports the fault.

        Raises:
            DecodeError: no item has a readable record time, or only those of one instant: the next page is unknown.
        """
        try:
            return cls.read(body)
        except DecodeError:
            placed, places, unplaced = [], [], []
            for position, raw in enumerate(raws_of(body)):
                reason = reason_of(raw)
                try:
                    place = raw if reason is None else place_of(raw)
                    peek(_page_of([place]))
                except DecodeError as error:
                    unplaced.append((raw, error))
                except (NotWholeError, *UNREADABLE):
                    unplaced.append((raw, _unreadable(position, raw, reason)))
                else:
                    placed.append(raw)
                    places.append(place)
            glimpse = peek(_page_of(places))
            # With fewer than two cursors left, paging could not tell whether the page ends inside a tie.
            if unplaced and len(set(glimpse.cursors)) < 2:
                raise
            return cls(_page_of(placed), glimpse, tuple(unplaced))

    @cached_property
    def items(self) -> tuple[UpdateItem, ...]:
        """The typed items.

        Raises:
            DecodeError: one of them breaks the contract.
        """
        return tuple(self._typed(raw, row) for row, raw in enumerate(raws_of(self.raw)))

    def _typed(self, raw: bytes, row: int) -> UpdateItem:
        try:
            return _item(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DecodeError(f"{ENDPOINT}: item {row}: {error}", endpoint=ENDPOINT, item=str(row)) from error

    def __len__(self) -> int:
        return len(self.glimpse.cursors)
