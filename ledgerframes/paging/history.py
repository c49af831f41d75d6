"""How scan's update history is read without losing or repeating an update: a decision after every page.

Several synchronizers can share a record time, and a page may end between their updates; "strictly after" would then
skip the rest. So the last group of equal cursors of every page is held back and asked for again from the place
before it. What a reader does next is its mode: it locates where its window begins, reads, probes whether a page was cut
short, or confirms that nothing follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Protocol

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor, Glimpse, before, shown
from ledgerframes.paging.window import Window

#: The contract's largest page of updates, until a server names a lower one.
MAXIMUM: Final = 1000
_STUCK: Final = 40
_CUT: Final = 5


class Outcome(Enum):
    """What a page means for the read."""

    MORE = "ask again"
    END = "the server has nothing beyond"
    PAST = "the window ends here"
    LIMIT = "as many as the caller wanted"
    BEHIND = "the server does not have what another answer already showed"


@dataclass(frozen=True)
class Ask:
    """What to ask next: items strictly after a place, or from ledger begin."""

    after: Cursor | None
    page_size: int


@dataclass(frozen=True)
class Taken:
    """Which rows of the page count, and how to go on."""

    rows: list[int]
    outcome: Outcome


@dataclass(frozen=True)
class Page:
    """One answer: the places of its items, who sent it, and what was asked."""

    places: Glimpse
    server: str
    asked: Ask

    def __len__(self) -> int:
        return len(self.places.cursors)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of its updates."""
        return frozenset(self.places.update_ids)


class Mode(Protocol):
    """What a reader is doing: where it asks, and what the answer means."""

    @property
    def after(self) -> Cursor | None:
        """The place that the next request asks after."""

    @property
    def size(self) -> int | None:
        """How many items the next request asks for, where the mode needs a certain number."""

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Learn from an answer; sets the reader's next mode."""


@dataclass(frozen=True)
class Locating:
    """Looks for the first migration that there is, by one item.

    A window of bare times begins in every migration anew, and nobody knows the first migration's id beforehand.
    """

    after: Cursor | None
    size: int | None = 1

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Go to where the window begins in that migration."""
        if not page:
            return Taken([], Outcome.END)
        target = reader.window.nearest(page.places.cursors[0])
        if target is None:
            reader.beyond = True
            return Taken([], Outcome.PAST)
        reader.mode = Reading(before(target))
        return Taken([], Outcome.MORE)


@dataclass(frozen=True)
class Reading:
    """Takes everything of a page but its last group of equal cursors, which is held back.

    A page may end inside a tie, and only asking again from before the tie shows the rest of it.

    Attributes:
        held: the updates of that group, as the page before showed them.
        place: where that group lies.
    """

    after: Cursor | None
    held: frozenset[str] = frozenset()
    place: Cursor | None = None
    size: int | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Divide the page; a server that lacks what was held back lags behind the one that showed it."""
        if not page and not self.held:
            return Taken([], Outcome.END)
        if not self.held <= page.ids and not self._has_more(page):
            return Taken([], reader.stay(Outcome.BEHIND))
        final = page.places.cursors[-1]
        target = reader.window.nearest(final)
        stop = page.places.cursors.index(final) if target == final else len(page)
        if stop:
            return reader.divide(page, stop, target)
        if not self._has_all(reader, page):
            return Taken([], reader.stay(Outcome.MORE))
        taken = reader.divide(page, len(page), target)
        if taken.outcome is not Outcome.LIMIT:
            reader.mode = Confirming(final, Reading(self.after, page.ids, final), page.server)
        return taken

    def _has_more(self, page: Page) -> bool:
        """Whether a page without the group ends before it: then late updates have filled it."""
        return bool(page) and self.place is not None and page.places.cursors[-1] < self.place

    def _has_all(self, reader: HistoryReader, page: Page) -> bool:
        """Whether a page that is one group of equal cursors has all of it; if not, plan a larger request."""
        count = len(page)
        reader.mode = replace(self, held=page.ids, place=page.places.cursors[-1])
        if count >= page.asked.page_size:
            if page.asked.page_size >= reader.maximum:
                raise PagingError(
                    f"POST /v2/updates: {count} updates or more share {page.places.cursors[0]}, and the server's"
                    f" largest page is {reader.maximum}; they cannot be read without loss"
                )
            reader.page_size = min(reader.maximum, max(2 * page.asked.page_size, count + 1))
            return False
        if count < reader.largest.get(page.server, 0):
            return True
        reader.mode = Probing(reader.mode, count, page.server, min(count + 1, reader.maximum))
        return False


