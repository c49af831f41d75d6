"""`AgreedServers`: the servers of one sync, which of them are left out, and how large the pages are that they send."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from ledgerframes.decoding.paged_histories import PagedHistory
from ledgerframes.interfaces.history import PageSource
from ledgerframes.interfaces.page_reading import HistoryPage
from ledgerframes.objects.asked_page import AskedPage
from ledgerframes.paging.cursor import Cursor
from ledgerframes.transport import Answer
from ledgerframes.transport.request import Request
from ledgerframes.transport.retrying import Revise
from ledgerframes.transport.server_memory import PageSizes
from ledgerframes.transport.stopping import Stop

_log = logging.getLogger("ledgerframes.store")
# Long enough to spare the probes of a live tail, short enough for an operator's change to be noticed.
_HOUR: Final = 3600.0


class PageSize(NamedTuple):
    """How many items and bytes a page has."""

    items: int = 0
    bytes: int = 0


class Began(NamedTuple):
    """Where the history of a server began.

    Attributes:
        at: its first item.
        final: up to this record time it had shown everything by then.
        seen: when that was.
    """

    at: Cursor
    final: int
    seen: float


@dataclass
class Lately:
    """What servers did within the last hour, from sync to sync: an operator may change it at any time.

    A page of fewer items and half the bytes than the largest one was not cut short. A server that prunes brings nothing
    back, so what was not there before its first item is not there now.

    Attributes:
        clock: seconds.
        known: for each server the largest page, and when it came; kept by the caller from sync to sync.
        begins: for each server where it had nothing older; likewise.
    """

    clock: Callable[[], float] = time.monotonic
    known: dict[str, tuple[PageSize, float]] = field(default_factory=dict)
    begins: dict[str, Began] = field(default_factory=dict)

    def note(self, server: str, page: PageSize) -> None:
        """Note a page that a server has sent."""
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
        lately: how large pages the servers send, and where they began.
        left_out: by server, why it is not asked any more in this sync.
        begins: by server, where its history began when it was asked last; a request goes to one that has what it asks.
        begins_after: the record time after which opened objects hold everything; None where servers answer.
    """

    source: PageSource
    lately: Lately = field(default_factory=Lately)
    left_out: dict[str, str] = field(default_factory=dict)
    begins: dict[str, Cursor] = field(default_factory=dict)
    begins_after: int | None = None

    @property
    def history(self) -> PagedHistory:
        """Which history it is."""
        return self.source.history

    @property
    def servers(self) -> tuple[str, ...]:
        """The scans' base URLs, the preferred one first."""
        return tuple(server for server in self.source.servers if server not in self.left_out)

    def page_request(self, after: Cursor | None, page_size: int) -> Request:
        """The request for one page."""
        return self.source.page_request(after, page_size)

    def send_page(
        self, request: Request, *, server: str | tuple[str, ...] | None, revise: Revise | None
    ) -> Answer[HistoryPage]:
        """Ask for one page."""
        # Without a choice the transport would go back to a server that was left out, or has pruned what is asked for.
        some = server is None and (self.left_out or self.begins or self.lately.begins)
        chosen = self.having(AskedPage.read(request.content).after) if some else server
        answer = self.source.send_page(request, server=chosen, revise=revise)
        self.lately.note(answer.server, PageSize(len(answer.value), len(answer.value.raw)))
        return answer

    def having(self, after: Cursor | None) -> tuple[str, ...]:
        """The servers that still have what follows a cursor; where none does, those that begin first."""
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
        """Whether a server has sent so much larger a page within the last hour that this page was not cut short."""
        largest = self.lately.largest(server)
        # By bytes as well, because servers cap pages by either.
        return page.items < largest.items and 2 * page.bytes <= largest.bytes

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.source.pause(seconds)

    @property
    def page_sizes(self) -> PageSizes:
        """How many items may be asked of each scan at once."""
        return self.source.page_sizes

    def stoppable(self, stop: Stop) -> AgreedServers:
        """The same for one operation, whose requests and pauses end once `stop` is set."""
        return replace(self, source=self.source.stoppable(stop))

    def leniently(self) -> AgreedServers:
        """The same, its pages read without the items that have no cursor."""
        return replace(self, source=self.source.leniently())

    def leave_out(self, server: str, why: object) -> bool:
        """Ask a server no more in this sync; False if it is the only one left."""
        if self.servers == (server,):
            return False
        if server not in self.left_out:
            self.left_out[server] = str(why)
            _log.warning("%s is left out of this sync: %s", server, why)
        return True
