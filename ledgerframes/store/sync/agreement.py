"""`Agreement`: which servers agree with a store, and whether they have news; a sync begins with it, `doctor` asks it.

A stored update is missing on a server only if it lies where the server has shown everything: at or before its newest
item minus `settle`. Otherwise the server lags. Updates that only the server has are late ones above the settled part;
within it they contradict the store. A server that lacks an update is another network's, or was restored: a fork.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from ledgerframes.errors import DecodeError, PagingError, RequestError, StoppedError, StoreError
from ledgerframes.interfaces.paged_histories import HistoryPage, are_two, known_by
from ledgerframes.paging.cursor import Cursor, PageIndex, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval, lies_in
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.lake import Lake
from ledgerframes.store.stored_tables import KNOWN_BY, NETWORK
from ledgerframes.store.sync.beginnings import UNKNOWN, Beginnings, another_network, first_update, further
from ledgerframes.store.sync.compare import Comparison, Shown, Tail, lacking_updates, tail_of
from ledgerframes.store.sync.rejects import rejected_ids
from ledgerframes.store.sync.servers import AgreedServers, DisagreesError, PageSize

if TYPE_CHECKING:
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.store")
_PAGES: Final = 40


@dataclass
class Agreement:
    """Compares servers with the store, for one sync.

    Attributes:
        servers: the servers; those that do not agree are left out.
        history: the stored history.
        page_size: items per request.
        rejected: the ids of updates in `rejects`.
        rowless: the ids of items that the last asked server shows without a row of their own.
        showing: the servers that have shown something stored when they were compared.
        beginnings: where the servers' histories begin.
    """

    servers: AgreedServers
    history: HistoryTables
    page_size: int
    rejected: Collection[str] = ()
    rowless: set[str] = field(default_factory=set)
    showing: set[str] = field(default_factory=set)
    beginnings: Beginnings = field(init=False)
    _named: frozenset[str] = frozenset()  # who servers of this network name besides those that it is known by

    def __post_init__(self) -> None:
        self.proofs = self.servers.proofs
        self.beginnings = Beginnings(self.servers)

    def compare(self, interval: Interval, *, every: bool) -> Comparison:
        """Compare the start of an interval that is not final, on every server or on one that has the stored part.

        Raises:
            StoreError: a server belongs to another network, or none agrees with the store.
            RequestError: no server answered.
        """
        tail = tail_of(self.history, interval, self.proofs.settle, anchored=every)
        comparisons: list[Comparison] = []
        having = () if every else self.servers.having(tail.after)
        try:
            for _, comparison in self.servers.each(partial(self._compare_with, tail), having):
                comparisons.append(comparison)
                if comparison.whole and not every:
                    break
        except DisagreesError as error:
            raise StoreError(str(error)) from error
        # A server that is not recognised yet may belong to another network: its news count only if no other is known.
        return Comparison.of([one for one in comparisons if one.known] or comparisons)

    def _compare_with(self, tail: Tail, server: str) -> Comparison:
        migration_id, lo = tail.interval.migration_id, tail.interval.lo
        shown, here, lacking = self._lacking(server, tail)
        due = self.due(server, migration_id, lacking)
        if any(shown.complete_to < at <= self.proofs.now().of(server) for at in due.values()):
            # Its first items, requested since, prove more than what it had shown before.
            shown, here, lacking = self._lacking(server, tail)
            due = self.due(server, migration_id, lacking, requested=True)
        if not self._compare(server, tail, here, {one: at for one, at in due.items() if at <= shown.complete_to}):
            self.servers.leave_out(server, UNKNOWN)
            return Comparison(news=False, lags=True, known=False)
        if shown.cursors:
            end = Cursor(migration_id, CLOSED)
            self._refuse_lacking(server, shown.cursors, end, shown.proven, requested=bool(lacking))
        later = [cursor for cursor in shown.cursors.values() if cursor.migration_id > migration_id]
        # Whether a read would settle more: by then it has the proof of what was shown here.
        final = self.proofs.now().of(server, shown.cursors.values())
        # Later migrations close a migration, never a clock, which may be wrong by years.
        closed = bool(later) and final >= self.proofs.closes(migration_id, min(later)) > lo
        apart = {*self.rejected, *self.rowless}
        differing = [micros for update_id, micros in here.items() if update_id in apart]
        stored = [micros for update_id, micros in tail.stored.items() if update_id in due or update_id not in lacking]
        settles = any(lo < micros <= final for micros in [*stored, *differing])
        unknown = not {one for one, at in here.items() if at <= tail.interval.hi} <= {*tail.stored, *apart}
        news = unknown or settles or closed or tail.long or not shown.whole
        return Comparison(news, bool(due), tuple(shown.cursors.values()), whole=not lacking or bool(due))

    def _lacking(self, server: str, tail: Tail) -> tuple[Shown, dict[str, int], dict[str, int]]:
        """A server's items from a tail on, those of its migration, and the stored ones that are not among them."""
        shown = self._shown(server, tail)
        here = {update_id: cursor.micros for update_id, cursor in shown.of(tail.interval.migration_id).items()}
        return shown, here, {one: at for one, at in tail.stored.items() if one not in here.keys() - self.rowless}

    def _shown(self, server: str, tail: Tail) -> Shown:
        """A server's items after the beginning of a tail, page by page, until it shows something unknown."""
        shown = Shown()
        after, most, wanted = tail.after, 0, self.page_size
        for _ in range(_PAGES):
            proof = self.proofs.now()
            size, sent = self._ask(after, wanted, server)
            ids, cursors = sent.page_index.update_ids, sent.page_index.cursors
            page = PageSize(len(cursors), len(sent.raw))
            # A server that has sent larger pages did not cut a smaller one short.
            whole = (
                not cursors
                or cursors[-1] > Cursor(tail.interval.migration_id, tail.interval.hi)
                or (page.items < size and (self.servers.can_send_more(server, page) or page.items < most))
            )
            done = whole or tail.long or not {*ids} <= {*tail.stored, *self.rejected, *self.rowless}
            following = before(cursors[-1]) if cursors else after
            if following == after and not done:  # one group of equal cursors, which the page may have cut
                done = page.items < size or wanted >= MAXIMUM
                wanted = min(2 * wanted, MAXIMUM)
                whole = done and page.items < size and not len(self._ask(cursors[-1], 1, server)[1])
            shown.add(dict(zip(ids, cursors, strict=True)), proof.of(server, cursors), whole=whole)
            if done:
                break
            most = max(most, len(cursors))
            after = following
        return shown

    def _ask(self, after: Cursor | None, page_size: int, server: str) -> tuple[int, HistoryPage]:
        size, page = self.servers.ask(after, page_size, server)
        self._note_rows(page.page_index)
        return size, page

    def _note_rows(self, page_index: PageIndex) -> None:
        # By the newest answer: a verdict can appear after its update, and another server may have it already.
        self.rowless -= {*page_index.update_ids}
        self.rowless |= page_index.rowless

    def _compare(self, server: str, tail: Tail, here: Mapping[str, int], missing: Mapping[str, int]) -> bool:
        """Refuse a server that contradicts the store; returns whether it is known to belong to the store's network.

        Args:
            server: the server.
            tail: the stored rows to compare.
            here: the server's items of the same migration.
            missing: the stored updates that it must show there, and does not.
        """
        # An item shown without the row that is stored for it is missing, too.
        rows, ours = here.keys() - self.rowless, {*tail.stored, *self.rejected}
        if rows & ours:
            self.showing.add(server)
        known = server in self.showing or not tail.anchored or self.recognise(server)
        cursors = {update_id: Cursor(tail.interval.migration_id, here[update_id]) for update_id in rows - ours}
        self.refuse(server, tail.interval.migration_id, missing, self._unknown(cursors))
        return known

    def recognise(self, server: str, *, insist: bool = False) -> bool:
        """Whether a server's first items show that it belongs to the store's network, and where its history begins.

        Args:
            server: the server.
            insist: whether to ask again if it sends no page.

        Raises:
            StoreError: it belongs to another network, or lacks an update that is stored between them.
        """
        proof = self.proofs.now()
        page = self.beginnings.ask(server, insist=insist)
        self._note_rows(page.page_index)
        ids, cursors = page.page_index.update_ids, page.page_index.cursors
        if not ids:
            return False
        first, shown = cursors[0], dict(zip(ids, cursors, strict=True))
        unknown = self._unknown(shown)
        known = self._knows(ids) or self._shows_parties(server, page)
        if unknown and not known:
            # The settled part has every update, so a server that begins there with unknown ones is another network's.
            raise another_network(server, ids[0], self.history.first_id)
        # Also if nothing is known: after a fork below its first update, a server shows nothing that is stored.
        # Updates before the very first item are not missing: the page itself shows that they are gone.
        begin = first._replace(micros=first.micros - 1)
        self._refuse_lacking(server, shown, begin, proof.of(server, cursors), requested=True)
        self.refuse(server, first.migration_id, {}, unknown)
        return known

    def _shows_parties(self, server: str, page: HistoryPage) -> bool:
        """Whether a server that shows nothing stored at first names the network's synchronizers or its DSO.

        It may have pruned everything stored, or begin with late updates of others; then its next pages are read, too.

        Raises:
            StoreError: it names another DSO.
        """
        ours, theirs = self.history.known_by | self._named, frozenset[str]()
        for _, one in chain([(server, page)], further(self.servers, server, page)):
            theirs |= known_by(self.servers.history, one)
            if are_two(ours, theirs):
                raise another_network(server, page.page_index.update_ids[0], self.history.first_id)
            if ours & theirs or self._knows(one.page_index.update_ids):
                self._named |= theirs
                return True
        return False

    def due(
        self, server: str, migration_id: int, lacking: Mapping[str, int], *, requested: bool = False
    ) -> dict[str, int]:
        """The stored updates that a server must show; it may have pruned those before its first item.

        Args:
            server: the server.
            migration_id: their migration.
            lacking: the record times, by id, of updates that it did not show.
            requested: whether its first items were requested since.
        """
        # Requested only now: an update that it still has, it also had when it did not show it.
        if lacking and not requested:
            self.recognise(server, insist=True)
        begin = self.beginnings.known.get(server)
        return {one: micros for one, micros in lacking.items() if begin is None or begin.has(migration_id, micros)}

    def _knows(self, ids: Sequence[str]) -> bool:
        """Whether any of these updates belongs to the store's network: its first one, a stored or a rejected one."""
        return self.history.first_id in ids or not set(ids).isdisjoint(self.rejected) or self.history.holds(ids)

    def confirm(self, server: str) -> bool:
        """Whether a server that sent pages still belongs to the store's network; False if that cannot be known.

        Raises:
            StoreError: it belongs to another network.
        """
        try:
            return self.recognise(server)
        except StoppedError:
            return False  # what was read is committed, but unsettled, so the next sync compares it
        except (RequestError, PagingError, DecodeError) as error:
            _log.warning("%s could not be asked whether it still belongs to the same network: %s", server, error)
            return False

    def _refuse_lacking(
        self, server: str, shown: Mapping[str, Cursor], after: Cursor, proven: int, *, requested: bool
    ) -> None:
        """Refuse a server that lacks a stored update between a cursor and the last one that it shows.

        Args:
            server: the server.
            shown: its updates after the cursor.
            after: the cursor.
            proven: the record time up to which the server has shown everything.
            requested: whether its first items were requested since.
        """
        last, apart = max(shown.values()), shown.keys() - self.rowless
        for migration_id in self.history.coverage.migrations:
            if not after.migration_id <= migration_id <= last.migration_id:
                continue
            lo = after.micros if migration_id == after.migration_id else BEGINNING
            hi = min(last.micros - 1 if migration_id == last.migration_id else CLOSED, proven)
            stored = self.history.stored(Interval(migration_id, lo, hi)) if lo < hi else {}
            missing = {update_id: micros for update_id, micros in sorted(stored.items()) if update_id not in apart}
            self.refuse(server, migration_id, self.due(server, migration_id, missing, requested=requested))

    def _unknown(self, shown: Mapping[str, Cursor]) -> dict[str, Cursor]:
        """The updates of those shown that are not stored, though the store is final at their place."""
        settled, apart = self.history.coverage.settled, {*self.rejected, *self.rowless}
        final = {one: at for one, at in shown.items() if one not in apart and lies_in(at, settled)}
        stored: set[str] = set()
        for migration_id in {at.migration_id for at in final.values()}:
            times = [at.micros for at in final.values() if at.migration_id == migration_id]
            stored |= self.history.stored(Interval(migration_id, min(times) - 1, max(times))).keys()
        return {one: at for one, at in final.items() if one not in stored and not self.history.holds([one])}

    def refuse(
        self, server: str, migration_id: int, missing: Mapping[str, int], unknown: Mapping[str, Cursor] = {}
    ) -> None:
        """Refuse a server that lacks stored updates, or has others where the store is final, if any.

        Raises:
            StoreError: it does; the remedy depends on whether any of them is settled.
        """
        settled = self.history.coverage.settled
        final = [one for one, micros in missing.items() if lies_in(Cursor(migration_id, micros), settled)]
        if missing:
            raise lacking_updates(server, final or list(missing), final=bool(final))
        for update_id, cursor in unknown.items():
            raise DisagreesError(
                f"{server}: update {update_id} at {cursor} lies where the store is final, and is not in it: the server"
                " showed it later than settle= allows, or its history continued differently. Compare with"
                " store.verify(net), and sync into a new store with a longer settle="
            )

    def recognise_any(self) -> bool:
        """Leave out the servers that do not show the update that names the store's network.

        Returns:
            Whether any server shows it.

        Raises:
            RequestError: no server answered.
        """
        answers = dict(self.servers.each(self.recognise))
        for server, known in answers.items():
            if not known:
                self.servers.leave_out(server, "it does not show the store's first update")
        return any(answers.values())


def network_for(net: Network, lake: Lake, settle: int) -> dict[str, str]:
    """The properties that name the network of a snapshot or of a new history; empty if no scan is configured.

    Args:
        net: the network to read from.
        lake: the store, which may know its network.
        settle: how late an update may appear, in microseconds.

    Raises:
        StoreError: `net` is another network.
    """
    known = lake.network()
    if not net.settings.scan_url:
        return known
    pages, rejected, rejects = net.scan.update_pages, set[str](), lake.root().own("rejects")
    if rejects.exists:
        pages, rejected = pages.leniently(), rejected_ids(rejects)
    servers = AgreedServers(pages, Proofs(settle))
    agreement = Agreement(servers, lake.history(), MAXIMUM, rejected)
    if known:
        if not agreement.recognise_any():
            begins = known[NETWORK].partition("/")[2]
            raise StoreError(
                f"{servers.servers[0]}: this is not the network that the store was filled from, or shows nothing: the"
                f" store's history begins with update {begins}. Open another store for it"
            )
        return known
    # A store of snapshots is bound to its network as well, so the first update names it.
    first = first_update(servers, agreement.beginnings)
    return {} if first is None else {NETWORK: first.name, KNOWN_BY: " ".join(sorted(first.known_by))}
