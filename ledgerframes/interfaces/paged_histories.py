"""The two histories that scan returns in pages, `PagedHistory`, and a page of one, `HistoryPage`, to be decoded.

`OneNetwork` tells pages of two networks apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import msgspec
import pyarrow as pa

from ledgerframes.decoding.events import decode_event_items
from ledgerframes.decoding.history import Batches, decode_items, decode_regular
from ledgerframes.decoding.lenient import beginning
from ledgerframes.decoding.page_index import ENDPOINT, EVENTS_ENDPOINT, peek, peek_events
from ledgerframes.decoding.pages import CompiledPage, decode_compiled, read_compiled
from ledgerframes.decoding.splitting import (
    UNREADABLE,
    NotWholeError,
    members_of,
    place_of,
    place_of_event,
    raws_of,
    reason_of,
)
from ledgerframes.errors import DecodeError, PagingError
from ledgerframes.interfaces.answers import reading, reads, update_item
from ledgerframes.paging.cursor import PageIndex

#: Maximum bytes of small pages that are decoded together.
# A page of 50 items has 245 kB; alone, half of the decoding time goes into 48 columns, however few rows they have.
TOGETHER: Final = 2_000_000
#: How the name of the DSO's party begins, on every network.
_DSO: Final = "DSO::"
#: The items of a page that are examined for the network that they name.
_FEW: Final = 50
#: Items without a cursor, and why.
Unplaced = tuple[tuple[bytes, DecodeError], ...]


@dataclass(frozen=True)
class PagedHistory:
    """One of the histories.

    Attributes:
        endpoint: method and path of its pages.
        tables: the tables that its pages fill, in the order in which a store writes them: pages are compared by the ids
            of the last one, whose rows decide what readers see.
        member: the member of a page that contains the items.
        peek: reads the cursors and ids of a page's body.
        place_of: reduces an item to the members that form its cursor.
        decode_items: converts single items to columns.
        typed: reads an item as a value with attributes.
        decode_regular: converts a page's body without anything unusual, which is faster than its items one by one.
        compiled: whether the compiled decoder reads its pages.
    """

    endpoint: str
    tables: tuple[str, ...]
    member: str
    peek: Callable[[bytes], PageIndex]
    place_of: Callable[[bytes], bytes]
    decode_items: Callable[..., Batches]
    typed: Callable[[bytes], Any]
    decode_regular: Callable[..., Batches | None] | None = None
    compiled: bool = False

    @property
    def index(self) -> str:
        """The table with one row per item."""
        return self.tables[-1]

    def raws_of(self, body: bytes) -> list[bytes]:
        """The items of a page as they were sent.

        Raises:
            msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is not a page, or not a complete one.
        """
        return raws_of(body, self.member)

    def body_of(self, raws: Sequence[bytes | msgspec.Raw]) -> bytes:
        """The body of a page with these items."""
        return b'{"%b":[%b]}' % (self.member.encode(), b",".join(map(bytes, raws)))

    def decode_pages(
        self, pages: Sequence[tuple[HistoryPage, Sequence[int]]], *, tables: Collection[str] | None = None
    ) -> Batches:
        """Turn several pages into one set of columns, which is faster than one after the other if they are small.

        Args:
            pages: at least one, each with the positions of the items to decode.
            tables: which tables to build; all by default.

        Raises:
            DecodeError: one of them breaks the contract; it names endpoint, table, column and item.
        """
        wanted = self.tables if tables is None else tables
        known = [(page.compiled, rows) for page, rows in pages if page.compiled is not None]
        batches = decode_compiled(known, wanted) if len(known) == len(pages) else None
        if batches is not None:
            return batches
        if len(pages) > 1:
            parts = [self.decode_pages([page], tables=wanted) for page in pages]
            return {name: pa.concat_batches([part[name] for part in parts]) for name in parts[0]}
        ((page, rows),) = pages
        return self.decode_body(page.raw, tables=wanted, rows=rows)

    def decode_body(
        self, body: bytes, *, tables: Collection[str] | None = None, rows: Sequence[int] | None = None
    ) -> Batches:
        """Turn the body of a page into columns by the Python path, which defines the correct result.

        Raises:
            DecodeError: it breaks the contract.
        """
        wanted = self.tables if tables is None else tables
        regular = None if self.decode_regular is None else self.decode_regular(body, tables=wanted, rows=rows)
        if regular is not None:
            return regular
        try:
            raws = self.raws_of(body)
        except UNREADABLE as error:
            items = self.endpoint.rpartition("/")[2]
            raise DecodeError(
                f"{self.endpoint}: the answer is not a page of {items} ({error}): {beginning(body)}",
                endpoint=self.endpoint,
            ) from error
        return self.decode_items(raws, endpoint=self.endpoint, tables=wanted, rows=rows)


UPDATE_HISTORY: Final = PagedHistory(
    ENDPOINT, ("events", "reassignments", "updates"), "transactions", peek, place_of, decode_items, update_item,
    decode_regular, compiled=True,
)  # fmt: skip
EVENT_HISTORY: Final = PagedHistory(
    EVENTS_ENDPOINT, ("views", "app_activity", "verdicts"), "events", peek_events, place_of_event, decode_event_items,
    reads(dict[str, Any]),
)  # fmt: skip


@dataclass(frozen=True)
class HistoryPage:
    """One page of a history, in ascending order of migration id and record time.

    Attributes:
        raw: the page as sent.
        page_index: cursor and id of every item, the last of which is where the next page begins.
        history: which history it belongs to.
        compiled: the page as parsed by the compiled decoder; None if Python has to decode it.
        unplaced: items without a cursor, and why, if they were to be skipped.
    """

    raw: bytes = field(repr=False)
    page_index: PageIndex = field(repr=False)
    history: PagedHistory = field(repr=False)
    compiled: CompiledPage | None = field(default=None, repr=False)
    unplaced: Unplaced = field(default=(), repr=False)

    @classmethod
    def read(cls, body: bytes, history: PagedHistory = UPDATE_HISTORY) -> HistoryPage:
        """Take the body of a page apart, and read its cursors.

        Raises:
            DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
        """
        try:
            parsed = read_compiled(body) if history.compiled else None
            if parsed is not None:
                return cls(body, parsed.page_index, history, parsed)
            return cls(body, history.peek(body), history)
        except UNREADABLE:
            for position, raw in enumerate(history.raws_of(body)):
                if (reason := reason_of(raw)) is not None:
                    raise _unreadable(history, position, raw, reason) from reason
            raise

    @classmethod
    def read_leniently(cls, body: bytes, history: PagedHistory = UPDATE_HISTORY) -> HistoryPage:
        """Read a page, leaving out items that have no place in the history.

        An invalid item with a readable migration id and record time stays in the page; decoding it reports the fault.

        Raises:
            DecodeError: no item has a readable record time, or only those of one instant: the next page is unknown.
        """
        try:
            return cls.read(body, history)
        except DecodeError:
            placed, peekable, unplaced = [], [], []
            for position, raw in enumerate(history.raws_of(body)):
                reason = reason_of(raw)
                try:
                    place = raw if reason is None else history.place_of(raw)
                    history.peek(history.body_of([place]))
                except DecodeError as error:
                    unplaced.append((raw, error))
                except (NotWholeError, *UNREADABLE):
                    unplaced.append((raw, _unreadable(history, position, raw, reason)))
                else:
                    placed.append(raw)
                    peekable.append(place)
            page_index = history.peek(history.body_of(peekable))
            # With fewer than two cursors left, paging could not tell whether the page ends inside a tie.
            if unplaced and len(set(page_index.cursors)) < 2:
                raise
            return cls(history.body_of(placed), page_index, history, unplaced=tuple(unplaced))

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The items: typed ones of updates; of events each a dict with its update, verdict and what else was sent.

        Raises:
            DecodeError: one of them breaks the contract.
        """
        return tuple(self._item(raw, row) for row, raw in enumerate(self.history.raws_of(self.raw)))

    def _item(self, raw: bytes, row: int) -> Any:
        with reading(self.history.endpoint, item=f"item {row}"):
            return self.history.typed(raw)

    def __repr__(self) -> str:
        cursors = self.page_index.cursors
        span = f", {cursors[0]} to {cursors[-1]}" if cursors else ""
        return f"HistoryPage({len(cursors)} item{'' if len(cursors) == 1 else 's'}{span})"

    def __len__(self) -> int:
        return len(self.page_index.cursors)


