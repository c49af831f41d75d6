"""Pages of scan's two histories, `HistoryPage`; where they come from, `PageSource`; `ScanPages`, those of servers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec

from ledgerframes.config.settings import source_of
from ledgerframes.decoding.paged_histories import EVENT_HISTORY, UPDATE_HISTORY, Content, PagedHistory
from ledgerframes.decoding.splitting import UNREADABLE, NotWholeError, members_of, reason_of
from ledgerframes.errors import DecodeError, InputError, NoAnswerError, RequestError, StatusError
from ledgerframes.interfaces.answers import reading, reads, update_item
from ledgerframes.paging.cursor import Bound, Cursor, PageIndex, bound
from ledgerframes.paging.modes import PageQuery
from ledgerframes.timestamps import format_timestamp
from ledgerframes.transport import Answer, Endpoint, Request, Sender, Stop

T = TypeVar("T")
ValueEncoding = Literal["compact_json", "protobuf_json"]

UPDATES: Final = Endpoint("scan", "POST", "/v2/updates")
EVENTS: Final = Endpoint("scan", "POST", "/v0/events")
# The servers' wording: "Exceeded limit maximum (2000 > 1000)."; an operator may set a lower maximum than 1,000.
_MAXIMUM: Final = re.compile(r"maximum \(\d+ > (\d+)\)")
_log = logging.getLogger("ledgerframes.transport")
#: Items without a cursor, and why.
Unplaced = tuple[tuple[bytes, DecodeError], ...]


@dataclass(frozen=True)
class HistoryPage:
    """One page of a history, in ascending order of migration id and record time.

    Attributes:
        raw: the page as sent.
        content: the page as parsed by the compiled decoder, or as sent.
        page_index: cursor and id of every item, the last of which is where the next page begins.
        history: which history it belongs to.
        unplaced: items without a cursor, and why, if they were to be skipped.
    """

    raw: bytes = field(repr=False)
    content: Content = field(repr=False)
    page_index: PageIndex = field(repr=False)
    history: PagedHistory = field(default=UPDATE_HISTORY, repr=False)
    unplaced: Unplaced = field(default=(), repr=False)

    @classmethod
    def read(cls, body: bytes, history: PagedHistory = UPDATE_HISTORY) -> HistoryPage:
        """Take the body of a page apart, and read its cursors.

        Raises:
            DecodeError: an item has no migration id and record time, or is not valid JSON; the message names it.
        """
        try:
            content = history.parse(body)
            return cls(body, content, history.peek(content), history)
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
                    history.peek(page_of(history, [place]))
                except DecodeError as error:
                    unplaced.append((raw, error))
                except (NotWholeError, *UNREADABLE):
                    unplaced.append((raw, _unreadable(history, position, raw, reason)))
                else:
                    placed.append(raw)
                    peekable.append(place)
            page_index = history.peek(page_of(history, peekable))
            # With fewer than two cursors left, paging could not tell whether the page ends inside a tie.
            if unplaced and len(set(page_index.cursors)) < 2:
                raise
            body = page_of(history, placed)
            return cls(body, body, page_index, history, tuple(unplaced))

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The items: typed ones of updates; of events each a dict with its update, verdict and what else was sent.

        Raises:
            DecodeError: one of them breaks the contract.
        """
        return tuple(self._item(raw, row) for row, raw in enumerate(self.history.raws_of(self.raw)))

    def _item(self, raw: bytes, row: int) -> Any:
        with reading(self.history.endpoint, item=f"item {row}"):
            return update_item(raw) if self.history is UPDATE_HISTORY else _event_item(raw)

    def __repr__(self) -> str:
        cursors = self.page_index.cursors
        span = f", {cursors[0]} to {cursors[-1]}" if cursors else ""
        return f"HistoryPage({len(cursors)} item{'' if len(cursors) == 1 else 's'}{span})"

    def __len__(self) -> int:
        return len(self.page_index.cursors)


_event_item: Final = reads(dict[str, Any])


def page_of(history: PagedHistory, raws: Sequence[bytes | msgspec.Raw]) -> bytes:
    """The body of a page with these items."""
    return b'{"%b":[%b]}' % (history.member.encode(), b",".join(map(bytes, raws)))


def _unreadable(history: PagedHistory, position: int, raw: bytes, reason: Exception | None) -> DecodeError:
    try:
        place = history.peek(page_of(history, [history.place_of(raw)]))
        named = place.update_ids[0]
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


#: What to ask for after a failure, if that is something else.
Smaller = Callable[[RequestError], PageQuery | None]


