"""What must be true of a lake after every commit and after every run; `history` asks, `faults` says what holds when.

Coverage is read from the document that the log of `updates` names, not through our code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa

from ledgerframes.paging.cursor import Window
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import Part
from ledgerframes.store.stored_tables import HISTORY
from ledgerframes.timestamps import LATEST
from tests.simulation.faults import Holds
from tests.simulation.net import Seen
from tests.simulation.storage import Disk
from tests.simulation.stored_as import UPDATES, StoredAs
from tests.simulation.world import Item, ago

#: How many items a sync asks for to recognise a network, and to find its newest item; a world has fewer, and no read of
#: one asks for as many. Such an answer is no read: an item that it alone shows is not final, and the next sync, which
#: looks at the same place, reads it.
RECOGNISING: Final = frozenset({50, 60})


class Problem(NamedTuple):
    """An invariant that did not hold."""

    holds: Holds
    text: str


class Span(NamedTuple):
    """The record times of a migration after `lo`, up to and with `hi`."""

    migration: int
    lo: int
    hi: int

    def __str__(self) -> str:
        return f"migration {self.migration}: ({ago(self.lo)}, {ago(self.hi)}]"


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same spans, those that touch as one."""
    found: list[Span] = []
    for span in sorted(span for span in spans if span.lo < span.hi):
        last = found[-1] if found else None
        if last is not None and last.migration == span.migration and span.lo <= last.hi:
            found[-1] = last._replace(hi=max(last.hi, span.hi))
        else:
            found.append(span)
    return found


def inside(place: tuple[int, int], spans: Iterable[Span]) -> bool:
    """Whether a place lies in one of some spans."""
    return any(span.migration == place[0] and span.lo < place[1] <= span.hi for span in spans)


