"""How scan's update history is read without losing or repeating an update: a decision after every page.

Several synchronizers can share a record time, and a page may end between their updates; "strictly after" would then
skip the rest. So the last group of equal cursors of every page is held back and asked for again from the place
before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from ledgerframes.decoding.peek import Cursor, Glimpse
from ledgerframes.errors import PagingError
from ledgerframes.instants import format_instant
from ledgerframes.paging.window import Window, before

#: The contract's largest page of updates, until a server names a lower one.
MAXIMUM: Final = 1000
_STUCK: Final = 40


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
    """

    window: Window
    limit: int | None = None
    page_size: int = MAXIMUM
    maximum: int = MAXIMUM
    last: Cursor | None = None
    taken: int = 0
    beyond: bool = False
    _preferred: int = MAXIMUM
    _after: Cursor | None = None
    _locating: bool = False
    _probing: int = 0
    _prober: str = ""
    _doubtful: int = 0
    _tail: tuple[Cursor | None, frozenset[str]] | None = None
    _reopened: int = 0
    _held: frozenset[str] = frozenset()
    _recent: set[str] = field(default_factory=set)
    _largest: dict[str, int] = field(default_factory=dict)
    _idle: int = 0

    def __post_init__(self) -> None:
        self._preferred = self.page_size = min(self.page_size, self.maximum)
        self._after = None if self.window.start is None else before(self.window.start)
        self._locating = self.window.since is not None

    def ask(self) -> Ask:
        """The next request."""
        if self._probing:
            return Ask(None, min(self._probing + 1, self.maximum))
        if self._locating:
            return Ask(self._after, 1)
        size = self.page_size
        if self.limit is not None:
            size = min(size, max(self.limit - self.taken, 1) + 1)
        return Ask(self._after, max(size, min(len(self._held) + 1, self.maximum)))

    def lower(self, maximum: int) -> None:
        """A server named a lower maximum for a page."""
        self.maximum = max(1, min(self.maximum - 1, maximum))
        self.page_size = min(self.page_size, self.maximum)

    def shrink(self) -> None:
        """A page was too much for the server; ask for half."""
        self.page_size = max(1, self.page_size // 2)

    @property
    def holding(self) -> int:
        """How many updates at the end of the last page are held back."""
        return len(self._held)

    def flush(self, place: Cursor) -> None:
        """Take what is held back: the server that showed it keeps saying that there is nothing."""
        self.taken += len(self._held)
        self.last = place
        self._held = frozenset()

    def reopen(self) -> None:
        """Go back before the last group, which ended what one server had: another may have more of it."""
        if self._tail is not None:
            self._after, self._held = self._tail
            self._recent = set(self._held)
            self._tail = None

    def take(self, page: Glimpse, server: str, asked: Ask) -> Taken:
        """Decide what of a page counts.

        Raises:
            PagingError: the page is out of order, or repeats an older one, or one instant holds more updates than
                the server's largest page.
        """
        self._check(page, asked)
        count = len(page.cursors)
        if self._probing:
            return self._probed(page, server)
        self._largest[server] = max(count, self._largest.get(server, 0))
        if count and self._tail is not None:
            return self._grown(count, server)
        if not count:
            if self._held:
                return Taken([], self._stay(Outcome.BEHIND))
            return Taken([], Outcome.END)
        if not self._held.issubset(page.update_ids):
            return Taken([], self._stay(Outcome.BEHIND))
        if self._locating:
            return Taken([], self._locate(page.cursors[0]))
        return self._divide(page, server, asked)

    def _check(self, page: Glimpse, asked: Ask) -> None:
        previous = asked.after
        for cursor, update_id in zip(page.cursors, page.update_ids, strict=True):
            if previous is not None and cursor < previous:
                raise PagingError(
                    f"POST /v2/updates: update {update_id} at {_say(cursor)} came after {_say(previous)}; the server's"
                    " pages are not in order of migration id and record time, reading on could lose updates"
                )
            if cursor == asked.after and update_id not in self._recent:
                raise PagingError(
                    f"POST /v2/updates: asked for what follows {_say(cursor)}, the server sent update {update_id} of"
                    " that very instant; reading on could repeat updates for ever"
                )
            previous = cursor

    def _grown(self, count: int, server: str) -> Taken:
        """What seemed the end is not: read the last group again, for it may have grown too."""
        doubtful, self._doubtful = self._doubtful, 0
        if server == self._prober and count <= doubtful:
            raise _capped(count, doubtful)
        self.reopen()
        self._reopened += 1
        if self._reopened > _STUCK:
            raise PagingError(
                f"POST /v2/updates: no progress after {_say(self._after)}; the servers contradict each other"
            )
        return Taken([], Outcome.MORE)

    def _locate(self, first: Cursor) -> Outcome:
        """Go to where the window begins in the first migration that there is."""
        self._locating = False
        target = self.window.nearest(first)
        if target is None:
            self.beyond = True
            return Outcome.PAST
        self._after = before(target)
        return Outcome.MORE

    def _divide(self, page: Glimpse, server: str, asked: Ask) -> Taken:
        cursors = page.cursors
        final = cursors[-1]
        stop = len(cursors)
        target = self.window.nearest(final)
        if target == final:
            stop = cursors.index(final)
            if stop == 0 and not self._complete(page, server, asked):
                return Taken([], self._stay(Outcome.MORE))
        whole_group = stop == 0
        stop = stop or len(cursors)
        rows = self._inside(page, stop)
        outcome = Outcome.MORE
        if self.limit is not None and self.taken + len(rows) >= self.limit:
            rows = rows[: self.limit - self.taken]
            outcome = Outcome.LIMIT
        elif target is None:
            self.beyond = True
            outcome = Outcome.PAST
        self._settle(page, rows, stop, target)
        if whole_group:
            self._tail = asked.after, frozenset(page.update_ids)
        return Taken(rows, outcome)

    def _settle(self, page: Glimpse, rows: list[int], stop: int, target: Cursor | None) -> None:
        """Note where the read stands after a page whose first `stop` items are dealt with."""
        final = page.cursors[-1]
        after = before(target) if target is not None and target != final else page.cursors[stop - 1]
        if after == self._after:
            self._stay(Outcome.MORE)
        else:
            self._idle = 0
        self._held = frozenset(page.update_ids[stop:])
        self._after = after
        self._recent = {page.update_ids[row] for row in rows}
        self.taken += len(rows)
        if rows:
            self._reopened = 0
            self.last = page.cursors[rows[-1]]
        self.page_size = min(self.maximum, self._preferred, self.page_size * 2)

    def _inside(self, page: Glimpse, stop: int) -> list[int]:
        seen = set(self._recent)
        rows = []
        for row in range(stop):
            cursor, update_id = page.cursors[row], page.update_ids[row]
            if update_id not in seen and (self.window.whole or self.window.nearest(cursor) == cursor):
                rows.append(row)
                seen.add(update_id)
        return rows

    def _complete(self, page: Glimpse, server: str, asked: Ask) -> bool:
        """Whether a page that is one group of equal cursors has all of it; if not, plan a larger request."""
        count = len(page.cursors)
        if count >= asked.page_size:
            if asked.page_size >= self.maximum:
                raise PagingError(
                    f"POST /v2/updates: {count} updates or more share {_say(page.cursors[0])}, and the server's largest"
                    f" page is {self.maximum}; they cannot be read without loss"
                )
            self.page_size = min(self.maximum, max(2 * asked.page_size, count + 1))
            self._held = frozenset(page.update_ids)
            return False
        if count < self._largest[server]:
            return True
        self._held = frozenset(page.update_ids)
        self._probing, self._prober = count, server
        return False

    def _probed(self, page: Glimpse, server: str) -> Taken:
        """Learn from ledger begin whether the server can send more than the group it stopped at."""
        group, self._probing = self._probing, 0
        if server != self._prober:
            return Taken([], self._stay(Outcome.MORE))
        if len(page.cursors) <= group:
            if frozenset(page.update_ids) != self._held:
                raise _capped(len(page.cursors), group)
            self._doubtful = group  # fine if the group is all the history there is
        self._largest[server] = max(group + 1, self._largest.get(server, 0))
        return Taken([], Outcome.MORE)

    def _stay(self, outcome: Outcome) -> Outcome:
        self._idle += 1
        if self._idle > _STUCK:
            raise PagingError(f"POST /v2/updates: no progress after {_say(self._after)} in {_STUCK} requests")
        return outcome


def _capped(count: int, group: int) -> PagingError:
    return PagingError(
        f"POST /v2/updates: the server sends at most {count} items a page, whatever is asked, and {group} updates share"
        " one instant; whether there are more of them cannot be known"
    )


def _say(place: Cursor | None) -> str:
    if place is None:
        return "ledger begin"
    return f"(migration {place.migration_id}, {format_instant(place.micros)})"
