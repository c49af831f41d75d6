"""Which servers agree with what a store holds, and whether they have news; a sync asks this first.

A held update is missing on a server only if it lies where the server had shown everything: at or before its newest
item less `settle`. Otherwise the server lags. Updates that only the server has are late ones, above what is settled;
below it they contradict the store. A server on which something is missing belongs to another network, or has been
restored and has gone on differently: a fork.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from ledgerframes.errors import (
    DecodeError,
    LedgerframesError,
    PagingError,
    RequestError,
    StatusError,
    StoppedError,
    StoreError,
)  # fmt: skip
from ledgerframes.interfaces.answers import UpdatesPage
from ledgerframes.interfaces.history import PageSource, named_maximum, smaller_page
from ledgerframes.paging.cursor import Cursor, Glimpse, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval, lies_in
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.servers import AgreedServers, PageSize
from ledgerframes.transport import Answer
from ledgerframes.transport.request import Request

_log = logging.getLogger("ledgerframes.store")
_FIRST: Final = 50
_PAGES: Final = 40
_UNKNOWN: Final = "it does not show yet whether it belongs to the network"


@dataclass(frozen=True)
class Tail:
    """What is stored where a gap begins: what servers are compared with.

    Attributes:
        gap: the gap; its `lo` is where the store is final.
        after: the place after which servers are asked.
        held: the updates stored after it, with their record times.
        long: it is too long to be looked at; only its last instant is held here.
        anchored: a server has to show that it belongs to the network.
    """

    gap: Interval
    after: Cursor | None
    held: Mapping[str, int]
    long: bool = False
    anchored: bool = True


@dataclass(frozen=True)
class Look:
    """What one server showed at the end of what is stored.

    Attributes:
        news: whether it has something that the store has not, or can make final what is stored.
        lags: whether it lacks something that it may still be about to show.
        places: the places of what it showed.
        known: whether it has shown that it belongs to the store's network.
    """

    news: bool
    lags: bool
    places: tuple[Cursor, ...] = ()
    known: bool = True


@dataclass
class Agreement:
    """Looks at servers for one sync.

    Attributes:
        servers: the servers; those that do not agree are left out.
        history: what is stored.
        proofs: takes note of what is shown.
        page_size: items a request asks for.
        rejected: the ids of updates that are kept aside.
    """

    servers: AgreedServers
    history: HistoryTables
    proofs: Proofs
    page_size: int
    rejected: Collection[str] = ()

    def look(self, gap: Interval, *, every: bool) -> Look:
        """Look at where a gap begins, on every server or on the preferred one.

        Raises:
            StoreError: a server belongs to another network, or none agrees with the store.
            RequestError: no server gave an answer.
        """
        tail = self._tail(gap, anchored=every)
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
        looks = [look for look in looks if look.known] or looks
        places = tuple(place for look in looks for place in look.places)
        return Look(any(look.news for look in looks), all(look.lags for look in looks), places, looks[0].known)

    def _tail(self, gap: Interval, *, anchored: bool) -> Tail:
        """What is stored where a gap begins.

        Args:
            gap: the gap.
            anchored: with the last update before it, if nothing is stored in it: there is always something to compare.
        """
        last = self.history.last_held(gap.migration_id, gap.at)
        if last is None or (last <= gap.lo and not anchored):
            return Tail(gap, _after(gap), {}, anchored=anchored)
        long = last - gap.lo > 2 * self.proofs.settle + 1
        lo = gap.lo if gap.lo < last and not long else last - 1
        part = gap._replace(lo=lo, at=last)
        return Tail(gap, _after(part), self.history.held(part), long, anchored)

    def _look_at(self, server: str, tail: Tail) -> Look:
        found, whole = self._found(server, tail)
        final = self.proofs.now().of(server, found.values())
        here = {one: place.micros for one, place in found.items() if place.migration_id == tail.gap.migration_id}
        shown_to = final if whole else min(final, max(here.values(), default=final) - 1)
        if not self._compare(server, tail, here, shown_to):
            self.servers.leave_out(server, "it does not show yet whether it belongs to the store's network")
            return Look(news=False, lags=True, known=False)
        self._compare_whole(server, found, {place.migration_id for place in found.values()} - {tail.gap.migration_id})
        lags = not tail.held.keys() <= here.keys()
        later = [place for place in found.values() if place.migration_id > tail.gap.migration_id]
        closed = bool(later) and final >= self.proofs.closes(tail.gap.migration_id, min(later)) > tail.gap.lo
        kept = [micros for one, micros in here.items() if one in self.rejected]
        settles = any(tail.gap.lo < micros <= final for micros in [*tail.held.values(), *kept])
        unknown = not here.keys() <= {*tail.held, *self.rejected}
        return Look(unknown or settles or closed or tail.long or not whole, lags, tuple(found.values()))

    def _found(self, server: str, tail: Tail) -> tuple[dict[str, Cursor], bool]:
        """What a server shows of a tail, as far as it is known; and whether that is all it has."""
        after, most = tail.after, 0
        found: dict[str, Cursor] = {}
        for _ in range(_PAGES):
            asked = after
            size, answer = self._ask(after, self.page_size, server)
            ids, places = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
            found.update(zip(ids, places, strict=True))
            if not places or places[-1].migration_id > tail.gap.migration_id:
                return found, True
            page = PageSize(len(places), len(answer.value.raw))
            if page.items < size and (self.servers.can_send_more(server, page) or page.items < most):
                return found, True  # it can send more than this, so this is all
            if tail.long or not {*ids} <= {*tail.held, *self.rejected}:
                return found, False
            most = max(most, len(places))
            after = before(places[-1])
            if after == asked:  # one group of equal cursors, which the page may have cut
                beyond = len(places) < size and not self._ask(places[-1], 1, server)[1].value.glimpse.cursors
                return found, beyond
        return found, False

    def _ask(self, after: Cursor | None, page_size: int, server: str) -> tuple[int, Answer[UpdatesPage]]:
        return _ask(self.servers, self.proofs, after, page_size, server)

    def _compare(self, server: str, tail: Tail, here: Mapping[str, int], final: int) -> bool:
        """Refuse a server that contradicts the store; say whether it is known to belong to its network.

        Args:
            server: which.
            tail: what is stored.
            here: what it shows in the same migration.
            final: up to this record time it has shown everything.
        """
        missing = [one for one, micros in tail.held.items() if one not in here and micros <= final]
        ours = {*tail.held, *self.rejected}
        known = bool(here.keys() & ours) or not tail.anchored or self._recognise(server, certain=bool(missing))
        if missing:
            raise self._lacking(server, tail.gap.migration_id, {one: tail.held[one] for one in missing})
        settled = self.history.slots.settled
        places = {one: Cursor(tail.gap.migration_id, micros) for one, micros in here.items()}
        for one in places.keys() - ours:
            if lies_in(places[one], settled) and not self.history.holds([one]):
                raise _DisagreesError(
                    f"{server}: update {one} at {places[one]} lies where the store is final, and is not in it: the"
                    " server showed it later than settle= allows, or its history went on differently. Compare with"
                    " store.verify, and sync into a new store with a longer settle="
                )
        return known

    def _recognise(self, server: str, *, certain: bool) -> bool:
        """Whether a server shows that it belongs to the store's network, by any update of its beginning.

        Args:
            server: which.
            certain: it lacks an update that is stored.

        Raises:
            StoreError: it belongs to another one.
        """
        _, answer = self._ask(None, _FIRST, server)
        ids, places = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
        name = (self.history.network or "").partition("/")[2]
        if not ids:
            return False
        if name in ids or self.history.holds(ids):
            self._compare_whole(server, dict(zip(ids, places, strict=True)), {place.migration_id for place in places})
            return True
        if certain or any(lies_in(place, self.history.slots.settled) for place in places):
            raise _another_network(server, ids[0], name)
        return False

    def confirm(self, server: str, first: Cursor | None) -> bool:
        """Whether a server that has given pages still is of the store's network; False if that cannot be known.

        Where this run had to find the network's first update, `first` is its place.

        Raises:
            StoreError: it is of another network.
        """
        try:
            if first is None:
                return self._recognise(server, certain=False)
            _, answer = _ask(self.servers, self.proofs, before(first), _FIRST, server, insist=True)
        except StoppedError:
            return False
        except (RequestError, PagingError, DecodeError) as error:
            _log.warning("%s could not be asked whether it still is of the same network: %s", server, error)
            return False
        ids, places = answer.value.glimpse.update_ids, answer.value.glimpse.cursors
        name = (self.history.network or "").partition("/")[2]
        if name in ids:
            return True
        if places and places[-1] > first and self.proofs.now().of(server, places) >= first.micros:
            raise _another_network(server, ids[0], name)
        return False

    def _compare_whole(self, server: str, found: Mapping[str, Cursor], migrations: Collection[int]) -> None:
        """Refuse a server that lacks an update of migrations that it shows from their beginning on."""
        last = max(found.values(), default=None)
        if last is None:
            return
        for migration_id in migrations:
            end = last.micros - 1 if last.migration_id == migration_id else CLOSED
            final = min(end, self.proofs.now().of(server))
            held = self.history.held(Interval(migration_id, BEGINNING, final)) if final > BEGINNING else {}
            missing = {one: held[one] for one in sorted(held.keys() - found.keys())}
            if missing:
                raise self._lacking(server, migration_id, missing)

    def _lacking(self, server: str, migration_id: int, missing: Mapping[str, int]) -> _DisagreesError:
        """The error for stored updates that a server lacks; what is settled among them decides what helps."""
        settled = self.history.slots.settled
        final = [one for one, micros in missing.items() if lies_in(Cursor(migration_id, micros), settled)]
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
        """Leave out the servers that do not show the update which the store's network is told by.

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
    newest = max(part.migration_id for part in history.slots.common)
    end = max((part.at for part in history.slots.settled if part.migration_id == newest), default=BEGINNING)
    Agreement(AgreedServers(source), history, Proofs(settle), MAXIMUM).look(Interval(newest, end, CLOSED), every=True)