@dataclass(frozen=True)
class Probing:
    """Asks from ledger begin whether a server can send more items than the group it stopped at.

    A server that caps pages silently, at so many items or bytes, cuts a tie just where a whole tie would end.

    Attributes:
        back: what to go on with.
        group: the size of that group.
        server: who sent it.
    """

    back: Mode
    group: int
    server: str
    size: int | None
    after: Cursor | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Learn the size of a page that the server can send; go back."""
        reader.mode = back = self.back
        assert isinstance(back, Reading)
        if page.server != self.server:
            return Taken([], reader.stay(Outcome.MORE))
        if len(page) <= self.group and page.ids != back.held:  # it is fine if the group is all the history
            raise _capped(self.group)
        reader.largest[self.server] = max(self.group + 1, reader.largest.get(self.server, 0))
        return Taken([], Outcome.MORE)


@dataclass(frozen=True)
class Confirming:
    """Asks what follows a group that seemed to be the last and was taken whole.

    Where something follows after all, the server has moved on, and the group may have grown meanwhile. If a server
    shows the group alone again and again though something follows, its pages end inside the group.

    Attributes:
        back: reads the group again.
        server: who sent the group.
    """

    after: Cursor | None
    back: Reading
    server: str
    size: int | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Nothing follows, or the group is read again."""
        if not page:
            return Taken([], Outcome.END)
        if reader.reopened >= _CUT and page.server == self.server:
            raise _capped(len(self.back.held))
        reader.reopen()
        reader.count_reopened()
        return Taken([], Outcome.MORE)