def _unreadable(history: PagedHistory, position: int, raw: bytes, reason: Exception | None) -> DecodeError:
    try:
        named = history.peek(history.body_of([history.place_of(raw)])).update_ids[0]
    except (NotWholeError, DecodeError, *UNREADABLE):
        named = _named(raw) or f"at position {position}"
    return DecodeError(
        f"{history.endpoint}: item {position} (update {named}) cannot be read as JSON: {reason}. What to do: ask"
        ' another server; in a lake, on_error="reject" puts it aside and continues',
        endpoint=history.endpoint, table=history.index, item=named,
    )  # fmt: skip


def _named(raw: bytes) -> str:
    try:
        return str(msgspec.json.decode(members_of(raw)[b'"update_id"'], type=str))
    except (NotWholeError, KeyError, *UNREADABLE):
        return ""


@dataclass
class OneNetwork:
    """The first page of each server of a read, which must not be another network's than those before it.

    Attributes:
        history: the history that is read.
        pages: by server, its first page that is not empty.
    """

    history: PagedHistory
    pages: dict[str, HistoryPage] = field(default_factory=dict)

    def check(self, server: str, page: HistoryPage) -> None:
        """Take a page of a server.

        Raises:
            PagingError: the server belongs to another network than one that sent a page before.
        """
        if server in self.pages or not len(page):
            return
        for other, sent in self.pages.items():
            ours, theirs = map(_named_by, (sent, page))
            if are_two(ours, theirs):
                raise PagingError(
                    f"{self.history.endpoint}: {other} and {server} belong to two networks, that of"
                    f" {' and that of '.join(min(_dso(shown)) for shown in (ours, theirs))}. Leave one of them out"
                    " of scan_url"
                )
        self.pages[server] = page


