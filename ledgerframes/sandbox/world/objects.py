"""The history of a world in bulk: segments of time as objects, members sorted by name, frames one after the other.

`scan_objects` serves them. A segment ends at an instant of the grid of snapshots, once the history has gone on past it;
what comes after the last such instant is in no object yet, as on real servers, which write one segment per day.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import Active, ServerView, instants
from ledgerframes.sandbox.world.world import Update, World

#: Items of an object and of a frame; both have megabytes on a real server.
OBJECT_ITEMS: Final = 200
FRAME_ITEMS: Final = 64
#: A history of more days than this has a segment per day.
_LONG: Final = 8 * timestamps.DAY


@dataclass(frozen=True, slots=True)
class Segment:
    """Updates that follow each other in the history.

    Attributes:
        after: the record time where the segment before ends.
        end: the migration and the record time where this one ends.
        updates: its updates.
    """

    after: int
    end: tuple[int, int]
    updates: Sequence[Update]

    @property
    def up_to(self) -> int:
        """The record time where it ends."""
        return self.end[1]

    def overlaps(self, after: int, up_to: int) -> bool:
        """Whether it may have, or does have, an update in (after, up_to]."""
        if self.after < up_to and self.up_to > after:
            return True
        # Record times of two migrations may overlap; a list still has everything that is requested.
        return any(after < update.record_time <= up_to for update in self.updates)

    def folder(self) -> str:
        """The folder of its objects."""
        return f"{timestamps.trimmed(self.after)}~{timestamps.trimmed(self.up_to)}"

    def parts(self) -> list[Sequence[Update]]:
        """The updates of each of its objects."""
        return [self.updates[at : at + OBJECT_ITEMS] for at in range(0, len(self.updates), OBJECT_ITEMS)]


def segments(world: World, shown: Sequence[Update], *, written: Sequence[Segment] = ()) -> list[Segment]:
    """The segments written by now; earlier ones do not change.

    Args:
        world: the ledger.
        shown: as much of its history as the server has.
        written: the segments so far.
    """
    if not shown:
        return list(written)
    newest = max(update.record_time for update in shown)
    ended = written[-1].end if written else (shown[0].migration_id, timestamps.FIRST)
    boundaries: list[tuple[int, int]] = []
    for migration_id in sorted({update.migration_id for update in shown if update.migration_id >= ended[0]}):
        grid = instants(world, migration_id)
        if newest - min(update.record_time for update in shown) > _LONG:
            grid = [instant for instant in grid if instant % timestamps.DAY == 0]
        # Record times of a new migration may lie before the end of the last one; segments are in the order of time.
        for instant in grid:
            if (boundaries[-1] if boundaries else ended)[1] < instant < newest:
                boundaries.append((migration_id, instant))
    found, start = list(written), bisect_right(shown, ended, key=_place) if written else 0
    for boundary in boundaries:
        if boundary >= _place(shown[-1]):
            break
        position = bisect_right(shown, boundary, key=_place)
        found.append(Segment(found[-1].up_to if found else timestamps.FIRST, boundary, shown[start:position]))
        start = position
    return found


def _place(update: Update) -> tuple[int, int]:
    return update.migration_id, update.record_time


def compressed(items: Sequence[bytes]) -> bytes:
    """An object: zstd frames, one item per line."""
    import pyarrow as pa

    frames = [items[at : at + FRAME_ITEMS] for at in range(0, len(items), FRAME_ITEMS)]
    return b"".join(pa.compress(b"\n".join(frame) + b"\n", codec="zstd", asbytes=True) for frame in frames)


_CACHED: Final = 256


class Object(NamedTuple):
    """An object of the history.

    Attributes:
        write: returns its bytes; the first call takes a while, and needs no lock.
    """

    key: str
    write: Callable[[], bytes]


class Objects:
    """The objects of one server.

    Args:
        view: the part of the world that its scan shows.
    """

    def __init__(self, view: ServerView) -> None:
        self.view = view
        self._segments: list[Segment] = []
        self._written: OrderedDict[str, bytes] = OrderedDict()

    def written(self) -> list[Segment]:
        """The segments that are written by now, in the order of time."""
        world = self.view.world
        self._segments = segments(world, self.view.updates, written=self._segments)
        return self._segments

    def snapshots(self) -> list[Cursor]:
        """The snapshots in bulk, as cursors: those at which a segment ends."""
        ends = {segment.up_to for segment in self.written()}
        migrations = {update.migration_id for update in self.view.updates}
        return [(one, instant) for one in migrations for instant in instants(self.view.world, one) if instant in ends]

    def of_segment(self, segment: Segment) -> list[Object]:
        """The objects of a segment."""
        return self._objects(f"{segment.folder()}/updates", segment.parts(), _updates)

    def of_snapshot(self, cursor: Cursor) -> list[Object]:
        """The objects of a snapshot; none of an empty one."""
        contracts = self.view.active(cursor)
        parts = [contracts[at : at + OBJECT_ITEMS] for at in range(0, len(contracts), OBJECT_ITEMS)]
        return self._objects(f"{_folder(cursor)}/ACS", parts, partial(_contracts, migration_id=cursor[0]))

    def found(self, key: str) -> Object | None:
        """The object of that key, if there is one."""
        return next((one for one in self.in_folders({key.partition("/")[0]}) if one.key == key), None)

    def line(self, item: bytes) -> bytes:
        """An item as the writer of objects writes it: without spaces, the members of every object sorted by name."""
        return json.dumps(json.loads(item), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()

    def in_folders(self, folders: Collection[str]) -> Iterator[Object]:
        """The objects of segments and snapshots by the names of their folders."""
        for segment in self.written():
            if segment.folder() in folders:
                yield from self.of_segment(segment)
        newest = {_folder(cursor): cursor for cursor in sorted(self.snapshots())}
        for folder in newest.keys() & set(folders):
            yield from self.of_snapshot(newest[folder])

    def _objects(
        self, name: str, parts: Sequence[Sequence[Any]], items: Callable[[Sequence[Any]], list[bytes]]
    ) -> list[Object]:
        keys = (f"{name}_compact_json_{number}.zstd" for number in range(len(parts)))
        return [
            Object(key, partial(self._write, key, partial(items, part))) for key, part in zip(keys, parts, strict=True)
        ]

    def _write(self, key: str, items: Callable[[], list[bytes]]) -> bytes:
        """The bytes of an object; several threads may write at once."""
        data = self._written.get(key)
        if data is None:
            data = self._written[key] = compressed([self.line(item) for item in items()])
            while len(self._written) > _CACHED:
                self._written.popitem(last=False)
        return data


def _folder(cursor: Cursor) -> str:
    return f"{timestamps.trimmed(cursor[1])}~{timestamps.trimmed(cursor[1] + timestamps.SECOND)}"


def _updates(updates: Sequence[Update]) -> list[bytes]:
    return [update.rendered for update in updates]


def _contracts(contracts: Sequence[Active], migration_id: int) -> list[bytes]:
    return [msgspec.json.encode(contract.record(migration_id)) for contract in contracts]
