"""`Agreement`: which servers agree with what a store holds, and whether they have news; a sync begins with it.

A held update is missing on a server only if it lies where the server has shown everything: at or before its newest
item less `settle`. Otherwise the server lags. Updates that only the server has are late ones above what is settled;
below it they contradict the store. A server on which an update is missing belongs to another network, or was restored
and its history continued differently: a fork.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.errors import DecodeError, LedgerframesError, PagingError, RequestError, StoppedError, StoreError
from ledgerframes.interfaces.history import PageSource
from ledgerframes.interfaces.page_reading import HistoryPage
from ledgerframes.paging.cursor import Cursor, Glimpse, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval, lies_in
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.looks import Look, Tail
from ledgerframes.store.sync.page_requests import ask
from ledgerframes.store.sync.servers import AgreedServers, PageSize
from ledgerframes.timestamps import LATEST
from ledgerframes.transport import Answer

_log = logging.getLogger("ledgerframes.store")
# Several, because late updates may have come before the one by which the store knows its network.
_FIRST: Final = 50
_PAGES: Final = 40
_UNKNOWN: Final = "it does not show yet whether it belongs to the network"


@dataclass
class Agreement:
    """Compares servers with the store, for one sync.

    Attributes:
        servers: the servers; those that do not agree are left out.
        history: what is stored.
        proofs: takes note of what servers show.
        page_size: items a request asks for.
        rejected: the ids of updates that are kept in `rejects`.
        rowless: the ids of items that the server asked last shows without a row of their own.
    """

    servers: AgreedServers
    history: HistoryTables
    proofs: Proofs
    page_size: int
    rejected: Collection[str] = ()
    rowless: set[str] = field(default_factory=set)

    def look(self, interval: Interval, *, every: bool) -> Look:
        """Look at the beginning of an interval that is not final, on every server or on the preferred one.

        Raises:
            StoreError: a server belongs to another network, or none agrees with the store.
            RequestError: no server gave an answer.
        """
        tail = self._tail(interval, anchored=every)
        looks: list[Look] = []
        failed: LedgerframesError | None = None
        for server in self.servers.servers:
            if looks and not every:
                break
            try:
                looks.append(self._look_at(server, tail))
            except (RequestError, PagingError, DecodeError, _DisagreesError) as error:
                failed = error
                self.servers.leave_out(server, error)
        if not looks:
            assert failed is not None
            if isinstance(failed, _DisagreesError):
                raise StoreError(str(failed)) from failed
            raise failed
        # A server that is not recognised yet may be another network's: its news counts only if no other one is known.
        looks = [look for look in looks if look.known] or looks
        cursors = tuple(cursor for look in looks for cursor in look.cursors)
        return Look(any(look.news for look in looks), all(look.lags for look in looks), cursors, looks[0].known)

    def _tail(self, interval: Interval, *, anchored: bool) -> Tail:
        """What is stored at the beginning of an interval.

        Args:
            interval: what is not final.
            anchored: with the last update before it if nothing is stored in it, so that there is something to compare.
        """
        last = self.history.last_held(interval.migration_id, interval.hi)
        if last is None or (last <= interval.lo and not anchored):
            return Tail(interval, _after(interval), {}, anchored=anchored)
        long = last - interval.lo > 2 * self.proofs.settle + 1
        lo = interval.lo if interval.lo < last and not long else last - 1
        held = interval._replace(lo=lo, hi=last)
        return Tail(interval, _after(held), self.history.held(held), long, anchored)

    def _look_at(self, server: str, tail: Tail) -> Look:
        shown, whole = self._shown(server, tail)
        migration_id, lo = tail.interval.migration_id, tail.interval.lo
        final = self.proofs.now().of(server, shown.values())
        here = {update_id: cursor.micros for update_id, cursor in shown.items() if cursor.migration_id == migration_id}
        # The last record time of a page that was cut off may have more updates than the page shows.
        shown_to = final if whole else min(final, max(here.values(), default=final) - 1)
        if not self._compare(server, tail, here, shown_to):
            self.servers.leave_out(server, "it does not show yet whether it belongs to the store's network")
            return Look(news=False, lags=True, known=False)
        begun = {cursor.migration_id for cursor in shown.values()} - {migration_id}
        self._compare_whole(server, shown, begun, self.proofs.now().of(server))
        lags = not tail.held.keys() <= here.keys() - self.rowless
        later = [cursor for cursor in shown.values() if cursor.migration_id > migration_id]
        # A migration is closed by what a later one shows and never by a clock, which may be wrong by years.
        closed = bool(later) and final >= self.proofs.closes(migration_id, min(later)) > lo
        kept = [micros for update_id, micros in here.items() if update_id in self._kept_out]
        settles = any(lo < micros <= final for micros in [*tail.held.values(), *kept])
        unknown = not here.keys() <= {*tail.held, *self._kept_out}
        return Look(unknown or settles or closed or tail.long or not whole, lags, tuple(shown.values()))

    @property
    def _kept_out(self) -> set[str]:
        """The ids of items that are shown and are not in the table of the history's ids."""
        return {*self.rejected, *self.rowless}

    def _shown(self, server: str, tail: Tail) -> tuple[dict[str, Cursor], bool]:
        """What a server shows after the beginning of a tail, while it is known; and whether that is all it has."""
        after, most = tail.after, 0
        shown: dict[str, Cursor] = {}
        for _ in range(_PAGES):
            asked = after
            size, answer = self._ask(after, self.page_size, server)
            ids, cursors = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
            shown.update(zip(ids, cursors, strict=True))
            if not cursors or cursors[-1].migration_id > tail.interval.migration_id:
                return shown, True
            page = PageSize(len(cursors), len(answer.value.raw))
            if page.items < size and (self.servers.can_send_more(server, page) or page.items < most):
                return shown, True  # it has sent larger pages, so this one was not cut short
            if tail.long or not {*ids} <= {*tail.held, *self._kept_out}:
                return shown, False
            most = max(most, len(cursors))
            after = before(cursors[-1])
            if after == asked:  # one group of equal cursors, which the page may have cut
                beyond = len(cursors) < size and not self._ask(cursors[-1], 1, server)[1].value.glimpse.cursors
                return shown, beyond
        return shown, False

    def _ask(self, after: Cursor | None, page_size: int, server: str) -> tuple[int, Answer[HistoryPage]]:
        size, answer = ask(self.servers, self.proofs, after, page_size, server)
        glimpse = answer.value.glimpse
        # By the newest answer: a verdict can appear after its update, and another server may have it already.
        self.rowless -= {*glimpse.update_ids}
        self.rowless |= glimpse.rowless
        return size, answer

    def _compare(self, server: str, tail: Tail, here: Mapping[str, int], final: int) -> bool:
        """Refuse a server that contradicts the store; tells whether it is known to belong to the store's network.

        Args:
            server: which.
            tail: what is stored.
            here: what the server shows in the same migration.
            final: up to this record time it has shown everything.
        """
        # A row that is stored, and that a server shows without what makes it a row, is missing there.
        missing = {
            update_id: micros
            for update_id, micros in tail.held.items()
            if (update_id not in here or update_id in self.rowless) and micros <= final
        }
        ours = {*tail.held, *self.rejected}
        known = (
            bool((here.keys() & ours) - self.rowless)
            or not tail.anchored
            or self._recognise(server, certain=bool(missing))
        )
        if missing:
            raise self._lacking(server, tail.interval.migration_id, missing)
        settled = self.history.slots.settled
        for update_id in here.keys() - ours - self.rowless:
            cursor = Cursor(tail.interval.migration_id, here[update_id])
            if lies_in(cursor, settled) and not self.history.holds([update_id]):
                raise _DisagreesError(
                    f"{server}: update {update_id} at {cursor} lies where the store is final, and is not in it: the"
                    " server showed it later than settle= allows, or its history went on differently. Compare with"
                    " store.verify, and sync into a new store with a longer settle="
                )
        return known

    def _recognise(self, server: str, *, certain: bool) -> bool:
        """Whether a server shows that it belongs to the store's network, by any of its first updates.

        Args:
            server: which.
            certain: whether it lacks an update that is stored.

        Raises:
            StoreError: it belongs to another network.
        """
        proof = self.proofs.now()
        _, answer = self._ask(None, _FIRST, server)
        ids, cursors = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
        if not ids:
            return False
        known = self._knows(ids)
        rows = [cursor for update_id, cursor in zip(ids, cursors, strict=True) if update_id not in self.rowless]
        if not known and any(lies_in(cursor, self.history.slots.settled) for cursor in rows):
            # Where the store is settled it has every update, so a server that begins there with unknown ones is
            # another's.
            raise _another_network(server, ids[0], self._name)
        known = known or self._shows_name(server)
        if certain and not known:
            raise _another_network(server, ids[0], self._name)
        # Also where nothing is known: after a fork below the first update a server shows nothing that is stored.
        shown = dict(zip(ids, cursors, strict=True))
        stored = {interval.migration_id for interval in self.history.slots.common}
        begun = {migration_id for migration_id in stored if migration_id <= cursors[-1].migration_id}
        self._compare_whole(server, shown, begun, proof.of(server, cursors))
        return known

    def _shows_name(self, server: str) -> bool:
        """Whether a server shows the update that names the network; late ones that came before it may fill pages.

        None of them lies further before it than `settle`, or it was not the first one shown when it gave the name.
        """
        migration_id = int((self.history.network or "0").partition("/")[0])
        after: Cursor | None = Cursor(migration_id - 1, LATEST)
        end: Cursor | None = None
        for _ in range(_PAGES):
            _, answer = self._ask(after, MAXIMUM, server)
            ids, cursors = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
            if not cursors or self._knows(ids):
                return bool(cursors)
            end = end or Cursor(migration_id, cursors[0].micros + self.proofs.settle)
            asked, after = after, before(cursors[-1])
            if cursors[-1] > end or after == asked:
                return False
        return False

    @property
    def _name(self) -> str:
        """The id of the update by which the store knows its network."""
        return (self.history.network or "").partition("/")[2]

    def _knows(self, ids: Sequence[str]) -> bool:
        """Whether any of some updates is of the store's network: its first one, or one that is stored or rejected."""
        return self._name in ids or not set(ids).isdisjoint(self.rejected) or self.history.holds(ids)

    def confirm(self, server: str, first: Cursor | None) -> bool:
        """Whether a server that has sent pages still belongs to the store's network; False if that cannot be known.

        Args:
            server: which.
            first: the cursor of the network's first update, where this sync had to find it.

        Raises:
            StoreError: it belongs to another network.
        """
        try:
            if first is None:
                return self._recognise(server, certain=False)
            _, answer = ask(self.servers, self.proofs, before(first), _FIRST, server, insist=True)
        # Ctrl-C: what was read is committed all the same, but unsettled, so the next sync compares it.
        except StoppedError:
            return False
        except (RequestError, PagingError, DecodeError) as error:
            _log.warning("%s could not be asked whether it still is of the same network: %s", server, error)
            return False
        ids, cursors = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
        if self._name in ids:
            return True
        if cursors and cursors[-1] > first and self.proofs.now().of(server, cursors) >= first.micros:
            raise _another_network(server, ids[0], self._name)
        return False

    def _compare_whole(
        self, server: str, shown: Mapping[str, Cursor], migrations: Collection[int], proven: int
    ) -> None:
        """Refuse a server that lacks an update of migrations that it shows from their beginning on.

        Args:
            server: which.
            shown: what it shows.
            migrations: those that are shown from their beginning on.
            proven: up to this record time it has shown everything.
        """
        last = max(shown.values(), default=None)
        if last is None:
            return
        for migration_id in migrations:
            end = last.micros - 1 if last.migration_id == migration_id else CLOSED
            final = min(end, proven)
            held = self.history.held(Interval(migration_id, BEGINNING, final)) if final > BEGINNING else {}
            missing = {update_id: held[update_id] for update_id in sorted(held.keys() - (shown.keys() - self.rowless))}
            if missing:
                raise self._lacking(server, migration_id, missing)

    def _lacking(self, server: str, migration_id: int, missing: Mapping[str, int]) -> _DisagreesError:
        """The error for stored updates that a server lacks; the remedy depends on whether any of them is settled."""
        settled = self.history.slots.settled
        final = [update_id for update_id, micros in missing.items() if lies_in(Cursor(migration_id, micros), settled)]
        remedy = (
            "The update lies where the store is final: sync into a new store"
            if final
            else "The update lies where the store is not final yet: store.repair(unsettled=True) (ledgerframes repair"
            " --unsettled) takes that part out, and the next sync reads what the network says now"
        )
        return _DisagreesError(
            f"{server}: update {(final or list(missing))[0]} is stored, and the server lacks it though it has shown"
            f" later ones: it was restored, and its history went on differently. Name a server that agrees. {remedy}"
        )

    def recognise(self) -> bool:
        """Leave out the servers that do not show the update by which the store knows its network.

        Returns:
            Whether any server shows it.

        Raises:
            RequestError: no server gave an answer.
        """
        failed: LedgerframesError | None = None
        for server in self.servers.servers:
            try:
                known = self._recognise(server, certain=False)
            except (RequestError, PagingError, DecodeError) as error:
                failed, known = error, False
            if not known and not self.servers.leave_out(server, failed or "it does not show the store's first update"):
                if failed is not None:
                    raise failed
                return False
        return True