def first_update(servers: AgreedServers, proofs: Proofs) -> tuple[Cursor, str] | None:
    """The first place of a history that is not stored yet, and the update there; None while it is empty.

    Raises:
        StoreError: the servers belong to different networks.
    """
    found: Glimpse | None = None
    failed: LedgerframesError | None = None
    empty: list[str] = []
    for server in servers.servers:
        try:
            glimpse = _ask(servers, proofs, None, _FIRST, server)[1].value.glimpse
        except (RequestError, PagingError, DecodeError) as error:
            failed = error
            servers.leave_out(server, error)
            continue
        failed = None
        if found is None or not found.cursors:
            found, of = glimpse, server
            if not glimpse.cursors:
                empty.append(server)
        elif not {*glimpse.update_ids} & {*found.update_ids}:
            _tell_apart(servers, proofs, of, server)
    if found is None:
        assert failed is not None
        raise failed
    if not found.cursors:
        return None
    for server in empty:  # what it shows first may be another network's
        servers.leave_out(server, _UNKNOWN)
    group = [one for place, one in zip(found.cursors, found.update_ids, strict=True) if place == found.cursors[0]]
    return found.cursors[0], min(group)


def _tell_apart(servers: AgreedServers, proofs: Proofs, one: str, other: str) -> None:
    """Two servers begin differently: one has shown only a little yet, or they belong to different networks."""
    try:
        pages = {server: _ask(servers, proofs, None, MAXIMUM, server)[1].value.glimpse for server in (one, other)}
    except (RequestError, PagingError, DecodeError) as error:
        servers.leave_out(other, error)  # it has not been compared
        return
    if {*pages[one].update_ids} & {*pages[other].update_ids}:
        return
    for server, against in ((one, other), (other, one)):
        final = proofs.now().of(server)
        if any(place.micros <= final for place in pages[against].cursors):
            raise _another_network(other, next(iter(pages[other].update_ids), ""), pages[one].update_ids[0])
    servers.leave_out(other, _UNKNOWN)


