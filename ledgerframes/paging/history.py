"""`HistoryReader`: decides after every page what to request next, so that no update is lost or repeated.

Several synchronizers can share a record time, and a page may end between their updates; "strictly after" would then
skip the rest. So the last group of equal cursors of every page is held back and requested again from the cursor
before it. The modes are in `modes`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor, PageIndex, Window, before, shown
from ledgerframes.paging.modes import Confirming, Locating, Mode, Outcome, Page, PageQuery, Probing, Reading, Taken

#: The contract's largest page of updates, until a server names a lower one.
MAXIMUM: Final = 1000
# Growing a page from one item to 1,000 takes ten requests without progress; far more means a contradiction.
_STUCK: Final = 40
#: The number of halved pages that arrive before a larger one is tried.
_PATIENCE: Final = 4
#: No known server fails below this size, so smaller pages, as after several faults in a row, grow back at once.
_SMALL: Final = 64


@dataclass
class HistoryReader:
    """Reads one window of the history; takes the index of every page.

    Attributes:
        window: the wanted range.
        limit: the maximum number of updates to read; items without a row are not counted.
        page_size: items in the next request; once halved, it grows back to its first value in careful steps.
        maximum: the largest page that the server is known to allow.
        endpoint: method and path, for messages.
        first: the cursor of the first item that a server has shown, if it was requested.
        last: the cursor of the last update taken.
        taken: the number of updates taken.
        beyond: whether a server has shown an item at or after the window's end.
        mode: its current mode.
        largest: the largest page that each server has sent.
        lost_overlap: whether it has continued without an update that was shown before, or could not find one again.
        withdrawn: whether it has ended with updates that their server no longer shows.
        reopened: how often the last group has been read again.
    """

    window: Window
    limit: int | None = None
    page_size: int = MAXIMUM
    maximum: int = MAXIMUM
    endpoint: str = "POST /v2/updates"
    first: Cursor | None = None
    last: Cursor | None = None
    taken: int = 0
    beyond: bool = False
    largest: dict[str, int] = field(default_factory=dict)
    mode: Mode = field(init=False)
    lost_overlap: bool = False
    withdrawn: bool = False
    reopened: int = 0
    _preferred: int = MAXIMUM
    _arrived: int = 0  # pages since the page size changed
    _patience: int = _PATIENCE
    _grown: bool = False  # whether it changed to a larger one
    _recent: dict[str, Cursor] = field(default_factory=dict)  # where the rows of the last page are
    _idle: int = 0

    def __post_init__(self) -> None:
        self._preferred = self.page_size = min(self.page_size, self.maximum)
        after = None if self.window.start is None else before(self.window.start)
        self.mode = Reading(after) if self.window.since is None else Locating(after)

    @property
    def after(self) -> Cursor | None:
        """The cursor up to which everything has been taken."""
        return self.mode.back.after if isinstance(self.mode, Probing) else self.mode.after

    def query(self) -> PageQuery:
        """The next request."""
        if self.mode.size is not None:
            return PageQuery(self.mode.after, self.mode.size)
        size = self.page_size
        if self.limit is not None:
            # One more than wanted, since the last group of every page is held back.
            size = min(size, max(self.limit - self.taken, 1) + 1)
        # A page with only the updates held back would bring no progress.
        return PageQuery(self.mode.after, max(size, min(len(self.held_back) + 1, self.maximum)))

    def lower(self, maximum: int) -> None:
        """Lower the page size to a maximum that a server has named."""
        # At least one less than before: a server that refuses the maximum it named would be asked the same forever.
        self.maximum = max(1, min(self.maximum - 1, maximum))
        self.page_size = min(self.page_size, self.maximum)
        if isinstance(self.mode, Probing):
            # A probe has a size of its own, which the server would refuse as well.
            self.mode = replace(self.mode, size=min(self.mode.group + 1, self.maximum))

    def shrink(self) -> None:
        """Halve the page size: a page was too large for the server, or for a gateway before it."""
        # A gateway may time out at every page of some size, so each failed attempt at one delays the next.
        self._patience *= 2 if self._grown and not self._arrived else 1
        self.page_size, self._arrived, self._grown = max(1, self.page_size // 2), 0, False

    @property
    def held_back(self) -> frozenset[str]:
        """The updates at the end of the last page that are held back."""
        return self.mode.held_back if isinstance(self.mode, Reading) else frozenset()

    def flush(self, cursor: Cursor) -> None:
        """Take the updates held back, up to `cursor`: the server that showed them repeats that nothing follows."""
        # Without an overlap, another network behind the URL would go unnoticed; a load then reads its beginning again.
        self.lost_overlap = True
        self.taken += len(self.held_back)
        self.last = cursor
        if isinstance(self.mode, Reading):
            self.mode = replace(self.mode, held_back=frozenset())

    def reopen(self) -> None:
        """Go back before the last group: one server ended with it, and another may have more of it."""
        if isinstance(self.mode, Confirming):
            self.mode = self.mode.back
            self._recent = {} if self.mode.cursor is None else dict.fromkeys(self.mode.held_back, self.mode.cursor)

    def rewind(self, cursor: Cursor) -> None:
        """Read again from a cursor on, since only now the items after it can be proven."""
        self.mode = Reading(cursor)
        self._recent = {}

    def take(self, page_index: PageIndex, server: str, query: PageQuery) -> Taken:
        """Decide which rows of a page count.

        Raises:
            PagingError: the page is out of order, or repeats an older one, or more updates share one record time than
                fit into the server's largest page.
            PartialResultError: one server ends with a group, and those that have more cannot show it.
        """
        page = Page(page_index, server, query)
        self._check(page)
        if query.after is None and page_index.cursors:
            self.first = page_index.cursors[0] if self.first is None else min(self.first, page_index.cursors[0])
        self.beyond = self.beyond or any(map(self.window.ends_before, page_index.cursors))
        if not isinstance(self.mode, Probing):
            self.largest[server] = max(len(page_index.cursors), self.largest.get(server, 0))
        return self.mode.take(self, page)

    def _check(self, page: Page) -> None:
        previous = after = page.query.after
        for cursor, update_id in zip(page.page_index.cursors, page.page_index.update_ids, strict=True):
            # Equal cursors are in order: record times increase strictly only within one synchronizer.
            if previous is not None and cursor < previous:
                raise PagingError(
                    f"{self.endpoint}: update {update_id} at {cursor} came after {previous}; the server's pages are"
                    " not in order of migration id and record time, reading on could lose updates"
                )
            # A server whose cursor is inclusive repeats the last updates, which are dropped; anything else at the
            # cursor means that it does not continue after it.
            if cursor == after and update_id not in self._recent:
                raise PagingError(
                    f"{self.endpoint}: asked for what follows {cursor}, the server sent update {update_id} at that"
                    " very cursor; reading on could repeat updates forever"
                )
            previous = cursor

    def divide(self, page: Page, stop: int, target: Cursor | None) -> Taken:
        """Take the rows of a page before `stop`, and hold back the others.

        Args:
            page: the page.
            stop: the position of the first item to hold back.
            target: the first cursor inside the window at or after the last item; None beyond its end.

        Raises:
            PagingError: this page, or this and the one before, show an update at two cursors.
        """
        cursors, update_ids, rowless = page.page_index.cursors, page.page_index.update_ids, page.page_index.rowless
        rows, seen, whole = [], dict(self._recent), self.window.whole
        for row, (cursor, update_id) in enumerate(zip(cursors[:stop], update_ids, strict=False)):
            if seen.get(update_id, cursor) != cursor:
                raise at_two_places(self.endpoint, update_id, cursor)
            if update_id not in seen and (whole or self.window.nearest(cursor) == cursor):
                rows.append(row)
                seen[update_id] = cursor
        outcome = Outcome.MORE
        # The position of the limit's last row; items without a row do not count.
        counted = [place for place, row in enumerate(rows) if update_ids[row] not in rowless]
        if self.limit is not None and self.taken + len(counted) >= self.limit:
            room = self.limit - self.taken
            rows = rows[: counted[room - 1] + 1] if room > 0 else []
            outcome = Outcome.LIMIT
        elif target is None:
            outcome = Outcome.PAST
        self._advance(page, rows, stop, target)
        return Taken(rows, outcome)

    def _advance(self, page: Page, rows: list[int], stop: int, target: Cursor | None) -> None:
        """Update the state of the read after a page whose first `stop` items were processed."""
        cursors, update_ids = page.page_index.cursors, page.page_index.update_ids
        # A window of bare times has gaps between migrations, so the next request starts at the next cursor inside it.
        after = before(target) if target is not None and target != cursors[-1] else cursors[stop - 1]
        if after == self.mode.after:
            self.stay(Outcome.MORE)
        else:
            self._idle = 0
        self.mode = Reading(after, frozenset(update_ids[stop:]), cursors[-1])
        self.lost_overlap = self.lost_overlap or not self.mode.held_back
        self._recent = {update_ids[row]: cursors[row] for row in rows}
        rowless = page.page_index.rowless
        self.taken += sum(update_ids[row] not in rowless for row in rows)
        if rows:
            self.reopened = 0
            self.last = cursors[rows[-1]]
        self._arrived += 1
        if self.page_size < _SMALL:
            self.page_size = min(self.page_size * 2, _SMALL)
        elif self.page_size < self._preferred and self._arrived >= self._patience:
            self.page_size, self._arrived, self._grown = self.page_size * 2, 0, True
        self.page_size = min(self.maximum, self._preferred, self.page_size)

    def stay(self, outcome: Outcome) -> Outcome:
        """Count a request that did not bring the read forward.

        Raises:
            PagingError: there were too many of them.
        """
        self._idle += 1
        if self._idle > _STUCK:
            raise PagingError(f"{self.endpoint}: no progress after {shown(self.after)} in {_STUCK} requests")
        return outcome


def at_two_places(endpoint: str, update_id: str, cursor: Cursor) -> PagingError:
    """The error of a server that shows an update at a cursor and at another one."""
    return PagingError(
        f"{endpoint}: update {update_id} is shown at {cursor} and at another cursor; an update has one. Compare the"
        " server with another one by lf.cross_check"
    )
