"""Reads one of scan's snapshots, page by page or from its objects; loaders of contracts and coins, and stores call it.

An object holds every contract, so the filters that a scan applies to pages are applied here. The writers of objects
read the same query as pages do, so contracts stand in the order of pages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Raw, Struct

from ledgerframes.errors import InputError, NotFoundError, PagingError, RequestError
from ledgerframes.interfaces.answers import reading, reads
from ledgerframes.interfaces.calls import check_text
from ledgerframes.interfaces.history_pages import as_many_as_allowed
from ledgerframes.interfaces.scan_snapshots import Route, SnapshotPage
from ledgerframes.loaders.acs.times import at_or_before
from ledgerframes.loaders.extent import first_cursors
from ledgerframes.loaders.table_loader import OneServer, denies
from ledgerframes.objects.lines import batches, object_lines
from ledgerframes.objects.snapshots import Snapshot, newest_snapshot
from ledgerframes.objects.sources import scan_objects
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.paging.tokens import Token, TokenChecks
from ledgerframes.tables.active_contracts import ACTIVE_CONTRACTS
from ledgerframes.tables.table import Table
from ledgerframes.timestamps import LATEST, format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.loaders")


@dataclass
class SnapshotReader:
    """Reads one snapshot from one route of one server, since its page tokens mean nothing to the others.

    If that server fails on the way, another one is read from the beginning; if it no longer serves the route, it is
    itself read from the beginning on another one.

    Args:
        one: the server that the pages come from.
        table: the table; the interface's call for one page has its name.
        place: the snapshot's migration id and time.
        parts: further arguments of the call; all its pages are read for each of them.
        page_size: how many contracts to request at once.
        route: the route that the pages come from, once the server has answered.
        following: the token of the page after the last one given; None after the last page.
    """

    one: OneServer[Scan]
    table: Table
    place: Cursor
    parts: Sequence[dict[str, Any]]
    page_size: int
    route: Route | None = None
    following: Token | None = None
    _changed: set[str] = field(default_factory=set)
    _resumed: bool = False

    def resume(self, server: str, route: Route, token: Token) -> None:
        """Begin with a later page, of the server and route that gave its token."""
        self.one.url, self.route, self.following, self._resumed = server, route, token, True

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

        def begin() -> None:
            self.route, self.following, self._resumed = None, None, False
            restart()

        return self.one.read(self._pages, begin, again=self._is_changed)

    def _is_changed(self, error: RequestError) -> bool:
        """Whether the server has forgotten a token of an earlier program, or was upgraded and lost its route."""
        if self._resumed and denies(error):
            return True
        gone = self.route is not None and isinstance(error, NotFoundError) and error.unknown_route
        if not gone or self.one.url in self._changed:
            return False
        self._changed.add(self.one.url)
        return True

    def _pages(self) -> Iterator[list[Raw]]:
        endpoint = self.table.endpoints[0]
        for part in self.parts:
            checks, firsts, before, more = TokenChecks(endpoint, self.following), set[int](), set[int](), True
            while more:
                page = self._ask(part, self.following)
                self.following, self._resumed = page.next_page_token, False
                hashes = [hash(bytes(contract)) for contract in page.created_events]
                checks.follow(self.following, new=bool(hashes))
                # Of older pages one each, since a snapshot can hold millions of contracts.
                if len({*hashes}) < len(hashes) or before.intersection(hashes) or firsts.intersection(hashes[:1]):
                    raise PagingError(
                        f"{endpoint}: pages of one snapshot show a contract twice; they would never end, or rows would"
                        " count twice. Ask another server, or this one's operator"
                    )
                firsts.update(hashes[:1])
                before = {*hashes}
                yield page.created_events
                more = self.following is not None

    def _ask(self, part: dict[str, Any], token: Token | None) -> SnapshotPage:
        options = {"record_time": format_timestamp(self.place.micros), "migration_id": self.place.migration_id}
        try:
            answer, self.page_size = as_many_as_allowed(
                self.page_size,
                lambda size: self.one.raw(
                    self.table.name, **options, **part, after=token, page_size=size, route=self.route
                ),
            )
        except NotFoundError as error:
            if error.unknown_route:
                raise
            # A scan may prune a snapshot whose time it has just named, or whose first pages it has sent.
            raise NotFoundError(
                f"{self.table.endpoints[0]}: {error.server} does not have the snapshot {self.place}: {error.detail}."
                " What to do: lf.snapshot_times lists those that are left",
                status=error.status, detail=error.detail, server=error.server,
            ) from error  # fmt: skip
        self.route = cast("Route", answer.request.path.split("/")[1])
        return self._read(answer.value)

    def _read(self, body: bytes) -> SnapshotPage:
        with reading(self.table.endpoints[0], table=self.table.name):
            page = reads(SnapshotPage)(body)
            place = Cursor(page.migration_id, parse_timestamp(page.record_time)[0])
            if place != self.place:
                raise ValueError(f"the answer belongs to the snapshot {place}, not {self.place}")
        return page


class _Seen(Struct):
    package_name: str
    template_id: str
    signatories: list[str]
    observers: list[str]

    def counts(self, templates: Collection[str] | None, parties: Collection[str] | None) -> bool:
        """Whether it is of one of the templates, and one of the parties signs or observes it."""
        template = f"{self.package_name}:{self.template_id.partition(':')[2]}"
        if templates is not None and template not in templates:
            return False
        return parties is None or any(party in parties for party in (*self.signatories, *self.observers))


_seen: Final = reads(_Seen)


def contracts_of(
    scan: Scan,
    snapshot: Snapshot,
    lines: int,
    *,
    templates: Collection[str] | None = None,
    parties: Collection[str] | None = None,
) -> Generator[tuple[str, dict[int, bytes]]]:
    """Yield the contracts of a snapshot by the number of their line, with the name of their object; close it.

    Args:
        scan: what lists and fetches the objects.
        snapshot: the snapshot.
        lines: how many to read at once.
        templates: the templates that count, as `package-name:Module:Entity`; all if None.
        parties: the signatories or observers that count; all if None.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged, or a line is not a contract.
    """
    everything = templates is None and parties is None
    with scan_objects(scan) as objects, closing(object_lines(objects, snapshot.objects)) as read:
        for batch in batches(read, lines):
            name, first = str(batch[0].name), batch[0].number
            with reading(name, table=ACTIVE_CONTRACTS.name, item=f"from line {first} on, text is not UTF-8"):
                check_text(b"".join(line.raw for line in batch))
            contracts = {
                line.number: line.raw
                for line in batch
                if everything or _read(line.raw, name, line.number).counts(templates, parties)
            }
            yield name, contracts


def _read(line: bytes, name: str, number: int) -> _Seen:
    with reading(name, table=ACTIVE_CONTRACTS.name, item=f"line {number}"):
        return _seen(line)


def snapshot_of(net: Network, at: Bound | None) -> tuple[Snapshot, int | None]:
    """The newest snapshot with objects at or before a time, and its migration: the one that has a snapshot then.

    Args:
        net: the network.
        at: a time; None is the newest snapshot.

    Raises:
        InputError: the scan has no objects, or `at` is a pair: lists of objects know no migration.
        NotFoundError: there is no such snapshot.
    """
    if not net.is_remote:
        raise InputError(
            "source='objects': an opened folder has the history of updates alone. What to do: connect to a scan, or"
            " load the history of the folder and use lf.active_contracts"
        )
    moment, scan = bound(at, "at"), net.scan
    if isinstance(moment, Cursor):
        raise InputError(f"at={at!r}: objects do not name the migration of a snapshot; give a time, or source='pages'")
    snapshot = newest_snapshot(scan, LATEST if moment is None else moment)
    # Record times of migrations overlap, so several may have a snapshot at that instant.
    begun = [first.migration_id for first in first_cursors(scan.update_pages) if first.micros <= snapshot.micros]
    known = [one for one in begun if at_or_before(scan, one, snapshot.micros) == snapshot.micros]
    return snapshot, known[0] if len(known) == 1 else None