def _ask(
    servers: AgreedServers, proofs: Proofs, after: Cursor | None, page_size: int, server: str, *, insist: bool = False
) -> tuple[int, Answer[UpdatesPage]]:
    """Ask a server for a page, again where it gives none if `insist`; gives the size that was asked for in the end."""
    size = min(page_size, servers.page_maximum(server) or page_size)

    def revise(_request: Request, error: RequestError) -> Request | None:
        nonlocal size
        smaller = smaller_page(size, error)
        if smaller == size:
            return None
        size = smaller
        return servers.page_request(after, size)

    named = None if len(servers.servers) == 1 else (server,) if insist else server
    try:
        answer = servers.send_page(servers.page_request(after, size), server=named, revise=revise)
    except StatusError as error:  # a server that is named is asked once: also with too large a page
        maximum = named_maximum(error)
        if maximum is None or maximum >= page_size:
            raise
        servers.learn_page_maximum(server, maximum)
        return _ask(servers, proofs, after, maximum, server, insist=insist)
    places = answer.value.glimpse.cursors
    if places and after is not None and places[0] <= after:
        raise PagingError(
            f"POST /v2/updates: asked for what follows {after}, {server} sent an update at {places[0]}; it ignores"
            " the cursor"
        )
    proofs.saw(server, places)
    return size, answer


class _DisagreesError(StoreError):
    """A server contradicts the store, or does not show whether it agrees."""


def _another_network(server: str, begins: str, ours: str) -> StoreError:
    return StoreError(
        f"{server}: this is not the network that the store was filled from: its history begins with update {begins},"
        f" the store's with {ours}. Open another store for it"
    )


def _after(part: Interval) -> Cursor | None:
    return before(Cursor(part.migration_id, part.lo + 1))
