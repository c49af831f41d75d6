"""`Beginnings` and `first_update`: where each server's history begins, and the network that its first items show.

A scan may prune: its first item then is not where the ledger begins, and moves on while it is read. It removes items
and never restores them, so what a server still shows was not yet pruned when it sent an earlier page. That is the
reverse of `paging.proofs`: here the proof must come *after* the page, or lie in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from ledgerframes.errors import DecodeError, PagingError, PartialResultError, RequestError, StoreError
from ledgerframes.interfaces.paged_histories import HistoryPage, are_two, known_by
from ledgerframes.loaders.extent import Beginning, proven_by
from ledgerframes.paging.cursor import Cursor, Window, before
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.coverage import Interval
from ledgerframes.store.sync.servers import AgreedServers, Began
from ledgerframes.timestamps import EARLIEST, format_timestamp

#: Updates requested to recognise a network: late ones may precede the one that names it.
FIRST: Final = 50
#: Pages read after the first one to recognise a network: a server may send few items a page, and those name few.
_FURTHER: Final = 10
#: Why a server is left out that shows nothing known.
UNKNOWN: Final = "it does not show yet whether it belongs to the network"


@dataclass
class Beginnings:
    """The first items of servers, as last asked.

    Attributes:
        servers: the servers.
        known: by server, where its history began when it was last asked.
        firsts: every first item shown in this sync, and whether the ledger begins there.
        oldest: the oldest of these items.
        emptied: servers that showed nothing when they were last asked.
    """

    servers: AgreedServers
    known: dict[str, Beginning] = field(default_factory=dict)
    firsts: dict[Cursor, bool | None] = field(default_factory=dict)
    oldest: Cursor | None = None
    emptied: set[str] = field(default_factory=set)
    _proven: dict[str, bool | None] = field(default_factory=dict)  # by the id of a first update

    def ask(self, server: str, *, insist: bool = False) -> HistoryPage:
        """Fetch the first items of a server.

        Raises:
            RequestError: it did not answer.
        """
        _, page = self.servers.ask(None, FIRST, server, insist=insist)
        self.note(server, page)
        return page

    def note(self, server: str, page: HistoryPage) -> None:
        """Record the first items of a server."""
        cursors, ids = page.page_index.cursors, page.page_index.update_ids
        if not cursors:
            self.known.pop(server, None)
            self.emptied.add(server)
            return
        self.emptied.discard(server)
        if ids[0] not in self._proven:
            self._proven[ids[0]] = proven_by(page, self.servers.history)
        self.oldest = cursors[0] if self.oldest is None else min(self.oldest, cursors[0])
        first, proven, objects_begin = cursors[0], self._proven[ids[0]], self.servers.begins_after
        if objects_begin is not None and objects_begin > EARLIEST and not proven:
            # Objects contain everything from the time in their names.
            first = Cursor(first.migration_id, objects_begin + 1)
        self.known[server] = begin = Beginning(first, proven)
        self.firsts[first] = proven
        self.servers.begins[server] = begin.at
        final = self.servers.proofs.now().of(server)
        self.servers.lately.begins[server] = Began(begin.at, final, self.servers.lately.clock())

    def proof_of(self, place: Cursor) -> bool | None:
        """Whether the ledger begins at an item; False if a server has shown an older one, None if unknown.

        A scan may prune between the request that finds its beginning and the first page.
        """
        proven = self.firsts.get(place)
        return False if proven is None and self.oldest is not None and self.oldest < place else proven

    def before(self, place: Cursor) -> bool:
        """Whether every server, as asked in this sync or the last hour, begins after a place."""
        first = self.first
        if first is None or first <= place:
            return False
        # Late items, and those of an earlier migration, may have appeared since before a server's first item; nothing
        # appears where it had shown everything, and no migration precedes 0.
        final = self.servers.proofs.closes(0, first) if first.migration_id else place.micros
        if place.migration_id < 0:
            final = NOTHING
        lately = self.servers.lately.began()
        return all(server in self.known or lately[server].final >= final for server in self.servers.servers)

    @property
    def first(self) -> Cursor | None:
        """The earliest first item of all servers, as of this sync or the last hour; None if one is unknown."""
        lately = self.servers.lately.began()
        began = {server: lately[server].at for server in self.servers.servers if server in lately}
        began |= {server: begin.at for server, begin in self.known.items()}
        return min(began.values()) if {*self.servers.servers} <= began.keys() else None

    @property
    def earliest(self) -> Cursor | None:
        """The earliest first item of the servers and objects that were asked in this sync."""
        return min((begin.first for begin in self.known.values()), default=None)

    def check_window(self, window: Window, stored: Sequence[Interval]) -> None:
        """Refuse a start before both the servers' and the stored beginning, and a first range that ends before it.

        Raises:
            PartialResultError: it is earlier.
        """
        begin = min(self.known.values(), key=lambda known: known.first, default=None)
        if begin is None or begin.late is None:
            return
        place = f"{format_timestamp(begin.first.micros)} of migration {begin.first.migration_id}"
        shown = f"the servers' history begins at {place}"
        if not stored and window.ends_before(begin.late):
            raise PartialResultError(
                f"{shown}, after the requested end: older updates were pruned, or never stored there. Give a later"
                " end=, or leave it out; bulk objects may have older updates (source='objects')"
            )
        if not window.names_start or not window.wants_before(begin.late):
            return
        first = Cursor(stored[0].migration_id, stored[0].lo + 1) if stored else None
        if first is not None and (first <= window.start if window.start else first.micros <= (window.since or 0)):
            return  # the store reaches back that far
        raise PartialResultError(
            f"{shown}, after the requested start: older updates were pruned, or never stored there. Give that as"
            " start=, or leave start= out; bulk objects may have older updates (source='objects')"
        )


class First(NamedTuple):
    """The identity of a network.

    Attributes:
        cursor: the cursor of the first update.
        update_id: its id.
        known_by: the network's synchronizers and its DSO's party, which identify a server that has pruned this update.
    """

    cursor: Cursor
    update_id: str
    known_by: frozenset[str]

    @property
    def name(self) -> str:
        """The name that a store keeps."""
        return f"{self.cursor.migration_id}/{self.update_id}"


def first_update(servers: AgreedServers, beginnings: Beginnings) -> First | None:
    """The earliest first update of all servers, for a history that is not stored yet; None while it is empty.

    Raises:
        StoreError: the servers belong to different networks.
    """
    pages: dict[str, HistoryPage] = {}
    empty: list[str] = []
    for server, page in servers.each(beginnings.ask):
        if not len(page):
            empty.append(server)
            continue
        # Late updates and lag move the beginning a little, so one common update among the first 50 is enough.
        common = {*page.page_index.update_ids}.intersection(*(one.page_index.update_ids for one in pages.values()))
        if not common:
            _tell_apart(servers, pages, server, page)
        if server in servers.servers:
            pages[server] = page
    if not pages:
        return None
    for server in empty:  # its first updates may be another network's
        servers.leave_out(server, UNKNOWN)
    page = min(pages.values(), key=lambda page: page.page_index.cursors[0])
    begin = page.page_index.cursors[0]
    # Servers order equal times differently; the smallest id gives the network the same name everywhere.
    shown = zip(page.page_index.cursors, page.page_index.update_ids, strict=True)
    ties = [update_id for cursor, update_id in shown if cursor == begin]
    return First(begin, min(ties), known_by(servers.history, page))


def _tell_apart(servers: AgreedServers, pages: dict[str, HistoryPage], server: str, page: HistoryPage) -> None:
    """Leave out a server that shows nothing in common with another one: it has shown little yet, or is another's.

    One that fails while they are read on is left out instead, as it would have been at its first page.

    Raises:
        StoreError: they belong to two networks.
    """
    first, other = next(iter(pages.items()))
    shown: dict[str, frozenset[str]] = {first: frozenset(), server: frozenset()}
    # The earlier one is read on first: one of them may have pruned, or not yet shown, what the other one begins with.
    older, newer = sorted(((first, other), (server, page)), key=lambda one: one[1].page_index.cursors[0])
    for one, page_of in chain([older, newer], _as_far(servers, *older), _as_far(servers, *newer)):
        shown[one] |= {*page_of.page_index.update_ids, *known_by(servers.history, page_of)}
        ours, theirs = shown.values()
        if ours & theirs:
            return
        if are_two(ours, theirs):
            own = " and with ".join(one.page_index.update_ids[0] for one in (page, other))
            raise StoreError(
                f"{server} and {first} belong to two networks: their histories begin with update {own}. Leave one of"
                " them out of scan_url"
            )
    if first not in servers.left_out:
        servers.leave_out(server, UNKNOWN)
        return
    del pages[first]
    if pages:
        _tell_apart(servers, pages, server, page)


def _as_far(servers: AgreedServers, server: str, page: HistoryPage) -> Iterator[tuple[str, HistoryPage]]:
    """The next pages of one of several servers; if it fails, it is left out."""
    try:
        yield from further(servers, server, page)
    except (RequestError, PagingError, DecodeError) as error:
        servers.leave_out(server, error)


def further(servers: AgreedServers, server: str, page: HistoryPage) -> Iterator[tuple[str, HistoryPage]]:
    """The next pages of a server that has sent its first one, with its name."""
    for _ in range(_FURTHER):
        cursors = page.page_index.cursors
        # The page may have cut the last group of equal cursors; if there is no other, the next page follows it.
        after = before(cursors[-1]) if cursors[0] < cursors[-1] else cursors[-1]
        _, page = servers.ask(after, FIRST, server, insist=True)
        if not len(page):
            return
        yield server, page


def another_network(server: str, begins: str, ours: str) -> StoreError:
    """The error for a server of another network than the store's."""
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )
