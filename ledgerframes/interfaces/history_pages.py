"""Where pages of scan's two histories come from: `PageSource`, and `ScanPages`, those of servers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, NoAnswerError, RequestError, StatusError
from ledgerframes.interfaces.paged_histories import EVENT_HISTORY, HistoryPage, PagedHistory
from ledgerframes.paging.cursor import Bound, Cursor, before, bound
from ledgerframes.paging.modes import PageQuery
from ledgerframes.timestamps import EARLIEST, format_timestamp
from ledgerframes.transport import Answer, Endpoint, Request, Sender, Stop

T = TypeVar("T")
ValueEncoding = Literal["compact_json", "protobuf_json"]

UPDATES: Final = Endpoint("scan", "POST", "/v2/updates")
EVENTS: Final = Endpoint("scan", "POST", "/v0/events")
# The servers' wording: "Exceeded limit maximum (2000 > 1000)."; an operator may set a lower maximum than 1,000.
_MAXIMUM: Final = re.compile(r"maximum \(\d+ > (\d+)\)")
#: What a sync asks for the beginning of migration 0 by.
_BELOW_ZERO: Final = before(Cursor(0, EARLIEST))
_log = logging.getLogger("ledgerframes.transport")

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

        after = query.after

        def revised(_request: Request, error: RequestError) -> Request | None:
            nonlocal query, after
            failed = error.server if isinstance(error, StatusError) else servers[0] if len(servers) == 1 else None
            named = named_maximum(error)
            if failed is not None and named is not None:  # or every later page and sync would be refused again
                learn_largest(self.largest_pages, failed, named)
            allowed = None if named is None or not 0 < named < query.page_size else PageQuery(query.after, named)
            smaller = allowed if revise is None else revise(error)
            if smaller is not None:
                query = smaller
            elif after == _BELOW_ZERO and isinstance(error, StatusError) and error.status == 400:
                after = None  # a server that refuses negative migration ids has none: what follows them is all it has
            else:
                return None
            return self.page_request(after, query.page_size)

        request = self.page_request(after, query.page_size)
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


def shrinking(after: Cursor | None, sizes: list[int]) -> Smaller:
    """Asks for smaller pages after failures: the server's maximum, or half; the last of `sizes` is the newest."""

    def smaller(error: RequestError) -> PageQuery | None:
        size, named = sizes[-1], named_maximum(error)
        if named is not None:
            # At least one less, in case the server names the size that it has just refused.
            sizes.append(max(1, min(size - 1, named)))
        elif too_much(error):
            sizes.append(max(1, size // 2))
        return None if sizes[-1] == size else PageQuery(after, sizes[-1])

    return smaller


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
