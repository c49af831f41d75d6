"""Reads a window of one of scan's histories page by page, adapts the page size, and leaves servers that lag."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError
from ledgerframes.interfaces.history_pages import PageSource, named_maximum, too_much
from ledgerframes.interfaces.paged_histories import HistoryPage, OneNetwork
from ledgerframes.paging.history import HistoryReader
from ledgerframes.paging.modes import Outcome, PageQuery, Probing, Reading
from ledgerframes.threads import ahead
from ledgerframes.transport import Answer, Stop

_log = logging.getLogger("ledgerframes.history")

#: How long to wait for servers that lag behind another one, in seconds.
_WAITS: Final = (0.0, 0.5, 1.0, 2.0)
_THREAD: Final = "ledgerframes-fetch"


@dataclass(frozen=True)
class PageRows:
    """A page, and which of its rows belong to the read.

    Attributes:
        page: the page as sent.
        rows: positions of the updates that belong to the read.
        server: base URL of the scan that sent it.
        query: the request's cursor and page size.
        outcome: the meaning of the page for the read.
    """

    page: HistoryPage
    rows: list[int]
    server: str
    query: PageQuery
    outcome: Outcome


def read_pages(source: PageSource, reader: HistoryReader) -> Iterator[PageRows]:
    """Read to the end of the reader's window; the next page is fetched while the caller works on this one.

    Raises:
        RequestError: the servers gave no answer within the transport's attempts.
        PagingError: the pages contradict each other, or come from servers of two networks.
        PartialResultError: the servers that answer lag behind another one, or have pruned the following items.
    """
    stop = Stop()
    session = HistorySession(source.stoppable(stop), reader)
    network = OneNetwork(source.history)

    def steps() -> Iterator[PageRows]:
        more = True
        while more:
            rows, more = session.step()
            if len(source.servers) > 1:
                network.check(rows.server, rows.page)
            if rows.outcome is Outcome.BEHIND and (not more or len(source.servers) == 1):
                session.check_pruned()
            if not more and session.skipped:
                raise PagingError(
                    f"{source.history.endpoint}: {session.last_server} shows later updates without those that it showed"
                    f" up to {reader.last}: another network answers there, or it was restored, or several scans that"
                    " keep different parts share its address. Load again, or name one of them, or another one, in"
                    " scan_url"
                )
            yield rows

    # In another thread, because waiting for it can be interrupted while a socket cannot.
    for rows in ahead(steps(), _THREAD, stop.set):
        if rows.rows:
            yield rows


@dataclass
class HistorySession:
    """One read: the reader's decisions carried out against the servers, a request at a time.

    Attributes:
        source: where pages come from.
        reader: the window to read, and the state of the read.
        skipped: whether the read ended though that server has later updates.
    """

    source: PageSource
    reader: HistoryReader
    skipped: bool = False
    _behind: int = 0
    _server: str | None = None  # None: the one that the transport prefers
    _answered: str | None = None
    _confirmed: set[str] = field(default_factory=set)
    _showing: PageRows | None = None  # the page whose last rows are held back

    @property
    def last_server(self) -> str:
        """The server that answered last; before the first answer, the preferred one."""
        return self._answered or self.source.servers[0]

    @property
    def server(self) -> str:
        """The server that will probably be asked next."""
        return self._server or self.source.servers[0]

    def step(self) -> tuple[PageRows, bool]:
        """Fetch one page; returns its rows that count, and whether there is more to read."""
        query, answer = self._fetch()
        taken = self.reader.take(answer.value.page_index, answer.server, query)
        rows = PageRows(answer.value, taken.rows, answer.server, query, taken.outcome)
        if taken.outcome is Outcome.BEHIND:
            return (rows, True) if self._leave(answer.server) else (self._flush(rows), False)
        held_back = self.reader.held_back
        if held_back and held_back == frozenset(answer.value.page_index.update_ids[-len(held_back) :]):
            self._showing = rows
        if taken.rows:
            self._behind = 0
            self._confirmed.clear()
        if taken.outcome is Outcome.END:
            return rows, self._unconfirmed(answer.server)
        return rows, taken.outcome is Outcome.MORE

    def _fetch(self, *, anybody: bool = False) -> tuple[PageQuery, Answer[HistoryPage]]:
        server, mode = self._server, self.reader.mode
        # Only the server that sent a group can show how large its pages are.
        if isinstance(mode, Probing) and len(self.source.servers) > 1 and mode.server in self.source.servers:
            server = mode.server
        server = None if anybody else server
        # Another reader of the network may have learnt it, which saves a refused request.
        largest = self.source.largest_pages.get(server or self.source.servers[0], self.reader.maximum)
        if largest < self.reader.maximum:
            self.reader.lower(largest)
        query = self.reader.query()

        def revise(error: RequestError) -> PageQuery | None:
            nonlocal query
            if not self._adapt(error):
                return None
            query = self.reader.query()
            return query

        try:
            answer = self.source.send_page(query, server=server, revise=revise)
        except (RequestError, DecodeError):
            # The chosen server failed; without a choice the transport asks all of them in turn.
            if server is None:
                raise
            self._server = None
            return self._fetch(anybody=True)
        self._answered = answer.server
        return query, answer

    def _adapt(self, error: RequestError) -> bool:
        """Adapt the page size to the error; returns whether it changed."""
        size = self.reader.query().page_size
        named = named_maximum(error)
        if named is not None:
            self.reader.lower(named)
        elif too_much(error):
            self.reader.shrink()
        return self.reader.query().page_size != size

    def _leave(self, server: str) -> bool:
        """Move to the next server, after a wait once all of them lagged; False after enough rounds."""
        servers = self.source.servers
        rounds, turn = divmod(self._behind, len(servers))
        if rounds >= len(_WAITS):
            return False
        # Only after a whole round, since another server may already have what this one lacks.
        if turn == len(servers) - 1:
            self.source.pause(_WAITS[rounds])
        self._behind += 1
        others = [other for other in servers if other != server]
        self._server = others[turn % len(others)] if others else None
        return True

    def _flush(self, page: PageRows) -> PageRows:
        """End the read with the rows held back, if the server that sent them now has nothing there.

        Raises:
            PartialResultError: another server sent them.
        """
        showing, server = self._showing, page.server
        self.skipped = len(page.page) > 0
        # Only the server that showed the rows can withdraw them; for any other one they are still to come.
        if showing is None or showing.server != server:
            raise PartialResultError(
                f"{self.source.history.endpoint}: {server} does not have updates that another scan showed after"
                f" {self.reader.last}; it lags behind. Try later, or name more scans in scan_url"
            )
        _log.warning("%s showed updates that it no longer returns; the read ends with them", server)
        self.reader.withdrawn = True
        return self._with_held_back(showing)

    def check_pruned(self) -> None:
        """Refuse to continue if the server that answered last has pruned items that it showed before.

        Raises:
            PartialResultError: it has.
        """
        mode, server = self.reader.mode, self.last_server
        first = self.source.send_page(PageQuery(None, 1), server=(server,))
        begin = next(iter(first.value.page_index.cursors), None)
        if isinstance(mode, Reading) and mode.cursor is not None and (begin is None or begin > mode.cursor):
            raise PartialResultError(
                f"{self.source.history.endpoint}: {server} pruned what follows {self.reader.last or 'its beginning'}"
                f" while it was read, and {'shows nothing' if begin is None else f'begins at {begin}'} now. Read again"
                " what is left, or name a scan that keeps more in scan_url"
            )

    def end(self) -> PageRows | None:
        """End the read with the rows held back, since the servers have pruned them; None where none are."""
        return None if self._showing is None else self._with_held_back(self._showing)

    def _with_held_back(self, showing: PageRows) -> PageRows:
        page_index = showing.page.page_index
        pending = self.reader.held_back
        self.reader.flush(page_index.cursors[-1])
        # A server that contradicts itself may have sent one of them twice.
        rows = sorted(page_index.update_ids.index(update_id) for update_id in pending & {*page_index.update_ids})
        return replace(showing, rows=rows, outcome=Outcome.BEHIND)

    def _unconfirmed(self, server: str) -> bool:
        """Whether another server is left that may have more updates."""
        self._confirmed.add(server)
        left = [other for other in self.source.servers if other not in self._confirmed]
        if not left:
            return False
        self._confirmed.add(left[0])
        self._server = left[0]
        # The other server may have more of the last group, so the read goes back before it.
        self.reader.reopen()
        return True
