"""Typed answers that several calls share: contracts, and the items of the two histories.

Unknown members are ignored here; the loaders keep them. Numbers with a fraction become `Decimal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Final, Generic, Literal, TypeVar, cast, get_args

import msgspec
from msgspec import Raw, Struct

from ledgerframes.errors import DecodeError, LedgerframesError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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


def reads(answer: type[T], *path: str) -> Callable[[bytes | Raw], T]:
    """A reader of bodies that are a JSON value of this type, or objects that have one at a path of members."""
    return cast("Callable[[bytes | Raw], T]", _reader(cast("Any", answer), path))


def reads_optional(answer: type[T], *path: str) -> Callable[[bytes | Raw], T | None]:
    """A reader like that of `reads`; None where the last member of the path is missing or null."""
    return cast("Callable[[bytes | Raw], T | None]", _reader(cast("Any", answer) | None, path))


@cache
def _reader(answer: Any, path: tuple[str, ...]) -> Callable[[bytes | Raw], Any]:
    if not path:
        # As floats, amounts would lose digits after the 17th.
        return msgspec.json.Decoder(answer, float_hook=exact).decode
    default = (None,) if type(None) in get_args(answer) else ()
    struct = msgspec.defstruct("Answer", [("value", answer, *default)], rename={"value": path[-1]})
    decode = _reader(struct, path[:-1])
    return lambda body: decode(body).value


@contextmanager
def reading(
    endpoint: object, *, problem: str = "", table: str | None = None, column: str | None = None, item: str | None = None
) -> Iterator[None]:
    """Turn a breach of the contract into an error that names the place.

    Args:
        endpoint: method and path.
        problem: what is wrong, where that is known better than by the reader's own words.
        table: the table being filled.
        column: its column.
        item: which item of the answer.

    Raises:
        DecodeError: it breaks the contract.
    """
    try:
        yield
    except LedgerframesError:
        raise
    except (msgspec.DecodeError, ValueError, KeyError, RecursionError) as error:
        place = f"{endpoint}: " if item is None else f"{endpoint}: {item}: "
        text = f"{place}{problem or error}"
        raise DecodeError(text, endpoint=str(endpoint), table=table, column=column, item=item) from error


#: Readers of an object's members and of a list's elements, each left as JSON.
members_of: Final = reads(dict[str, Raw])
elements_of: Final = reads(list[Raw])


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

    def __repr__(self) -> str:
        name = self.template_id.partition(":")[2] or self.template_id
        return f"Contract({name} {self.contract_id[:16]}…, created {self.created_at})"


class ListPage(Struct, frozen=True):
    """A page of a list; its repr counts the items, since those of a full page would fill screens."""

    def __repr__(self) -> str:
        members = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = (f"{len(it):,} {name}" if isinstance(it, list) else f"{name}={it!r}" for name, it in members)
        return f"{type(self).__name__}({', '.join(shown)})"


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
        """The kind of the update."""
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
        """The kind of the update."""
        return "unassignment" if self.event.created_event is None else "assignment"


UpdateItem = TransactionItem | ReassignmentItem


class _Tell(Struct):
    event: Raw = Raw(b"null")


_tell: Final = msgspec.json.Decoder(_Tell)
_transaction: Final = reads(TransactionItem)
_reassignment: Final = reads(ReassignmentItem)


def update_item(raw: bytes | Raw) -> UpdateItem:
    """One item of the update history, typed.

    Raises:
        msgspec.DecodeError: it breaks the contract.
    """
    whole = bytes(raw)
    return _transaction(whole) if bytes(_tell.decode(whole).event) == b"null" else _reassignment(whole)


@dataclass(frozen=True)
class Update(Generic[T_co]):
    """One update as a server sent it.

    Attributes:
        raw: its JSON, the same whichever route gave it.
        item: the same, typed.
    """

    raw: bytes = field(repr=False)
    item: T_co


def read_update(body: bytes) -> Update[UpdateItem]:
    """Read the body of a look-up by id or by hash."""
    return Update(body, update_item(body))
