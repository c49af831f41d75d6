"""The modes of a `HistoryReader`, by which it decides what to request next.

It locates where its window begins, reads, probes whether a page was cut short, or confirms that nothing follows. Each
mode takes one answer and decides what it means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from ledgerframes.errors import PagingError, PartialResultError
from ledgerframes.paging.cursor import Cursor, PageIndex, before

if TYPE_CHECKING:
    from ledgerframes.paging.history import HistoryReader

# New items may reopen the last group a few times; beyond that, the server cuts its pages inside the group.
_MOST_REOPENED: Final = 5


class Outcome(Enum):
    """The meaning of a page for the read."""

    MORE = "ask again"
    END = "the server has nothing beyond"
    PAST = "the window ends here"
    LIMIT = "the caller's limit is reached"
    BEHIND = "the server does not have what another answer already showed"


@dataclass(frozen=True)
class PageQuery:
    """The next request: items strictly after a cursor, or from the beginning of the ledger."""

    after: Cursor | None
    page_size: int


@dataclass(frozen=True)
class Taken:
    """The rows of the page that count, and how to continue."""

    rows: list[int]
    outcome: Outcome


@dataclass(frozen=True)
class Page:
    """One answer: its cursors and ids, its sender, and the request."""

    page_index: PageIndex
    server: str
    query: PageQuery

    @property
    def ids(self) -> frozenset[str]:
        """The ids of its updates."""
        return frozenset(self.page_index.update_ids)


@dataclass(frozen=True)
class Locating:
    """Looks for the first existing migration, with requests for one item.

    A window of bare times starts again in every migration, and the id of the first migration is not known beforehand.
    """

    after: Cursor | None
    size: int | None = 1

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Go to the start of the window in that migration."""
        if not page.page_index.cursors:
            return Taken([], Outcome.END)
        target = reader.window.nearest(page.page_index.cursors[0])
        if target is None:
            return Taken([], Outcome.PAST)
        reader.mode = Reading(before(target))
        return Taken([], Outcome.MORE)


