"""What a reader of a history is doing, mode by mode; `history` holds the reader.

It locates where its window begins, reads, probes whether a page was cut short, or confirms that nothing follows. Each
mode is fed with one answer and says what it means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor, Glimpse, before

if TYPE_CHECKING:
    from ledgerframes.paging.history import HistoryReader

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


def _capped(group: int) -> PagingError:
    return PagingError(
        f"POST /v2/updates: the server's pages end inside a group of at least {group} update(s) at one record time,"
        " whatever page size is asked for: it caps them at so many items or bytes, and whether there are more of them"
        " cannot be known. Ask its operator to allow larger pages, or read from another scan"
    )