@dataclass
class HistoryReader:
    """Reads one window of the history; fed with one glimpse a page.

    Attributes:
        window: what is wanted.
        limit: how many updates at most.
        page_size: how many items the next request asks for; what it was at first is what it goes back to.
        maximum: the largest page the server is known to allow.
        last: the last place taken.
        taken: how many updates were taken.
        beyond: whether the server that gave the last row has shown an item beyond the window.
        mode: what it is doing.
        largest: the largest page that each server has sent.
        reopened: how often the last group has been read again.
    """

    window: Window
    limit: int | None = None
    page_size: int = MAXIMUM
    maximum: int = MAXIMUM
    last: Cursor | None = None
    taken: int = 0
    beyond: bool = False
    largest: dict[str, int] = field(default_factory=dict)
    mode: Mode = Reading(None)
    reopened: int = 0
    _preferred: int = MAXIMUM
    _recent: frozenset[str] = frozenset()
    _idle: int = 0

    def __post_init__(self) -> None:
        self._preferred = self.page_size = min(self.page_size, self.maximum)
        after = None if self.window.start is None else before(self.window.start)
        self.mode = Reading(after) if self.window.since is None else Locating(after)

    @property
    def after(self) -> Cursor | None:
        """The place up to which everything has been taken."""
        return self.mode.back.after if isinstance(self.mode, Probing) else self.mode.after

    def ask(self) -> Ask:
        """The next request."""
        if self.mode.size is not None:
            return Ask(self.mode.after, self.mode.size)
        size = self.page_size
        if self.limit is not None:
            size = min(size, max(self.limit - self.taken, 1) + 1)
        return Ask(self.mode.after, max(size, min(self.holding + 1, self.maximum)))

    def lower(self, maximum: int) -> None:
        """A server named a lower maximum for a page."""
        self.maximum = max(1, min(self.maximum - 1, maximum))
        self.page_size = min(self.page_size, self.maximum)
        if isinstance(self.mode, Probing):
            self.mode = replace(self.mode, size=min(self.mode.group + 1, self.maximum))

    def shrink(self) -> None:
        """A page was too much for the server; ask for half."""
        self.page_size = max(1, self.page_size // 2)

    @property
    def holding(self) -> int:
        """How many updates at the end of the last page are held back."""
        return len(self.mode.held) if isinstance(self.mode, Reading) else 0

    def holds_back(self, page: Glimpse) -> bool:
        """Whether what is held back is the end of this page."""
        held = self.mode.held if isinstance(self.mode, Reading) else frozenset()
        return bool(held) and held == frozenset(page.update_ids[-len(held) :])

    def flush(self, place: Cursor) -> None:
        """Take what is held back: the server that showed it keeps saying that there is nothing."""
        self.taken += self.holding
        self.last = place
        if isinstance(self.mode, Reading):
            self.mode = replace(self.mode, held=frozenset())

    def reopen(self) -> None:
        """Go back before the last group, which ended what one server had: another may have more of it."""
        if isinstance(self.mode, Confirming):
            self.mode = self.mode.back
            self._recent = self.mode.held

    def rewind(self, place: Cursor) -> None:
        """Read again from a place on, since what follows it can be proven only now."""
        self.mode = Reading(place)
        self._recent = frozenset()

    def take(self, places: Glimpse, server: str, asked: Ask) -> Taken:
        """Decide what of a page counts.

        Raises:
            PagingError: the page is out of order, or repeats an older one, or one instant holds more updates than
                the server's largest page.
        """
        page = Page(places, server, asked)
        self._check(page)
        if not isinstance(self.mode, Probing):
            self.largest[server] = max(len(page), self.largest.get(server, 0))
        return self.mode.take(self, page)

    def _check(self, page: Page) -> None:
        previous = after = page.asked.after
        for cursor, update_id in zip(page.places.cursors, page.places.update_ids, strict=True):
            if previous is not None and cursor < previous:
                raise PagingError(
                    f"POST /v2/updates: update {update_id} at {cursor} came after {previous}; the server's pages are"
                    " not in order of migration id and record time, reading on could lose updates"
                )
            if cursor == after and update_id not in self._recent:
                raise PagingError(
                    f"POST /v2/updates: asked for what follows {cursor}, the server sent update {update_id} of that"
                    " very instant; reading on could repeat updates for ever"
                )
            previous = cursor

    def divide(self, page: Page, stop: int, target: Cursor | None) -> Taken:
        """Take the rows of a page before `stop`, and hold the others back.

        Args:
            page: the page.
            stop: its first item that is held back.
            target: the first place inside the window at or after the last item; None beyond its end.
        """
        rows = self._inside(page, stop)
        outcome = Outcome.MORE
        if self.limit is not None and self.taken + len(rows) >= self.limit:
            rows = rows[: self.limit - self.taken]
            outcome = Outcome.LIMIT
        elif target is None:
            self.beyond = True
            outcome = Outcome.PAST
        self._stand(page, rows, stop, target)
        return Taken(rows, outcome)

    def _stand(self, page: Page, rows: list[int], stop: int, target: Cursor | None) -> None:
        """Note where the read stands after a page whose first `stop` items are dealt with."""
        cursors, update_ids = page.places.cursors, page.places.update_ids
        after = before(target) if target is not None and target != cursors[-1] else cursors[stop - 1]
        if after == self.mode.after:
            self.stay(Outcome.MORE)
        else:
            self._idle = 0
        self.mode = Reading(after, frozenset(update_ids[stop:]), cursors[-1])
        self._recent = frozenset(update_ids[row] for row in rows)
        self.taken += len(rows)
        if rows:
            self.reopened = 0
            self.last = cursors[rows[-1]]
        self.page_size = min(self.maximum, self._preferred, self.page_size * 2)

    def _inside(self, page: Page, stop: int) -> list[int]:
        seen = set(self._recent)
        rows = []
        for row in range(stop):
            cursor, update_id = page.places.cursors[row], page.places.update_ids[row]
            if update_id not in seen and (self.window.whole or self.window.nearest(cursor) == cursor):
                rows.append(row)
                seen.add(update_id)
        return rows

    def stay(self, outcome: Outcome) -> Outcome:
        """Count a request that brought the read no further.

        Raises:
            PagingError: there were too many of them.
        """
        self._idle += 1
        if self._idle > _STUCK:
            raise PagingError(f"POST /v2/updates: no progress after {shown(self.after)} in {_STUCK} requests")
        return outcome

    def count_reopened(self) -> None:
        """Count a group that was read again.

        Raises:
            PagingError: it happened too often without an update.
        """
        self.reopened += 1
        if self.reopened > _STUCK:
            raise PagingError(
                f"POST /v2/updates: no progress after {shown(self.after)}; the servers contradict each other"
            )


def _capped(group: int) -> PagingError:
    return PagingError(
        f"POST /v2/updates: {group} updates share one instant, and the server's pages end inside that group whatever is"
        " asked: it caps them at so many items or bytes, and whether there are more of them cannot be known. Ask its"
        " operator to allow larger pages, or read from another scan"
    )