def check_network(source: PageSource, history: HistoryTables, settle: int) -> None:
    """Refuse servers that contradict what a store holds.

    Raises:
        StoreError: a server belongs to another network, or none agrees with the store.
        RequestError: no server gave an answer.
    """
    newest = max(interval.migration_id for interval in history.slots.common)
    settled = (interval.hi for interval in history.slots.settled if interval.migration_id == newest)
    end = max(settled, default=BEGINNING)
    Agreement(AgreedServers(source), history, Proofs(settle), MAXIMUM).look(Interval(newest, end, CLOSED), every=True)


def first_update(servers: AgreedServers, proofs: Proofs) -> tuple[Cursor, str] | None:
    """The cursor and the id of the first update of a history that is not stored yet; None while it is empty.

    Raises:
        StoreError: the servers belong to different networks.
    """
    first: Glimpse | None = None
    failed: LedgerframesError | None = None
    empty: list[str] = []
    for server in servers.servers:
        try:
            glimpse = ask(servers, proofs, None, _FIRST, server)[1].value.glimpse
        except (RequestError, PagingError, DecodeError) as error:
            failed = error
            servers.leave_out(server, error)
            continue
        failed = None
        if first is None or not first.cursors:
            first, sender = glimpse, server
            if not glimpse.cursors:
                empty.append(server)
        # Late updates and lag move the beginning a little, so one common update among the first 50 is enough.
        elif not {*glimpse.update_ids} & {*first.update_ids}:
            _tell_apart(servers, proofs, sender, server)
    if first is None:
        assert failed is not None
        raise failed
    if not first.cursors:
        return None
    for server in empty:  # what it shows first may be another network's
        servers.leave_out(server, _UNKNOWN)
    begin = first.cursors[0]
    # The order of equal times is the server's own; the least id gives the network the same name everywhere.
    ties = [update_id for cursor, update_id in zip(first.cursors, first.update_ids, strict=True) if cursor == begin]
    return begin, min(ties)


def _tell_apart(servers: AgreedServers, proofs: Proofs, first: str, second: str) -> None:
    """Two servers begin differently: one has shown only a little yet, or they belong to different networks."""
    try:
        pages = {server: ask(servers, proofs, None, MAXIMUM, server)[1].value.glimpse for server in (first, second)}
    except (RequestError, PagingError, DecodeError) as error:
        servers.leave_out(second, error)  # it has not been compared
        return
    if {*pages[first].update_ids} & {*pages[second].update_ids}:
        return
    for server, other in ((first, second), (second, first)):
        final = proofs.now().of(server)
        if any(cursor.micros <= final for cursor in pages[other].cursors):
            raise _another_network(second, next(iter(pages[second].update_ids), ""), pages[first].update_ids[0])
    servers.leave_out(second, _UNKNOWN)


class _DisagreesError(StoreError):
    """A server contradicts the store, or does not show whether it agrees."""


def _another_network(server: str, begins: str, ours: str) -> StoreError:
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )


def _after(interval: Interval) -> Cursor | None:
    return before(Cursor(interval.migration_id, interval.lo + 1))