@dataclass
class Watch:
    """Looks at a lake after every commit and every run, and keeps what was wrong.

    Attributes:
        disk: where the lake lies.
        lake: the lake, for reading as callers do.
        problems: what was wrong.
        kinds: the kind of every update there can be, by id.
        stored_as: the tables of the history that is synced.
    """

    disk: Disk
    lake: Lake
    problems: list[Problem] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    stored_as: StoredAs = UPDATES
    _looked: tuple[int, ...] = ()
    _sight: Mapping[str, set[str]] = field(default_factory=dict)
    _held: dict[str, tuple[list[Span], set[str]]] = field(default_factory=dict)
    _before: dict[str, list[Span]] = field(default_factory=dict)

    def say(self, holds: Holds, text: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(holds, text))

    @property
    def slots(self) -> Mapping[str, Any]:
        """What the document says of the history."""
        slots: Mapping[str, Any] = self.disk.document.get("histories", {}).get(self.stored_as.of.name, {})
        return slots

    @property
    def covered(self) -> list[Span]:
        """What is covered."""
        return joined(Span(*span) for span in self.slots.get("common", ()))

    @property
    def settled(self) -> list[Span]:
        """What is final."""
        return joined(Span(*span) for span in self.slots.get("settled", ()))

    def covers(self, item: Item) -> bool:
        """Whether an item's place is covered."""
        return inside(item.place, self.covered)

    def settles(self, item: Item) -> bool:
        """Whether an item's place is final."""
        return inside(item.place, self.settled)

    def after_commit(self) -> None:
        """Neither coverage nor its settled part may fall."""
        for what, found in (("covered", self.covered), ("settled", self.settled)):
            for span in self._before.get(what, ()):
                if not any(
                    other.migration == span.migration and other.lo <= span.lo and span.hi <= other.hi for other in found
                ):
                    self.say(Holds.RISING, f"{span} was {what}, now {'; '.join(map(str, found))} is")
            self._before[what] = found

    def read(self) -> Mapping[str, set[str]]:
        """What a reader sees now: the update ids of each table; torn updates are a problem."""
        versions = tuple(len(self.disk.versions.get(name, ())) for name in (*self.stored_as.order, HISTORY.index))
        if versions != self._looked:
            self._looked, self._sight = versions, self._read()
        return self._sight

    def _read(self) -> Mapping[str, set[str]]:
        root = self.lake.at()
        told = [Span(*interval) for interval in root.coverage_of(self.stored_as.of).common]
        if told != self.covered:
            self.say(
                Holds.WHOLE, f"a reader is told that {'; '.join(map(str, told))} is covered, the document does not"
            )
        seen: dict[str, Counter[str]] = {}
        for name in self.stored_as.order:
            part = Part.of(root, name, Window(), allow_partial=True)
            seen[name] = Counter(part.dataset.to_table(columns=["update_id"])["update_id"].to_pylist())
        self._torn(seen)
        return {name: set(ids) for name, ids in seen.items()}

    def _torn(self, seen: Mapping[str, Counter[str]]) -> None:
        for update_id in set().union(*seen.values()):
            kind = self.kinds.get(update_id, "")
            wanted = {**self.stored_as.counts(kind), self.stored_as.index: 1}
            there = {name: seen[name][update_id] for name in wanted}
            if kind and any((there[name] > 0) != (wanted[name] > 0) or there[name] < wanted[name] for name in wanted):
                self.say(Holds.WHOLE, f"a reader sees {there} rows of {update_id} ({kind})")

    def stored(self, name: str) -> list[tuple[str, int, int, str]]:
        """All rows that a table has, seen or not: update id, migration, time, event id."""
        state = self.disk.state(name)
        if state is None:
            return []
        rows = state.rows
        ids = rows["update_id"].to_pylist()
        parts = [""] * len(ids)
        if name == self.stored_as.parts:
            numbers = rows[self.stored_as.part_id].to_pylist()
            parts = [one if isinstance(one, str) else f"{of}:{one}" for of, one in zip(ids, numbers, strict=True)]
        times = rows["record_time"].cast(pa.int64()).to_pylist()
        return list(zip(ids, rows["migration_id"].to_pylist(), times, parts, strict=True))

    def after_run(self, truth: Collection[Item] | None, ever: Collection[Item], seen: Sequence[Seen] | None) -> None:
        """Everything that must hold between two syncs.

        Args:
            truth: the ledger, where there is one.
            ever: what servers have shown.
            seen: the answers of a sync that went to its end with one worker.
        """
        rows = {name: self.stored(name) for name in self.stored_as.order}
        self._once(rows)
        self._true(rows, ever)
        self._unchanged(rows)
        shown = self.read()
        if truth is not None:
            self._final(rows, shown, truth)
            self._begins(rows, truth)
        if seen is not None:
            self._shown(rows, ever, seen)

    def mixed(self, ours: Collection[Item], others: Collection[Item]) -> None:
        """A store is bound to one network: whichever it met first."""
        stored = {row[0] for name in self.stored_as.order for row in self.stored(name)}
        of_both = [sorted(stored & {item.update_id for item in items}) for items in (ours, others)]
        if all(of_both):
            self.say(Holds.MIXED, f"updates {', '.join(of_both[0])} of one network lie beside {', '.join(of_both[1])}")

    def _once(self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]]) -> None:
        for name, found in rows.items():
            if len({(row[0], row[3]) for row in found}) < len(found):
                twice = Counter((row[0], row[3]) for row in found).most_common(1)[0]
                self.say(Holds.ONCE, f"{name}: {twice[0]} is stored {twice[1]} times")
        rejects = self.disk.state("rejects")
        if rejects:
            raws = rejects.rows["raw"].to_pylist()
            if len(set(raws)) < len(raws):
                self.say(Holds.ONCE, "rejects: an item is kept twice")

    def _true(self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]], ever: Collection[Item]) -> None:
        known = {item.update_id: item for item in ever}
        for name, found in rows.items():
            for update_id, migration, micros, event_id in found:
                item = known.get(update_id)
                if item is None or item.place != (migration, micros) or (event_id and event_id not in item.events):
                    self.say(Holds.TRUE, f"{name}: {update_id} at {migration}/{ago(micros)} was never sent")

    def _unchanged(self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]]) -> None:
        """What was settled before holds what it held before."""
        for name, found in rows.items():
            spans, ids = self._held.get(name, ([], set()))
            now = {row[3] or row[0] for row in found if inside((row[1], row[2]), spans)}
            if now != ids:
                self.say(Holds.FINAL, f"{name}: {sorted(now ^ ids)} came or went at a settled place")
        final = self.settled
        for name, found in rows.items():
            self._held[name] = (final, {row[3] or row[0] for row in found if inside((row[1], row[2]), final)})

    def _final(
        self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]], shown: Mapping[str, set[str]],
        truth: Collection[Item],
    ) -> None:  # fmt: skip
        parts = {row[3] for row in rows[self.stored_as.parts]}
        for item in truth:
            if not self.settles(item):
                continue
            homes = [name for name, count in self.stored_as.counts(item.kind).items() if count]
            lost = [name for name in homes if item.update_id not in shown[name]]
            if self.stored_as.parts in homes:
                lost += [event_id for event_id in item.events if event_id not in parts]
            if lost:
                self.say(Holds.SETTLED, f"{item} is lost: not in {', '.join(lost)} though settled")

    def _begins(self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]], truth: Collection[Item]) -> None:
        """What the logs say of where the lake begins, and where its coverage does."""
        stored = {row[0] for row in rows[self.stored_as.index]}
        if not truth:
            return
        first = min(truth)
        # A contract that is used before it was created shows as well that something older existed.
        older = any(item.kind in {"exercise", "unassign"} for item in truth)
        begins = self.slots.get("begins")
        if not begins:
            return
        migration, lo, proof = begins[0]
        # A sync of a part may end before the first update.
        lacks = (migration, lo) >= first.place or (self.covers(first) and first.update_id not in stored)
        if proof == 2 and (first.kind != "genesis" or lacks):
            self.say(Holds.BEGINS, f"the lake says that it begins where the ledger does, without {first}")
        if proof == 1 and not older and not any(item.place <= (migration, lo) for item in truth):
            self.say(Holds.BEGINS, f"the lake says that something lay before {migration}/{ago(lo)}")

    def _shown(
        self, rows: Mapping[str, Sequence[tuple[str, int, int, str]]], ever: Collection[Item], seen: Sequence[Seen]
    ) -> None:
        stored = {row[0] for row in rows[self.stored_as.index]}
        reads = _reads(seen)
        for item in ever:
            if item.update_id in stored or not self.stored_as.has_row(item) or not self.covers(item):
                continue
            last = next((one for one in reversed(reads) if one.spans(item.place) and _is_read(one, item)), None)
            if last is not None and item in last.items:
                self.say(Holds.SHOWN, f"{item} was in the last answer about its place, which is covered")

    def everything(self, truth: Collection[Item], *, rejects: bool) -> None:
        """Once all servers showed all, the rows are the truth."""
        rows = {name: self.stored(name) for name in self.stored_as.order}
        own = self.stored_as
        sound = [item for item in truth if own.has_row(item)]
        wanted = {
            own.index: {item.update_id for item in sound},
            own.parts: {event_id for item in sound for event_id in item.events},
            own.third: {item.update_id for item in sound if own.counts(item.kind)[own.third]},
        }
        for name, ids in wanted.items():
            lost = ids - {row[3] or row[0] for row in rows[name]}
            if lost:
                items = [str(item) for item in sound if any(one.startswith(item.update_id) for one in lost)]
                self.say(Holds.LIVE, f"{name} never gets {', '.join(sorted(lost))}: {', '.join(items)}")
        shown = self.read()[own.index]
        if hidden := wanted[own.index] - shown:
            self.say(Holds.LIVE, f"readers never see {', '.join(sorted(hidden))}")
        if rejects:
            state = self.disk.state("rejects")
            kept = state.rows.num_rows if state else 0
            broken = sum(item.kind == "broken" for item in truth)
            if kept != broken:
                self.say(Holds.LIVE, f"rejects: {kept} items of {broken}")

    def unsaid_fork(
        self, held: Mapping[str, Item], seen: Sequence[Seen], said: Collection[str], *, settle: int
    ) -> None:
        """A server that does not have what it must have, if its answers show that, was named or the sync refused."""
        for number, answer in enumerate(seen):
            if answer.url in said or not answer.clean or answer.size < 2:
                continue
            there = {item.update_id for item in answer.items}
            # A sync that asks a server for nothing but what it has first is not shown that the page is all there is.
            first = bool(answer.items) and all(one.after is None for one in seen if one.url == answer.url)
            for update_id, item in held.items():
                proved = item.at <= answer.newest - settle - 1  # what this sync was told of its servers
                # What lies before all that it shows may have been pruned.
                since = [one.items[0].place for one in seen[number:] if one.url == answer.url and one.items]
                begun = any(place <= item.place for place in since)
                shown = answer.spans(item.place) and not (first and item.place >= answer.items[-1].place)
                if proved and begun and shown and update_id not in there:
                    self.say(Holds.FORKS, f"{answer.url} lacks {item}, which is stored; nobody was told")
                    return


def _reads(seen: Sequence[Seen]) -> list[Seen]:
    """The pages that were asked for to be stored, and not to recognise a network or to learn how long pages are."""
    return [one for one in seen if one.after is not None and one.size not in RECOGNISING]


def _is_read(answer: Seen, item: Item) -> bool:
    """Whether an answer is a read of an item's migration: what a page has beyond its own is read in its turn."""
    return answer.after is not None and item.migration == answer.after[0] + (answer.after[1] == LATEST)
