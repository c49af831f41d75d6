"""`cross_check`: whether two servers return the same history, compared update by update."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.arguments import suggesting, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.errors import InputError, PartialResultError, visible
from ledgerframes.interfaces.history import read_pages
from ledgerframes.loaders.extent import WHOLE, beginning_of, having, newest_time
from ledgerframes.loaders.normalized import Canonical, canonical_updates, first_difference
from ledgerframes.paging.cursor import Bound, Cursor, Duration, Window, wanted_window
from ledgerframes.paging.history import HistoryReader
from ledgerframes.results import Result
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import ScanPages
    from ledgerframes.network import Network

_SHORT: Final = 120
#: The number of differences after which it is checked whether a side has pruned the missing updates.
_TOGETHER: Final = 1_000

#: The updates of one migration and record time, by id.
Group = tuple[Cursor, dict[str, Canonical]]


@dataclass(frozen=True)
class Difference:
    """One update on which two sides do not agree.

    Attributes:
        update_id: the update.
        migration_id: its migration.
        record_time: ISO-8601, UTC.
        what: "only in a", "only in b", or "differs".
        pointer: JSON pointer to the first member that differs; empty if one side lacks the update.
        a: the first side's value, shortened.
        b: the second side's value.
    """

    update_id: str
    migration_id: int
    record_time: str
    what: str
    pointer: str = ""
    a: str = ""
    b: str = ""


@dataclass(frozen=True, repr=False)
class CrossCheck(Result):
    """The result of a comparison; true if the sides agree.

    Attributes:
        a: the first side.
        b: the second.
        range: the compared range, in words.
        compared: updates that both sides have.
        differing: updates on which they do not agree.
        differences: the first differences.
        up_to: the last place that both sides reach, as (migration id, time); what one has beyond is not compared.
        beyond: which side has more than the other, in words; empty if none has.
        lacks: which side begins later than the other, and where, in words; earlier updates are not compared.
        whole: whether both sides reach back to the requested `start`.
        pruned: updates that one side has pruned; they are not compared.
    """

    a: str
    b: str
    range: str
    compared: int
    differing: int
    differences: tuple[Difference, ...]
    up_to: tuple[int, str] | None
    beyond: str = ""
    lacks: str = ""
    whole: bool = True
    pruned: int = 0

    @property
    def agree(self) -> bool:
        """Whether updates were compared, none differs, and no side lacks the beginning of a range with a start."""
        return self.compared > 0 and self.differing == 0 and self.whole

    def __bool__(self) -> bool:
        return self.agree

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return super().to_dict() | {"agree": self.agree}

    def lines(self) -> list[str]:
        """The result as lines of text."""
        verdict = "agree in all" if self.differing == 0 else f"differ in {self.differing:,} of"
        compared = f"{verdict} {self.compared + self.differing:,} updates compared"
        if not self.compared and not self.differing:
            compared = "have no update in common to compare"
        lines = [f"{self.a} and {self.b} {compared}: {self.range}"]
        if self.up_to is not None:
            lines += [f"the last update compared is from {self.up_to[1]} of migration {self.up_to[0]}"]
        lines += [
            f"{difference.record_time} migration {difference.migration_id} update {difference.update_id[:20]}…"
            f" {difference.what}"
            f"{f' at {difference.pointer}: {difference.a} / {difference.b}' if difference.pointer else ''}"
            for difference in self.differences
        ]
        pruned = f"{self.pruned:,} updates were pruned on one side; they are not compared"
        lines += [self.lacks, self.beyond, pruned if self.pruned else ""]
        return [visible(line) for line in lines if line]

    def __str__(self) -> str:
        return "\n".join(self.lines())


@suggesting
def cross_check(
    net_a: Network,
    net_b: Network,
    start: Bound | None = None,
    end: Bound | None = None,
    *,
    last: Duration | None = None,
    differences: int = 20,
) -> CrossCheck:
    """Read the same range from two servers and compare it update by update, in bounded memory.

    Compared is what honest servers agree on: not the offset, not the event id of an assignment, not nulls or members
    that the contract does not know; times as instants.

    Args:
        net_a: the first network; a connection to one server.
        net_b: the second.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`.
        end: exclusive, in the same forms as `start`.
        last: `"1h"`, `"7 days"` or a timedelta, back from the newest update that both show, instead of `start`.
        differences: the maximum number of differences to keep.

    Returns:
        Counts, and the first differences with where they are. Updates after the other server's last one are
        not compared: it may just lag. Nor are those that one of them has pruned: `lacks` and `pruned` name it,
        and the sides do not agree if a `start` before that was given.

    Raises:
        InputError: an argument breaks a rule, or both networks are the same scan.
        RequestError: a server gave no answer.
        DecodeError: an answer breaks the contract.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=300) as net, net.sandbox.replica() as other:
        ...     bool(lf.cross_check(net, lf.connect(scan_url=other.scan_url)))
        True
    """
    most = whole_number(differences, "differences", least=0)
    wanted_window(start, end, last, now=0)  # refuses what is not valid before anything is asked
    now = 0 if last is None else min(newest_time(net.scan) for net in (net_a, net_b))
    window = wanted_window(start, end, last, now=now)
    names = [", ".join(map(source_of, net.scan.servers)) for net in (net_a, net_b)]
    # A recording, as any transport of the caller's, answers for its servers itself.
    own_transport = any(net.transport.shared() is not None for net in (net_a, net_b))
    if {*net_a.scan.servers} == {*net_b.scan.servers} and not own_transport:
        raise InputError(f"both networks read {names[0]}, which agrees with itself: give those of two scans")
    # Of several scans of one side, those that have the range: one that prunes shows nothing about the others.
    pages_a, pages_b = (having(net.scan.update_pages, window) for net in (net_a, net_b))
    later, lacks = _lacking((pages_a, pages_b), names, window)
    shared = window if later is None else replace(window, start=later)
    check = compare(
        served_updates(pages_a, shared), served_updates(pages_b, shared), names=names, part=str(shared), most=most,
        begins=lambda: (begins_now(pages_a), begins_now(pages_b)),
    )  # fmt: skip
    return replace(check, lacks=lacks, whole=not ((lacks or check.pruned) and window.names_start))


def _lacking(sides: tuple[ScanPages, ScanPages], names: list[str], window: Window) -> tuple[Cursor | None, str]:
    """The beginning of the side that begins later, if it lacks a part of the window, and a description."""
    begins = [beginning_of(pages) for pages in sides]
    if begins[0] is None or begins[1] is None:
        return None, ""
    firsts = [begin.first for begin in begins if begin is not None]
    later = int(firsts[1] > firsts[0])
    late = begins[later]
    # One that proves ledger begin lacks nothing before; the comparison then shows what the other one has.
    if firsts[0] == firsts[1] or late is None or late.late is None or not window.wants_before(late.late):
        return None, ""
    ids = firsts[1 - later].migration_id, late.first.migration_id
    migrations = f", the migrations from {ids[0]} to {ids[1] - 1} among it" if ids[0] < ids[1] else ""
    return late.first, (
        f"{names[later]} begins at {late.first} and lacks what {names[1 - later]} has from {firsts[1 - later]} to"
        f" there{migrations}; that is not compared"
    )


def begins_now(pages: ScanPages) -> Cursor:
    """The place from which a network has kept everything so far; after everything if it shows nothing."""
    begin = beginning_of(pages)
    return _NOTHING if begin is None else begin.at


_NOTHING: Final = Cursor(2**63, LATEST)


def served_updates(pages: ScanPages, window: Window) -> Iterator[Canonical]:
    """A server's updates of a window, without those that it prunes during the read."""
    reader = HistoryReader(window)
    try:
        for page in read_pages(pages, reader):
            yield from canonical_updates(pages.history.decode_pages([(page.page, page.rows)]))
    except PartialResultError:
        begin = begins_now(pages)
        if begin <= (reader.last or window.start or WHOLE):
            raise
        if begin < _NOTHING:
            yield from served_updates(pages, replace(window, start=begin))


def compare(
    ours: Iterable[Canonical],
    theirs: Iterable[Canonical],
    *,
    names: list[str],
    part: str,
    most: int,
    begins: Callable[[], Sequence[Cursor]],
    whole: Callable[[], bool] | None = None,
) -> CrossCheck:
    """Compare two streams in order of place.

    Args:
        ours: the first side.
        theirs: the second.
        names: the names of the sides.
        part: the compared range, in words.
        most: the maximum number of differences to keep.
        begins: returns the place from which each side still has everything that it ever had.
        whole: the first side is a store, and this tells whether the second has what follows the part: then updates of
            the first beyond the second's end differ, too.
    """

    def cut_short() -> bool:
        """Whether one side has ended, and proves nothing about the rest of the other: it may only lag."""
        if (mine is None) == (other is None):
            return False
        return whole is None or (other is None and not whole())

    found = _Found(begins, most)
    compared = 0
    up_to: Cursor | None = None
    left, right = (_groups(side) for side in (ours, theirs))
    mine, other = next(left, None), next(right, None)
    while (mine is not None or other is not None) and not cut_short():
        place = min(group[0] for group in (mine, other) if group is not None)
        here, mine = _at(place, mine, left)
        there, other = _at(place, other, right)
        lagging = cut_short()
        # The last group of the shorter side may be cut inside a tie, so only updates on both sides count.
        for update_id in sorted(here.keys() & there.keys() if lagging else here.keys() | there.keys()):
            difference = _difference(here.get(update_id), there.get(update_id))
            compared += difference is None
            if difference is not None:
                found.add(place, difference)
        up_to = place
    beyond = "" if mine is None and other is None else f"{names[mine is None]} has more than the other, not compared"
    reached = None if up_to is None else (up_to.migration_id, format_timestamp(up_to.micros))
    found.settle()
    return CrossCheck(
        names[0], names[1], part, compared, found.count, tuple(found.differences), reached, beyond, pruned=found.pruned
    )


@dataclass
class _Found:
    """The differences found, except updates missing because a side pruned them during the read.

    A scan never restores pruned items. So it already had what it still shows when it sent an earlier page: that it
    begins before an update, asked after the page that lacks the update, proves the difference.

    Attributes:
        begins: returns the place from which each side still has everything that it ever had.
        most: the maximum number of differences to keep.
        differences: the first ones.
        count: the number of differences.
        pruned: the number of differences that do not count.
    """

    begins: Callable[[], Sequence[Cursor]]
    most: int
    differences: list[Difference] = field(default_factory=list)
    count: int = 0
    pruned: int = 0
    _waiting: list[tuple[Cursor, Difference]] = field(default_factory=list)

    def add(self, place: Cursor, difference: Difference) -> None:
        """Take a difference."""
        self._waiting.append((place, difference))
        if len(self._waiting) >= _TOGETHER:
            self.settle()

    def settle(self) -> None:
        """Decide which of the collected differences count."""
        waiting, self._waiting = self._waiting, []
        begins = self.begins() if any(difference.what in _LACKING for _, difference in waiting) else ()
        for place, difference in waiting:
            side = _LACKING.get(difference.what)
            if side is not None and place < begins[side]:
                self.pruned += 1
                continue
            self.count += 1
            if len(self.differences) < self.most:
                self.differences.append(difference)


#: Which side lacks the update of a difference.
_LACKING: Final = {"only in b": 0, "only in a": 1}


def _at(place: Cursor, group: Group | None, rest: Iterator[Group]) -> tuple[dict[str, Canonical], Group | None]:
    """The updates of a side at a place, and its next group."""
    if group is None or group[0] != place:
        return {}, group
    return group[1], next(rest, None)


def _groups(side: Iterable[Canonical]) -> Iterator[Group]:
    """Updates of one record time, by id: servers need not agree on their order."""
    for place, group in groupby(side, key=lambda item: item.place):
        yield place, {update.update_id: update for update in group}


def _difference(mine: Canonical | None, other: Canonical | None) -> Difference | None:
    one = mine or other
    assert one is not None
    what = "only in a" if other is None else "only in b" if mine is None else "differs"
    place = (one.update_id, one.place.migration_id, format_timestamp(one.place.micros), what)
    if mine is None or other is None:
        return Difference(*place)
    # Nearly all updates are equal, and walking two trees is slow.
    if mine.members == other.members:
        return None
    different = first_difference(mine.members, other.members)
    return None if different is None else Difference(*place, different[0], _short(different[1]), _short(different[2]))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
