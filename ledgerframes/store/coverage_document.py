"""`Document`: what a lake contains, and the state in which each of its tables is read; `Root` commits it.

A document is the file `_coverage/<number>.json` in the lake's root, and never changes. The commit that adds rows to
`updates` names the current document in the table's log. So the rows of all tables, the coverage of histories, the
complete snapshots and the progress of computed tables change in one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from ledgerframes.interfaces.scan_snapshots import Route
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.tokens import Token
from ledgerframes.store.coverage import BEGINNING, Interval, beyond, intersection, merged
from ledgerframes.store.delta.listing import Named
from ledgerframes.store.stored_snapshots import StoredSnapshot
from ledgerframes.store.table_sets import KNOWN_BY

if TYPE_CHECKING:
    from ledgerframes.store.fetched import Fetched


class Begin(NamedTuple):
    """The earliest item that servers had: an interval reaches back to ledger begin only if that is proven.

    Attributes:
        migration_id: of the interval that begins there, like `lo`.
        lo: everything after it was available.
        proof: 2 if the ledger begins there, 1 if older items existed once, 0 if neither is known.
    """

    migration_id: int
    lo: int
    proof: int

    @property
    def proven(self) -> bool | None:
        """Whether the ledger begins there; None if unknown."""
        return None if not self.proof else self.proof > 1

    @property
    def late(self) -> Cursor | None:
        """The first item that servers had, if older ones are known to have existed."""
        return Cursor(self.migration_id, self.lo + 1) if self.proven is False else None


class Coverage(msgspec.Struct, frozen=True):
    """The coverage of one history of a lake.

    Attributes:
        common: the intervals whose rows are stored, in order; adjacent ones are joined.
        settled: those in which rows are final.
        ended: the migrations that were read until a server had nothing more, for now.
        followed: those that were read until it showed another one instead, each with that one.
        begins: where servers had nothing older; the one at the start of the coverage counts.
        known: the migrations that servers have shown, stored or not.
        changes: how often final rows were added or removed.
    """

    common: tuple[Interval, ...] = ()
    settled: tuple[Interval, ...] = ()
    ended: frozenset[int] = frozenset()
    followed: tuple[tuple[int, int], ...] = ()
    begins: tuple[Begin, ...] = ()
    known: frozenset[int] = frozenset()
    changes: int = 0

    @property
    def migrations(self) -> tuple[int, ...]:
        """The migrations of which something is stored."""
        return tuple(dict.fromkeys(interval.migration_id for interval in self.common))

    @property
    def begin(self) -> Begin | None:
        """Where the coverage begins, if it begins there because servers had nothing older."""
        first = [interval[:2] for interval in self.common[:1]]
        return next((begin for begin in reversed(self.begins) if begin[:2] in first), None)

    @property
    def start(self) -> Cursor | None:
        """The first place covered, if a sync was told to start there; None where the servers' history begins."""
        first = self.common[0] if self.common and self.begin is None else None
        return None if first is None else Cursor(first.migration_id, first.lo + 1)

    def starts_at_a_time(self, migration_id: int) -> bool:
        """Whether a later migration is covered from the same time on as the first one."""
        lo = next((one.lo for one in self.common if one.migration_id == migration_id), None)
        return self.start is not None and lo == self.start.micros - 1 > BEGINNING

    def joins(self, earlier: int, later: int) -> bool:
        """Whether nothing that was not read can lie between two covered migrations, one next to the other."""
        lo = next((one.lo for one in self.common if one.migration_id == later), None)
        return (earlier, later) in self.followed and (lo == BEGINNING or self.starts_at_a_time(later))

    def advanced(self, pages: Iterable[Fetched]) -> Coverage:
        """The coverage after more was read; neither coverage nor settled parts ever shrink."""
        pages = list(pages)
        common = merged([*self.common, *(one.read for one in pages)])
        unchanged = self._as_far(common)
        last = {one.read.migration_id: one.following for one in pages if one.exhausted}
        followed = {one: following.migration_id for one, following in last.items() if following is not None}
        kept = {one: later for one, later in self.followed if one in unchanged}
        after = replace(
            self,
            common=common,
            settled=merged([*self.settled, *(one.read._replace(hi=one.settled) for one in pages)]),
            ended=self.ended & unchanged | last.keys(),
            followed=tuple(sorted((kept | followed).items())),
            begins=tuple(sorted({*self.begins, *(one.begins for one in pages if one.begins is not None)})),
        )
        begin = after.begin
        return replace(after, begins=(self.begins or after.begins) if begin is None else (begin,))

    def without(self, intervals: Iterable[Interval]) -> Coverage:
        """The coverage after some intervals were removed."""
        gone = merged(intervals)
        common = beyond(self.common, gone)
        unchanged = self._as_far(common)
        return replace(
            self,
            common=common,
            settled=beyond(self.settled, gone),
            ended=self.ended & unchanged,
            followed=tuple(pair for pair in self.followed if pair[0] in unchanged),
            changes=self.changes + bool(intersection(gone, self.settled)),
        )

    def _as_far(self, common: Iterable[Interval]) -> frozenset[int]:
        """The migrations that other intervals cover exactly as far as this coverage does."""
        ends, before = ({one.migration_id: one.hi for one in parts} for parts in (common, self.common))
        return frozenset(one for one, hi in before.items() if ends.get(one) == hi)


