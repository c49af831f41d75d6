"""Reads one of scan's snapshots page by page, for the loaders of active contracts and coins, and for stores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from msgspec import Raw

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, NotFoundError, PagingError, RequestError
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.history_pages import named_maximum
from ledgerframes.interfaces.scan_snapshots import Route, SnapshotPage
from ledgerframes.loaders.table_loader import Origin, denies
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token, TokenChecks
from ledgerframes.timestamps import format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_log = logging.getLogger("ledgerframes.loaders")


@dataclass
class SnapshotReader:
    """Reads one snapshot from one route of one server, since its page tokens mean nothing to the others.

    If that server fails on the way, another one is read from the beginning; if it no longer serves the route, it is
    itself read from the beginning on another one.

    Args:
        scan: the interface.
        origin: records which server answered.
        call: the name of the interface's call for one page.
        place: the snapshot's migration id and time.
        parts: further arguments of the call; all its pages are read for each of them.
        endpoint: method and path, for messages.
        table: the table's name, for messages.
        page_size: how many contracts to request at once.
        server: the server that the pages come from, once it has answered.
        route: the route that they come from, likewise.
        following: the token of the page after the last one given; None after the last page.
    """

    scan: Scan
    origin: Origin
    call: str
    place: Cursor
    parts: Sequence[dict[str, Any]]
    endpoint: str
    table: str
    page_size: int
    server: str = ""
    route: Route | None = None
    following: Token | None = None
    _failed: set[str] = field(default_factory=set)
    _changed: set[str] = field(default_factory=set)
    _resumed: bool = False

    def resume(self, server: str, route: Route, token: Token) -> None:
        """Begin with a later page, of the server and route that gave its token."""
        self.server, self.route, self.following, self._resumed = server, route, token, True

    @property
    def next_page(self) -> tuple[Route, Token] | None:
        """Where to resume after the last page given; None after the last one of all."""
        return None if self.route is None or self.following is None else (self.route, self.following)

    def pages(self, restart: Callable[[], None]) -> Iterator[list[Raw]]:
        """The contracts, a page at a time.

        Args:
            restart: called when another server or route is read from the beginning, so that the pages so far are void.

        Raises:
            RequestError: no server returned the whole snapshot.
            PagingError: a server repeats a page or its token, or its pages do not end.
            DecodeError: an answer breaks the contract, or belongs to another snapshot.
        """
        while True:
            try:
                for part in self.parts:
                    yield from self._pages_of_part(part)
            except RequestError as error:
                if (self._resumed and denies(error)) or self._lost_its_route(error):
                    # The token was kept by an earlier program, and the server may have forgotten it; or the server was
                    # upgraded, and serves another route now.
                    _log.warning("the snapshot is read again from its beginning: %s", error)
                elif not self.server or denies(error) or not self._turn_away():
                    raise
                else:
                    _log.warning("the snapshot is read again from another scan: %s", error)
                self.route, self.following, self._resumed = None, None, False
                restart()
            else:
                return

    def _turn_away(self) -> bool:
        """Leave the server out and choose another one, if there is one."""
        self._failed.add(self.server)
        left = [server for server in self.scan.servers if server not in self._failed]
        self.server = left[0] if left else ""
        self.origin.servers.clear()
        return bool(left)

    def _lost_its_route(self, error: RequestError) -> bool:
        """Whether the server had the route but no longer has it; logged once per server."""
        gone = self.route is not None and isinstance(error, NotFoundError) and error.unknown_route
        if not gone or self.server in self._changed:
            return False
        self._changed.add(self.server)
        return True

    def _pages_of_part(self, part: dict[str, Any]) -> Iterator[list[Raw]]:
        checks, firsts = TokenChecks(self.endpoint, self.following), set[int]()
        while True:
            page = self._ask(part, self.following)
            self.following, self._resumed = page.next_page_token, False
            # One per page, since a snapshot can hold millions of contracts.
            first = hash(bytes(page.created_events[0])) if page.created_events else None
            checks.follow(self.following, new=first is not None)
            if first in firsts:
                raise PagingError(
                    f"{self.endpoint}: two pages of one snapshot begin with the same contract; its pages would never"
                    " end, or its contracts come twice. Ask another server, or this one's operator"
                )
            if first is not None:
                firsts.add(first)
            yield page.created_events
            if self.following is None:
                return

    def _ask(self, part: dict[str, Any], token: Token | None) -> SnapshotPage:
        while True:
            scan = self.scan.on(self.server) if self.server else self.scan
            options = {"record_time": format_timestamp(self.place.micros), "migration_id": self.place.migration_id}
            try:
                answer = scan.raw(self.call, **options, **part, after=token, page_size=self.page_size, route=self.route)
            except RequestError as error:
                named = named_maximum(error)
                if named is None or not 0 < named < self.page_size:
                    raise
                self.page_size = named
                continue
            assert answer is not None
            self.origin.servers[source_of(answer.server)] = None
            self.server = answer.server
            self.route = cast("Route", answer.request.path.split("/")[1])
            return self._read(answer.value)

    def _read(self, body: bytes) -> SnapshotPage:
        with reading(self.endpoint, table=self.table):
            page = reads(SnapshotPage)(body)
            place = Cursor(page.migration_id, parse_timestamp(page.record_time)[0])
        if place != self.place:
            raise DecodeError(
                f"{self.endpoint}: the answer belongs to the snapshot {_as_text(place)}, not {_as_text(self.place)}",
                endpoint=self.endpoint, table=self.table,
            )  # fmt: skip
        return page


def _as_text(place: Cursor) -> str:
    return f"({place.migration_id}, {format_timestamp(place.micros)})"