@dataclass(frozen=True)
class Reading:
    """Takes everything of a page except its last group of equal cursors, which is held back.

    A page may end inside a tie, and only a request that starts before the tie shows the rest.

    Attributes:
        held_back: the updates of that group, as shown by the previous page.
        cursor: the cursor of that group.
    """

    after: Cursor | None
    held_back: frozenset[str] = frozenset()
    cursor: Cursor | None = None
    size: int | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Divide the page; a server that lacks updates held back lags behind the one that showed them."""
        # Only an empty page ends a read: operators cap pages silently, so a short one proves nothing.
        cursors = page.page_index.cursors
        if not cursors and not self.held_back:
            return Taken([], Outcome.END)
        pushed_off = frozenset[str]()
        if not self.held_back.issubset(page.page_index.update_ids):
            if not self._has_more(page):
                return Taken([], reader.stay(Outcome.BEHIND))
            pushed_off = self.held_back if cursors[-1] == self.cursor else pushed_off
        final = cursors[-1]
        target = reader.window.nearest(final)
        # A last item outside of the window needs no holding back: its group is not wanted.
        stop = cursors.index(final) if target == final else len(cursors)
        if stop:
            taken = reader.divide(page, stop, target)
            if pushed_off and isinstance(reader.mode, Reading):
                reader.mode = replace(reader.mode, held_back=reader.mode.held_back | pushed_off)
            return taken
        if not self._has_all(reader, page):
            return Taken([], reader.stay(Outcome.MORE))
        taken = reader.divide(page, len(cursors), target)
        if taken.outcome is not Outcome.LIMIT:
            reader.mode = Confirming(final, Reading(self.after, page.ids, final), page.server)
        return taken

    def _has_more(self, page: Page) -> bool:
        """Whether a page ended before reaching the held-back group, or inside it, because late updates filled it."""
        cursors = page.page_index.cursors
        if not cursors or self.cursor is None:
            return False
        first, last = cursors[0], cursors[-1]
        return last < self.cursor or first < last == self.cursor

    def _has_all(self, reader: HistoryReader, page: Page) -> bool:
        """Whether a page that is one group of equal cursors has all of it; if not, plan a larger request."""
        count = len(page.page_index.cursors)
        reader.mode = replace(self, held_back=page.ids, cursor=page.page_index.cursors[-1])
        # A full page may end inside the group; only a larger one shows the rest.
        if count >= page.query.page_size:
            if page.query.page_size >= reader.maximum:
                raise PagingError(
                    f"{reader.endpoint}: {count} updates or more share {page.page_index.cursors[0]}, and the server's"
                    f" largest page is {reader.maximum}; they cannot be read without loss"
                )
            reader.page_size = min(reader.maximum, max(2 * page.query.page_size, count + 1))
            return False
        # This server has sent larger pages, so it did not cut this one short.
        if count < reader.largest.get(page.server, 0):
            return True
        reader.mode = Probing(reader.mode, count, page.server, min(count + 1, reader.maximum))
        return False


@dataclass(frozen=True)
class Probing:
    """Asks from the beginning of the ledger whether a server can send more items than the group it stopped at.

    A server that silently caps its pages, by items or bytes, may end one inside a tie as if the tie were complete.

    Attributes:
        back: the mode to return to.
        group: the size of that group.
        server: its sender.
    """

    back: Mode
    group: int
    server: str
    size: int | None
    after: Cursor | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Record the size of a page that the server can send, and return to reading."""
        reader.mode = back = self.back
        assert isinstance(back, Reading)
        # After a failover another server answers, and its page sizes show nothing about the first one's.
        if page.server != self.server:
            return Taken([], reader.stay(Outcome.MORE))
        # The server may have pruned the group since, and then shows what is left.
        cursors = page.page_index.cursors
        if cursors and back.cursor is not None and cursors[0] > back.cursor:
            return Taken([], reader.stay(Outcome.MORE))
        if len(cursors) <= self.group and page.ids != back.held_back:  # the group may be the whole history
            raise _capped(reader, self.group)
        reader.largest[self.server] = max(self.group + 1, reader.largest.get(self.server, 0))
        return Taken([], Outcome.MORE)


@dataclass(frozen=True)
class Confirming:
    """Asks what follows a group that seemed to be the last and was taken completely.

    If something does follow, the server has new items, and the group may have grown meanwhile. If a server shows only
    the group again and again although something follows, its pages end inside the group.

    Attributes:
        back: reads the group again.
        server: the sender of the group.
    """

    after: Cursor | None
    back: Reading
    server: str
    size: int | None = None

    def take(self, reader: HistoryReader, page: Page) -> Taken:
        """Finish if nothing follows, else read the group again."""
        if not page.page_index.cursors:
            return Taken([], Outcome.END)
        if reader.reopened >= _MOST_REOPENED:
            # Only the server that sent the group can be shown to cut inside it; another one may simply have more.
            if page.server == self.server:
                raise _capped(reader, len(self.back.held_back))
            raise PartialResultError(
                f"{reader.endpoint}: {self.server} shows nothing after {self.after}, and {page.server}, which does, has"
                " pruned what is there, or does not have it yet; so whether there is more of it cannot be known. Try"
                " later, or name more scans in scan_url"
            )
        reader.reopen()
        reader.reopened += 1
        return Taken([], Outcome.MORE)


#: The state of a reader: the cursor after which its next request starts, the size if it needs one, and what an answer
#: means, after which it sets the reader's next mode.
Mode = Locating | Reading | Probing | Confirming


def _capped(reader: HistoryReader, group: int) -> PagingError:
    return PagingError(
        f"{reader.endpoint}: the server's pages end inside a group of at least {group} update(s) at one record time,"
        " whatever page size is asked for: it caps them by items or bytes, and whether there are more of them"
        " cannot be known. Ask its operator to allow larger pages, or read from another scan"
    )
