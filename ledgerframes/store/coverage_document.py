"""`Document`: what a lake's histories cover, and at which version each of their tables is read; `Root` commits it.

A document is the file `_coverage/<number>.json` in the lake's root, and never changes. The log of `updates` names the
one that holds, in the commit that adds the rows of `updates`. So rows and coverage of all tables change in one commit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.coverage import Interval, beyond, intersection, merged


class Begin(NamedTuple):
    """Where what servers had began: an interval reaches back to where the ledger begins only if that is proven.

    Attributes:
        migration_id: of the interval that begins there, as for `lo`.
        lo: what lies after it was there.
        proof: 2 if the ledger begins there, 1 if older items existed once, 0 if neither is known.
    """

    migration_id: int
    lo: int
    proof: int

    @property
    def proven(self) -> bool | None:
        """Whether the ledger begins there; None where that is not known."""
        return None if not self.proof else self.proof > 1

    @property
    def late(self) -> Cursor | None:
        """The first item that was there, where older ones are known to have existed."""
        return Cursor(self.migration_id, self.lo + 1) if self.proven is False else None


@dataclass(frozen=True)
class Advance:
    """How far one shard of a sync has been read.

    Attributes:
        key: tells the shards of one sync apart.
        interval: what is read of the shard; its `lo` stays, its `hi` grows from commit to commit.
        settled: up to this record time its rows are final, without a break from `lo`.
        ended: whether the server had nothing after it in this migration.
        begins: where the servers' history begins, if the interval begins there.
    """

    key: int
    interval: Interval
    settled: int
    ended: bool = False
    begins: Begin | None = None


class Slots(msgspec.Struct, frozen=True):
    """What one history of a lake covers.

    Attributes:
        common: the intervals that hold rows, in order; those that touch are joined.
        settled: those in which rows are final.
        ended: the migrations that were read to where servers had nothing more.
        begins: where servers had nothing older; of these the one counts where the coverage begins.
        changes: how often final rows were added or taken out.
    """

    common: tuple[Interval, ...] = ()
    settled: tuple[Interval, ...] = ()
    ended: frozenset[int] = frozenset()
    begins: tuple[Begin, ...] = ()
    changes: int = 0

    @property
    def begin(self) -> Begin | None:
        """Where what is covered begins, if that is because servers had nothing older."""
        first = [interval[:2] for interval in self.common[:1]]
        return next((begin for begin in reversed(self.begins) if begin[:2] in first), None)

    def advanced(self, advances: Iterable[Advance]) -> Slots:
        """The same after more was read; neither what is covered nor what is settled ever gets less."""
        advances = list(advances)
        after = replace(
            self,
            common=merged([*self.common, *(one.interval for one in advances)]),
            settled=merged([*self.settled, *(one.interval._replace(hi=one.settled) for one in advances)]),
            ended=self.ended.union(one.interval.migration_id for one in advances if one.ended),
            begins=tuple(sorted({*self.begins, *(one.begins for one in advances if one.begins is not None)})),
        )
        begin = after.begin
        return replace(after, begins=(self.begins or after.begins) if begin is None else (begin,))

    def without(self, intervals: Iterable[Interval]) -> Slots:
        """The same after some intervals were taken out."""
        gone = merged(intervals)
        common = beyond(self.common, gone)
        ends, before = ({one.migration_id: one.hi for one in parts} for parts in (common, self.common))
        return replace(
            self,
            common=common,
            settled=beyond(self.settled, gone),
            ended=frozenset(one for one in self.ended if ends.get(one) == before.get(one)),
            changes=self.changes + bool(intersection(gone, self.settled)),
        )


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """One state of the histories of a lake.

    Attributes:
        number: its name; the later of two documents has the larger one.
        before: the number of the document that it follows; 0 for the first.
        tables: the version at which each table of a history is read, but for `updates`, whose log names the document.
        histories: what each history covers, by its name.
    """

    number: int = 0
    before: int = 0
    tables: dict[str, int] = {}
    histories: dict[str, Slots] = {}

    def slots(self, name: str) -> Slots:
        """What a history covers."""
        return self.histories.get(name, Slots())
