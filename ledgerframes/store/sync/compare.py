"""`Tail`, `Shown` and `Comparison`: the stored rows to compare and what servers showed; `Agreement` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.servers import DisagreesError


@dataclass(frozen=True)
class Tail:
    """The stored rows at the beginning of an interval, for comparison with servers.

    Attributes:
        interval: the part that is not final in the store; it is final up to its `lo`.
        after: the cursor to ask servers after.
        stored: the updates stored after it, with their record times.
        long: whether there are too many to compare; then only those of the last record time are given.
        anchored: whether a server has to show that it belongs to the network.
    """

    interval: Interval
    after: Cursor | None
    stored: Mapping[str, int]
    long: bool = False
    anchored: bool = True


@dataclass
class Shown:
    """A server's items after the beginning of a tail, page by page.

    Attributes:
        cursors: the cursors of its updates, by id.
        whole: whether that is everything the server has.
        complete_to: up to this record time it has no other items in the tail's migration.
        proven: the record time up to which the last page was final.
    """

    cursors: dict[str, Cursor] = field(default_factory=dict)
    whole: bool = False
    complete_to: int = CLOSED
    proven: int = BEGINNING
    _broken: bool = False

    def add(self, page: Mapping[str, Cursor], proven: int, *, whole: bool) -> None:
        """Add a page.

        Args:
            page: its cursors by update id, in order.
            proven: the record time up to which the page is final, by what was shown before it and in it.
            whole: whether the server has nothing after it.
        """
        self.cursors.update(page)
        self.whole, self.proven = whole, proven
        # The last record time of a truncated page may have more updates than the page shows.
        end = CLOSED if whole or not page else list(page.values())[-1].micros - 1
        # A later page proves nothing about an earlier one: a server may catch up between the two.
        if not self._broken:
            self.complete_to, self._broken = min(end, proven), proven < end

    def of(self, migration_id: int) -> Mapping[str, Cursor]:
        """The items of one migration."""
        return {update_id: cursor for update_id, cursor in self.cursors.items() if cursor.migration_id == migration_id}


@dataclass(frozen=True)
class Comparison:
    """The result of comparing servers with the end of the stored history.

    Attributes:
        news: whether they have items that the store lacks, or can make stored ones final.
        lags: whether they lack items that they may still be about to show.
        cursors: the cursors of the items shown.
        known: whether they have shown that they belong to the store's network.
        whole: whether they still have the stored items there.
    """

    news: bool
    lags: bool
    cursors: tuple[Cursor, ...] = ()
    known: bool = True
    whole: bool = True

    @classmethod
    def of(cls, comparisons: Sequence[Comparison]) -> Comparison:
        """Combine several looks at one place."""
        cursors = tuple(cursor for comparison in comparisons for cursor in comparison.cursors)
        lags = all(comparison.lags for comparison in comparisons)
        return cls(any(comparison.news for comparison in comparisons), lags, cursors, comparisons[0].known)


def lacking_updates(server: str, missing: Sequence[str], *, final: bool) -> DisagreesError:
    """The error for stored updates that a server lacks; the remedy depends on whether they are final."""
    remedy = (
        "The update lies where the store is final: sync into a new store"
        if final
        else "The update lies where the store is not final yet: store.repair(unsettled=True) removes that part,"
        " and the next sync reads the network's current data"
    )
    return DisagreesError(
        f"{server}: update {missing[0]} is stored, and the server lacks it though it has shown later ones: it was"
        f" restored, and its history continued differently. Name a server that agrees. {remedy}"
    )


def tail_of(history: HistoryTables, interval: Interval, settle: int, *, anchored: bool) -> Tail:
    """The stored rows at the beginning of an interval.

    Args:
        history: the stored history.
        interval: the part that is not final.
        settle: how late an update may appear, in microseconds.
        anchored: include the last update before it if it contains none, so that there is something to compare.
    """
    last = history.last_stored(interval.migration_id, interval.hi)
    if last is None or (last <= interval.lo and not anchored):
        return Tail(interval, interval.after, {}, anchored=anchored)
    long = last - interval.lo > 2 * settle + 1
    lo = interval.lo if interval.lo < last and not long else last - 1
    compared = interval._replace(lo=lo, hi=last)
    rows = history.stored(compared)
    return Tail(interval, compared.after, rows, long, anchored)
