"""What simulated scans write as objects: segments of record times, a few lines in each object, packed as on scans.

A scan writes a segment once it shows an update after the segment's end, so an object may lack what appears later in
the last `settle` of its segment. What was written stays as it was. Each server writes by a plan of its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa

from ledgerframes.interfaces.scan_objects import ObjectRef
from ledgerframes.timestamps import EARLIEST, format_trimmed
from tests.simulation.choices import Choices
from tests.simulation.world import BASE, OVERLAP, SETTLE, Item, U, body_of

#: Lines of a frame, and of one read of a writer that loses the rest of a tie.
_LINES: Final = 2
#: What may be wrong with one written object; the first one is nothing.
DAMAGE: Final = ("", "gone", "wrong digest", "cut", "out of order")
_PATH: Final = "/api/scan/v0/history/bulk/download/"


@dataclass(frozen=True)
class Written:
    """One object.

    Attributes:
        key: its name.
        items: what it has to hold.
        damage: what is wrong with it.
    """

    key: str
    items: tuple[Item, ...]
    damage: str = ""

    @property
    def body(self) -> bytes:
        """The bytes that are served."""
        if self.damage == "wrong digest":
            return self.frame
        if self.damage == "out of order":
            return packed_items(tuple(reversed(self.items)))
        return self._whole[: len(self._whole) // 2] if self.damage == "cut" else self._whole

    @property
    def frame(self) -> bytes:
        """The first frame, in which nothing tells that others follow; half of it where it is all there is."""
        first = packed_items(self.items[:_LINES])
        return first if len(first) < len(self._whole) else first[: len(first) // 2]

    @property
    def _whole(self) -> bytes:
        return packed_items(self.items)

    def ref(self, url: str) -> ObjectRef:
        """What a list says of it."""
        listed = self._whole if self.damage == "wrong digest" else self.body
        digest = base64.b64encode(hashlib.sha256(listed).digest()).decode()
        return ObjectRef(f"{url}{_PATH}{quote(self.key, safe='')}", digest)


@dataclass(frozen=True)
class Segment:
    """The objects of some record times.

    Attributes:
        after: where it begins, in microseconds after the world's beginning, exclusive; None for the first segment.
        up_to: where it ends, inclusive.
        objects: those that hold its updates, and those in other encodings.
    """

    after: int | None
    up_to: int
    objects: tuple[Written, ...]

    def overlaps(self, after: int, up_to: int) -> bool:
        """Whether it has record times of (after, up_to], in microseconds since 1970."""
        return (self.after is None or BASE + self.after < up_to) and BASE + self.up_to > after


@dataclass
class Bulk:
    """The objects of one server.

    Attributes:
        faults: of the history.
        choices: of the history.
        length: of a segment, in microseconds.
        by_place: whether segments follow each other by migration and record time, or by record time alone.
        split: how many items an object has at most.
        served: whether the server knows the routes.
        written: the segments so far, in order.
        others: segments of another length over the same history, which lists name as well.
    """

    faults: frozenset[str]
    choices: Choices
    length: int = 4 * U
    by_place: bool = False
    split: int = 100
    served: bool = True
    written: list[Segment] = field(default_factory=list)
    others: list[Segment] = field(default_factory=list)
    _ends: dict[int, int] = field(default_factory=dict)  # by the end of a segment, the migration that it ends in

    @classmethod
    def drawn(cls, faults: frozenset[str], choices: Choices) -> Bulk:
        """One by the choices of the history."""
        length = (8, 6, 10, 7, 12)[choices.pick("objects", 5)] * U
        by_place, split = choices.chance("objects", 40), (100, 3, 1)[choices.pick("objects", 3)]
        served = not ("no-objects" in faults and choices.chance("objects", 50))
        return cls(faults, choices, length, by_place, split, served)

    def write(self, shown: set[Item], *, all_of_it: bool = False) -> None:
        """Write the segments whose end the server has passed; the writer may lag."""
        # What a scan prunes its objects hold whole, so those of such a scan are written once nothing late can follow.
        # An item of an earlier migration may come a day after the first of the next one.
        wait = SETTLE + OVERLAP if "pruned" in self.faults else 0
        newest = max((item.at for item in shown), default=0) - wait
        while (self.written[-1].up_to if self.written else 0) + self.length < newest:
            if not all_of_it and "objects-lag" in self.faults and self.choices.chance("writing", 50):
                return
            self.written.append(self._segment(self.written, shown, self.length))
        if "overlapping-objects" in self.faults:
            while (self.others[-1].up_to if self.others else 0) + 2 * self.length < newest:
                self.others.append(self._segment(self.others, shown, 2 * self.length))

    def _segment(self, before: Sequence[Segment], shown: set[Item], length: int) -> Segment:
        after = before[-1].up_to if before else None
        up_to = (after or 0) + length
        low = -(2**62) if after is None else after
        if self.by_place:
            ended = (self._ends.get(after, 0), after) if after is not None else (-1, low)
            migration = max([ended[0], 0, *(item.migration for item in shown if item.at <= up_to)])
            self._ends[up_to] = migration
            items = sorted(item for item in shown if ended < (item.migration, item.at) <= (migration, up_to))
        else:
            items = sorted(item for item in shown if low < item.at <= up_to)
        if "ties-missing-in-an-object" in self.faults:
            items = _read_by_times(items)
        folder = f"{format_trimmed(EARLIEST if after is None else BASE + after)}~{format_trimmed(BASE + up_to)}"
        parts = [tuple(items[at : at + self.split]) for at in range(0, len(items), self.split)]
        objects = [
            Written(f"{folder}/updates_compact_json_{number}.zstd", part, self._damage())
            for number, part in enumerate(parts)
        ]
        if "other-encodings" in self.faults:
            objects += [Written(f"{folder}/updates_protobuf_json_{number}.zstd", ()) for number in range(len(parts))]
        return Segment(after, up_to, tuple(objects))

    def _damage(self) -> str:
        if "damaged-objects" not in self.faults:
            return ""
        return DAMAGE[self.choices.weighted("object-damage", 72, 7, 7, 7, 7)]

    def listed(self, after: int, up_to: int) -> list[Segment]:
        """The segments that a list of some record times names."""
        # An empty page would be the end of the list.
        every = [one for one in [*self.written, *self.others] if one.objects]
        found = [one for one in every if one.overlaps(after, up_to)]
        return sorted(found, key=lambda one: (one.up_to, one.after or 0))

    def at(self, url: str) -> Written | None:
        """The object at a URL."""
        key = unquote(urlsplit(url).path.removeprefix(_PATH))
        every = (one for segment in [*self.written, *self.others] for one in segment.objects)
        return next((one for one in every if one.key == key), None)


def _read_by_times(items: Sequence[Item]) -> list[Item]:
    """What a writer gets that reads two items and goes on after the time of the last: the rest of a tie is lost."""
    found: list[Item] = []
    while True:
        rest = [item for item in items if not found or item.place > found[-1].place]
        if not rest:
            return found
        found += rest[:_LINES]


@lru_cache(4096)
def packed_items(items: tuple[Item, ...]) -> bytes:
    """Items as an object holds them: a line each, members in the order of their names, frames one after the other."""
    lines = [json.dumps(json.loads(body_of(item)), sort_keys=True, separators=(",", ":")) + "\n" for item in items]
    frames = ["".join(lines[at : at + _LINES]).encode() for at in range(0, len(lines), _LINES)]
    return b"".join(pa.compress(frame, codec="zstd", asbytes=True) for frame in frames or [b""])