class PageSource(Protocol):
    """The part of the scan interface that a reader of histories needs."""

    @property
    def history(self) -> PagedHistory:
        """Which history it is."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[HistoryPage]:
        """Fetch one page: from one server once, from some of them, or from the preferred one; `revise` shrinks it."""

    def pause(self, seconds: float) -> None:
        """Wait."""

    @property
    def largest_pages(self) -> dict[str, int]:
        """By scan, the largest page that it has named."""

    def stoppable(self, stop: Stop) -> PageSource:
        """The same for one operation, whose requests and pauses end once `stop` is set."""


@dataclass(frozen=True)
class ScanPages:
    """The pages of one of scan's histories.

    Attributes:
        history: the history.
        sender: sends the requests.
        lenient: whether pages are to be read without broken items.
    """

    history: PagedHistory
    sender: Sender
    lenient: bool = False

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""
        return self.sender.servers("scan")

    def page_request(self, after: Cursor | None, page_size: int, **encoding: str) -> Request:
        """The request for one page."""
        body: dict[str, Any] = {"page_size": page_size, **encoding}
        if after is not None:
            body["after"] = {
                "after_migration_id": after.migration_id,
                "after_record_time": format_timestamp(after.micros),
            }
        return (EVENTS if self.history is EVENT_HISTORY else UPDATES).request(json=body)

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[HistoryPage]:
        """Fetch one page: from a named server once, from some servers only, or from the preferred one.

        Without `revise`, a page that is larger than the server's maximum is requested again, as large as that.
        """
        once = isinstance(server, str)  # who names one server chooses the next one, from what is known of their lag
        sender = self.sender if server is None else self.sender.on(*((server,) if isinstance(server, str) else server))
        servers = sender.servers("scan")
        read: Callable[[bytes], HistoryPage] = partial(HistoryPage.read, history=self.history)
        if self.lenient and once:
            read = partial(HistoryPage.read_leniently, history=self.history)
        elif self.lenient:
            read = _Lenient(self.history, several=len(servers) > 1)

        def revised(_request: Request, error: RequestError) -> Request | None:
            nonlocal query
            failed = error.server if isinstance(error, StatusError) else servers[0] if len(servers) == 1 else None
            named = named_maximum(error)
            if failed is not None and named is not None:  # or every later page and sync would be refused again
                learn_largest(self.largest_pages, failed, named)
            allowed = None if named is None or not 0 < named < query.page_size else PageQuery(query.after, named)
            smaller = allowed if revise is None else revise(error)
            if smaller is None:
                return None
            query = smaller
            return self.page_request(query.after, query.page_size)

        request = self.page_request(query.after, query.page_size)
        return sender.send(request, read=read, revise=revised, attempts=1 if once else None)

    @property
    def largest_pages(self) -> dict[str, int]:
        """By scan, the largest page that it has named."""
        return self.sender.transport.largest_pages

    def pause(self, seconds: float) -> None:
        """Wait, by the transport's clock."""
        self.sender.pause(seconds)

    def stoppable(self, stop: Stop) -> ScanPages:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, sender=self.sender.stoppable(stop))

    def leniently(self) -> ScanPages:
        """The same, its pages read without the items that have no cursor."""
        return replace(self, lenient=True)


@dataclass
class _Lenient:
    """Reads a page without its broken items, but only once another attempt, or another scan, did not have it whole.

    A valid JSON item that breaks the contract is the same each time; only another scan may have it right.
    """

    history: PagedHistory
    several: bool
    again: bool = False

    def __call__(self, body: bytes) -> HistoryPage:
        if not self.again:
            try:
                return HistoryPage.read(body, self.history)
            except DecodeError as error:
                self.again = True
                readable = error.__cause__ is None or isinstance(error.__cause__, msgspec.ValidationError)
                if self.several or not readable:
                    raise
        return HistoryPage.read_leniently(body, self.history)


def cursor_of(after: Bound | None) -> Cursor | None:
    """A caller's `after`.

    Raises:
        InputError: it is not a pair of migration id and time.
    """
    cursor = None if after is None else bound(after, "after")
    if isinstance(cursor, int):
        raise InputError(f"after={after!r} is not valid: give a pair (migration id, time)")
    return cursor


def value_encoding(encoding: ValueEncoding | None) -> dict[str, str]:
    """The encoding under the contract's neutral name and the one that servers know; nothing for the default."""
    if encoding not in {None, "compact_json", "protobuf_json"}:
        raise InputError(f"value_encoding={encoding!r} is neither 'compact_json' nor 'protobuf_json'")
    if encoding != "protobuf_json":
        return {}
    # Servers ignore a name that they do not know and then silently answer compact_json, so both are sent.
    return {"contract_value_encoding": encoding, "daml_value_encoding": encoding}


def learn_largest(largest_pages: dict[str, int], server: str, named: int) -> None:
    """Record the largest page that a server names; logged when it is new."""
    if named < largest_pages.get(server, named + 1):
        largest_pages[server] = named
        _log.info("%s returns at most %d updates per page and is asked for no more", source_of(server), named)


def smaller_page(size: int, error: RequestError) -> int:
    """The number of items to request after a failure: the server's maximum, half as many, or the same number."""
    named = named_maximum(error)
    if named is not None:
        # At least one less, in case the server names the size that it has just refused.
        return max(1, min(size - 1, named))
    return max(1, size // 2) if too_much(error) else size


def named_maximum(error: RequestError) -> int | None:
    """The largest page that a server allows, where its answer names it."""
    if not isinstance(error, StatusError) or error.status != 400:
        return None
    named = _MAXIMUM.search(error.detail)
    return int(named[1]) if named else None


def as_many_as_allowed(size: int, ask: Callable[[int], T]) -> tuple[T, int]:
    """Ask for so many items, or for the server's maximum once it names one; returns the answer and their number.

    Raises:
        RequestError: there is no answer.
    """
    while True:
        try:
            return ask(size), size
        except RequestError as error:
            named = named_maximum(error)
            if named is None or not 0 < named < size:
                raise
            size = named


def too_much(error: RequestError) -> bool:
    """Whether a page may have been too large for a server or for a gateway before it."""
    # A page of 1,000 is about 9 MB, and servers give up after 38 seconds: a smaller one may succeed.
    return isinstance(error, NoAnswerError) or (isinstance(error, StatusError) and error.status in {413, 503, 504})
