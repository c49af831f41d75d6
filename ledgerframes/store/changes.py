"""`Changes`: where final rows of a table of a history changed, with a count of such changes; `Slots` keeps it.

The log of the table holds `changed/count`, the count up to which changes are noted, `changed/from`, the count from
which on they are, and for each note n `changed/n/count`, `changed/n/migration` and `changed/n/lo`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

#: Migration and record time in microseconds: what changed is recorded after it, or in a later migration.
Instant = tuple[int, int]
#: Anything may have changed.
BEFORE_ALL: Final[Instant] = (-1, 0)
#: Nothing has changed.
AFTER_ALL: Final[Instant] = (2**63 - 1, 2**63 - 1)

_COUNT: Final = "changed/count"
_FROM: Final = "changed/from"
# A log cannot forget a name, and every commit that notes a change repeats all of them.
_MOST: Final = 16


class Note(NamedTuple):
    """A change: the count with it, and the instant after which rows changed."""

    changes: int
    migration_id: int
    lo: int

    @property
    def instant(self) -> Instant:
        """Migration and record time."""
        return self.migration_id, self.lo


@dataclass(frozen=True)
class Changes:
    """What is known of the changes of one table.

    Attributes:
        known_from: changes with a greater count are noted.
        count: up to this count.
        notes: later ones have later instants: a change makes all notes of later instants superfluous.
    """

    known_from: int = 0
    count: int = 0
    notes: tuple[Note, ...] = ()

    @classmethod
    def read(cls, number: Callable[[str], int | None]) -> Changes:
        """Read them from the numbers of a log."""
        notes: list[Note] = []
        for place in range(_MOST):
            count, migration_id, lo = (number(name) for name in _names(place))
            if not count or migration_id is None or lo is None:
                break
            notes.append(Note(count, migration_id, lo))
        return cls(number(_FROM) or 0, number(_COUNT) or 0, tuple(notes))

    def numbers(self) -> dict[str, int]:
        """What the log has to record; notes that are superfluous by now get a count of 0."""
        numbers = {_FROM: self.known_from, _COUNT: self.count}
        rest = (Note(0, 0, 0),) * (_MOST - len(self.notes))
        for place, note in enumerate((*self.notes, *rest)):
            numbers.update(zip(_names(place), note, strict=True))
        return numbers

    def counted(self, before: int, now: int, instant: Instant | None = None) -> Changes:
        """The same after a further change.

        Args:
            before: the count before it; an older version of ledgerframes counts without noting where.
            now: the count with it.
            instant: after which instant rows changed; None if none did.
        """
        known = self if self.count == before else Changes(before, before)
        notes = list(known.notes)
        if instant is not None:
            notes = [note for note in notes if note.instant < instant]
            notes.append(Note(now, *instant))
        while len(notes) > _MOST:
            # The earlier instant with the later count says too much, and never too little.
            first, second, *others = notes
            notes = [first._replace(changes=second.changes), *others]
        return Changes(known.known_from, now, tuple(notes))

    def since(self, count: int | None, now: int) -> Instant:
        """After which instant rows changed since a count.

        Args:
            count: the count then; None if it is not known.
            now: the count by now.
        """
        if count == now:
            return AFTER_ALL
        if count is None or self.count != now or count < self.known_from:
            return BEFORE_ALL
        return next((note.instant for note in self.notes if note.changes > count), AFTER_ALL)


def _names(place: int) -> tuple[str, str, str]:
    return f"changed/{place}/count", f"changed/{place}/migration", f"changed/{place}/lo"