class Progress(msgspec.Struct, frozen=True):
    """How far a table is computed.

    Attributes:
        done: the intervals of the history that it is computed from.
        rules: the version of its rules; 0 once a repair removed rows, None while nothing is computed.
        changes: how often final rows of the history had been added or removed by then.
        begun: whether it starts at ledger begin.
        unknown: how many items were not understood.
    """

    done: tuple[Interval, ...] = ()
    rules: int | None = None
    changes: int = 0
    begun: bool = False
    unknown: int = 0


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """One state of a lake.

    Attributes:
        number: its name; later documents have larger numbers.
        before: the number of the previous document; 0 for the first.
        version: the first version of `updates` whose log names the document.
        rows: the number of rows of `updates` in that state; None in lakes of older versions.
        network: what identifies the network: the first item of each history, and its participants.
        tables: every other table of the lake, in the state in which it is read.
        histories: the coverage of each history, by name.
        snapshots: those of the active contracts, in the order in which they were begun.
        following: route and token of the next page of an unfinished snapshot.
        computed: how far each computed table is, by name.
    """

    number: int = 0
    before: int = 0
    version: int = 0
    rows: int | None = None
    network: dict[str, str] = {}
    tables: dict[str, Named] = {}
    histories: dict[str, Coverage] = {}
    snapshots: tuple[StoredSnapshot, ...] = ()
    following: tuple[Route, Token] | None = None
    computed: dict[str, Progress] = {}

    def coverage(self, name: str) -> Coverage:
        """The coverage of a history."""
        return self.histories.get(name, Coverage())

    def covering(self, name: str, coverage: Coverage) -> Document:
        """The document with another coverage for a history."""
        return replace(self, histories={**self.histories, name: coverage})

    def having(self, snapshots: Iterable[StoredSnapshot], following: tuple[Route, Token] | None = None) -> Document:
        """The document with other snapshots."""
        return replace(self, snapshots=tuple(snapshots), following=following)

    def computing(self, progress: Mapping[str, Progress]) -> Document:
        """The document with more progress of some computed tables."""
        return replace(self, computed={**self.computed, **progress})

    def unsound(self, name: str) -> Document:
        """The document with a computed table that has to be computed again."""
        return self.computing({name: replace(self.computed.get(name, Progress()), rules=0)})

    def known_as(self, network: Mapping[str, str]) -> Document:
        """The document with this identity of the network; participants are added to those already known."""
        parts = (known.get(KNOWN_BY, "").split() for known in (self.network, network))
        named = {**self.network, **network}
        if KNOWN_BY in named:
            named[KNOWN_BY] = " ".join(sorted(set().union(*parts)))
        return self if named == self.network else replace(self, network=named)
