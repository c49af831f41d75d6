"""Objects by name: `ObjectName`, `StoredObject`, and the `Segment`s that they form; all of `objects` uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import unquote

from ledgerframes.interfaces.scan_objects import path_of
from ledgerframes.timestamps import DAY, format_trimmed, parse_timestamp

#: The encoding whose items have the form of pages.
COMPACT: Final = "compact_json"
UPDATES: Final = "updates"
SNAPSHOT: Final = "ACS"
#: If less than this share of a segment is wanted, pages are faster than its objects.
_WORTHWHILE: Final = 8

# The first writers had one encoding and did not name it.
_FILE: Final = re.compile(rf"(updates|ACS)(?:_{COMPACT})?_(\d{{1,9}})\.zstd", re.ASCII)


@dataclass(frozen=True, order=True)
class ObjectName:
    """The parts of `<after>~<up_to>/updates_compact_json_<number>.zstd`.

    Attributes:
        after: the segment's beginning in microseconds, exclusive; for a snapshot, its time.
        up_to: the segment's end, inclusive.
        number: of the object within its segment, in reading order.
        kind: `updates` or `ACS`.
    """

    after: int
    up_to: int
    number: int
    kind: str = UPDATES

    def __str__(self) -> str:
        segment = f"{format_trimmed(self.after)}~{format_trimmed(self.up_to)}"
        return f"{segment}/{self.kind}_{COMPACT}_{self.number}.zstd"


def read_name(location: str, kind: str = UPDATES) -> ObjectName | None:
    """The name at the end of a URL or a path; None if it is not of an object of a kind whose items pages could have."""
    steps = unquote(path_of(location) if "://" in location else location).rsplit("/", 2)[-2:]
    file = _FILE.fullmatch(steps[-1])
    if file is None or file[1] != kind or len(steps) < 2:
        return None
    after, found, up_to = steps[0].partition("~")
    try:
        low, high = parse_timestamp(after)[0], parse_timestamp(up_to)[0]
    except ValueError:
        return None
    return ObjectName(low, high, int(file[2]), kind) if found and low <= high else None


@dataclass(frozen=True)
class StoredObject:
    """An object that can be read.

    Attributes:
        name: the parts of its name.
        location: its URL or path.
        digest: its SHA-256 according to the list; empty if there is none.
        server: the server that listed it; empty if none did.
    """

    name: ObjectName
    location: str
    digest: str = ""
    server: str = ""


@dataclass(frozen=True)
class Segment:
    """A range of record times, and the objects with their updates.

    Attributes:
        after: exclusive, in microseconds.
        up_to: inclusive.
        objects: in order.
    """

    after: int
    up_to: int
    objects: tuple[StoredObject, ...]

    @property
    def missing(self) -> int | None:
        """The number of its first object that is not there; None if it is complete, judging by their numbers."""
        numbers = {stored.name.number for stored in self.objects}
        return next((number for number in range(len(self.objects)) if number not in numbers), None)

    def is_worth(self, wanted: int) -> bool:
        """Whether its objects are faster than pages for a part of that many microseconds."""
        # The first segment of a network begins in the year 1.
        return wanted * _WORTHWHILE >= min(self.up_to - self.after, DAY)


def segments_of(objects: Iterable[StoredObject]) -> list[Segment]:
    """The segments of some objects, each name once, in order; an object may be missing."""
    ordered = sorted(objects, key=lambda stored: stored.name)
    grouped = groupby(ordered, key=lambda stored: (stored.name.after, stored.name.up_to))
    return [Segment(after, up_to, tuple(own)) for (after, up_to), own in grouped if after < up_to]


def complete_segments(objects: Iterable[StoredObject]) -> list[Segment]:
    """The segments of some objects that lack none, in order."""
    return [segment for segment in segments_of(objects) if segment.missing is None]


def consecutive(segments: Iterable[Segment]) -> list[Segment]:
    """Segments that follow each other, from the first one on as far as possible, in as few steps as possible.

    Lists may have several that cover the same record times, as where a server has changed their length.
    """
    best: dict[int, tuple[int, int, Segment]] = {}
    for segment in sorted(segments, key=lambda one: (one.after, one.up_to), reverse=True):
        end, steps, _ = best.get(segment.up_to, (segment.up_to, 0, segment))
        known = best.get(segment.after)
        if known is None or (end, -steps - 1) > (known[0], -known[1]):
            best[segment.after] = end, steps + 1, segment
    chain = [best[min(best)][2]] if best else []
    while chain and chain[-1].up_to in best:
        chain.append(best[chain[-1].up_to][2])
    return chain


def objects_of(chain: Sequence[Segment]) -> tuple[StoredObject, ...]:
    """The objects of consecutive segments."""
    return tuple(stored for segment in chain for stored in segment.objects)
