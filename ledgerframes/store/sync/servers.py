"""`AgreedServers`: the servers of one sync, those left out, and what they have shown; whatever asks one calls it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StatusError, StoreError
from ledgerframes.interfaces.history_pages import PageSource, Smaller, named_maximum, shrinking
from ledgerframes.interfaces.paged_histories import HistoryPage, PagedHistory
from ledgerframes.objects.page_source import OBJECTS, ObjectPages
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.modes import PageQuery
from ledgerframes.paging.proofs import Proofs
from ledgerframes.stopping import Stop
from ledgerframes.transport import Answer

T = TypeVar("T")

_log = logging.getLogger("ledgerframes.store")
# Long enough to spare the probes of a live tail, short enough for an operator's change to be noticed.
_HOUR: Final = 3600.0


def sender_of(server: str) -> str:
    """The server whose objects or pages an answer came from."""
    return server.removesuffix(OBJECTS)


class DisagreesError(StoreError):
    """A server contradicts the store, or does not show whether it agrees."""


class PageSize(NamedTuple):
    """The number of items and bytes of a page."""

    items: int = 0
    bytes: int = 0


class Began(NamedTuple):
    """Where the history of a server began.

    Attributes:
        at: its first item.
        final: the record time up to which it had shown everything by then.
        seen: when that was observed.
    """

    at: Cursor
    final: int
    seen: float


@dataclass
class Lately:
    """Observations of servers within the last hour, kept between syncs: an operator may change a server at any time.

    A page of fewer items and half the bytes of the largest one was not cut short. A server that prunes never restores
    items, so those missing before its first item are still missing.

    Attributes:
        clock: seconds.
        known: by server, the largest page and when it came; kept by the caller between syncs.
        begins: by server, where it had nothing older; kept likewise.
    """

    clock: Callable[[], float] = time.monotonic
    known: dict[str, tuple[PageSize, float]] = field(default_factory=dict)
    begins: dict[str, Began] = field(default_factory=dict)

    def note(self, server: str, page: PageSize) -> None:
        """Record a page that a server has sent."""
        known = self.largest(server)
        if page.items >= known.items:
            self.known[server] = PageSize(page.items, max(page.bytes, known.bytes)), self.clock()

    def largest(self, server: str) -> PageSize:
        """The largest page that a server has sent within the last hour."""
        page, seen = self.known.get(server, (PageSize(), 0.0))
        return page if self.clock() - seen < _HOUR else PageSize()

    def began(self) -> dict[str, Began]:
        """By server, where its history began within the last hour."""
        return {server: begin for server, begin in self.begins.items() if self.clock() - begin.seen < _HOUR}


@dataclass
class AgreedServers:
    """The servers of a sync, without those that were left out.

    Attributes:
        source: all of them.
        proofs: records what they show.
        lately: the size of the pages that servers send, and where they began.
        left_out: by server, why it is no longer asked in this sync.
        begins: by server, where its history began when last asked; a request goes to one that has the items.
        begins_after: the record time after which opened objects contain everything; None for servers.
        objects: read first, if there are some, by whoever does not name one server.
    """

    source: PageSource
    proofs: Proofs
    lately: Lately = field(default_factory=Lately)
    left_out: dict[str, str] = field(default_factory=dict)
    begins: dict[str, Cursor] = field(default_factory=dict)
    begins_after: int | None = None
    objects: ObjectPages | None = None

    @property
    def history(self) -> PagedHistory:
        """The history that is synced."""
        return self.source.history

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""
        return tuple(server for server in self.source.servers if server not in self.left_out)

    def send_page(
        self, query: PageQuery, *, server: str | tuple[str, ...] | None = None, revise: Smaller | None = None
    ) -> Answer[HistoryPage]:
        """Request one page."""
        # Without a choice the transport would return to a server that was left out, or has pruned the items.
        some = server is None and (self.left_out or self.begins or self.lately.begins)
        chosen = self.having(query.after) if some else server
        answer = None if self.objects is None or isinstance(chosen, str) else self.objects.page(query)
        answer = answer or self.source.send_page(query, server=chosen, revise=revise)
        self.lately.note(answer.server, PageSize(len(answer.value), len(answer.value.raw)))
        self.proofs.saw(sender_of(answer.server), answer.value.page_index.cursors)
        return answer

    def having(self, after: Cursor | None) -> tuple[str, ...]:
        """The servers that still have what follows a cursor; if none does, those that begin first."""
        servers = self.servers
        known = {server: begin.at for server, begin in self.lately.began().items()} | self.begins
        if len(servers) == 1:
            return servers
        begins = {server: known[server] for server in servers if server in known}
        later = {server for server, begin in begins.items() if after is None or begin > after}
        first = min(begins.values(), default=None)
        return tuple(server for server in servers if server not in later) or tuple(
            server for server in servers if begins[server] == first
        )

    def can_send_more(self, server: str, page: PageSize) -> bool:
        """Whether a server has sent much larger pages within the last hour, so that this one was not cut short."""
        largest = self.lately.largest(server)
        # By bytes as well, because servers cap pages by either.
        return page.items < largest.items and 2 * page.bytes <= largest.bytes

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.source.pause(seconds)

    @property
    def largest_pages(self) -> dict[str, int]:
        """By scan, the largest page that it has named."""
        return self.source.largest_pages

    def stoppable(self, stop: Stop) -> AgreedServers:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, source=self.source.stoppable(stop))

    def leave_out(self, server: str, why: object) -> bool:
        """Exclude a server from this sync; False if it is the only one left."""
        if self.servers == (server,):
            return False
        if server not in self.left_out:
            self.left_out[server] = str(why)
            _log.warning("%s is left out of this sync: %s", server, why)
        return True

    def each(self, ask: Callable[[str], T], first: Iterable[str] = ()) -> Iterator[tuple[str, T]]:
        """The answers of all servers, one after the other; a server that fails is left out.

        Args:
            ask: asks one.
            first: the servers to ask first.

        Raises:
            LedgerframesError: none of them answered.
        """
        failed: LedgerframesError | None = None
        answered = False
        for server in dict.fromkeys([*first, *self.servers]):
            try:
                answer = ask(server)
            except (RequestError, PagingError, DecodeError, DisagreesError) as error:
                failed = error
                if not self.leave_out(server, error) and answered:  # the others are not recognised yet
                    _log.warning("%s: %s", server, error)
                continue
            answered = True
            yield server, answer
        if failed is not None and not answered:
            raise failed

    def ask(
        self, after: Cursor | None, page_size: int, server: str, *, insist: bool = False
    ) -> tuple[int, HistoryPage]:
        """Request a page from one server, to compare servers with each other and a store.

        Returns the page size used in the end, and the page.

        Args:
            after: the cursor to start after; None means the beginning of the ledger.
            page_size: items to ask for.
            server: the server.
            insist: whether to retry if it sends no page.

        Raises:
            PagingError: the server ignores the cursor.
        """
        sizes = [min(page_size, self.largest_pages.get(server, page_size))]
        # The only server gets the usual retries; one that was left out meanwhile is asked itself, with no substitute.
        named = None if self.servers == (server,) else (server,) if insist else server
        try:
            answer = self.send_page(PageQuery(after, sizes[0]), server=named, revise=shrinking(after, sizes))
        except StatusError as error:  # a named server is asked once, even if the page was too large for it
            maximum = named_maximum(error)
            if maximum is None or maximum >= page_size:
                raise
            return self.ask(after, maximum, server, insist=insist)
        self._check_order(answer, after)
        return sizes[-1], answer.value

    def first_after(self, after: Cursor | None, *, server: str | None = None) -> Cursor | None:
        """The cursor of the first item after another cursor, as a server shows it.

        Args:
            after: the cursor to start after; None means the beginning of the ledger.
            server: the server; by default the one that the transport prefers.

        Raises:
            PagingError: the server ignores the cursor.
        """
        # A named server is asked once; the only server gets the usual retries.
        named = server if len(self.servers) > 1 else None
        answer = self.send_page(PageQuery(after, 1), server=named)
        self._check_order(answer, after)
        cursors = answer.value.page_index.cursors
        if not cursors and self.proofs.contradicts(answer.server, after):
            self.proofs.lose(answer.server)
        return cursors[0] if cursors else None

    def _check_order(self, answer: Answer[HistoryPage], after: Cursor | None) -> None:
        cursors = answer.value.page_index.cursors
        if cursors and after is not None and cursors[0] <= after:
            raise PagingError(
                f"{self.history.endpoint}: asked for what follows {after}, {answer.server} sent an update at"
                f" {cursors[0]}; it ignores the cursor"
            )