def known_by(history: PagedHistory, page: HistoryPage, items: Sequence[int] | None = None) -> frozenset[str]:
    """The network that a page, or some of its items, show: their synchronizers, and the DSO's party.

    Their names end in a fingerprint.
    """
    items = range(len(page)) if items is None else items
    try:
        rows = history.decode_pages([(page, items)])
    except DecodeError:  # the others show as much
        return frozenset().union(*(known_by(history, page, [item]) for item in items if len(items) > 1))
    found: set[str] = {*rows[history.index]["synchronizer_id"].to_pylist()}
    if "events" in rows:
        for name in ("signatories", "observers"):
            found |= _dso(rows["events"][name].flatten().unique().to_pylist())
    return frozenset(found)


def _named_by(page: HistoryPage) -> frozenset[str]:
    """The network that the first items of a page show, also by who was informed of a request."""
    items = range(min(_FEW, len(page)))
    known = known_by(page.history, page, items)
    if page.history is not EVENT_HISTORY:
        return known
    try:
        views = page.history.decode_pages([(page, items)])["views"]
        return known | _dso(views["informees"].flatten().unique().to_pylist())
    except DecodeError:
        return known


def are_two(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether participants are those of two networks: they have nobody in common, though both name a DSO."""
    return not ours & theirs and bool(_dso(ours) and _dso(theirs))


def _dso(named: Iterable[str]) -> set[str]:
    return {one for one in named if one.startswith(_DSO)}
