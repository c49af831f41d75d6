"""`Store.export_objects`: the settled history of a store as objects, as scans hand them out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledgerframes.arguments import path as read_path
from ledgerframes.arguments import suggesting, whole_number
from ledgerframes.errors import InputError
from ledgerframes.objects.written_folder import Written, WrittenFolder
from ledgerframes.objects.written_segment import SegmentWriter
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval, lies_in
from ledgerframes.store.lake import Lake, View
from ledgerframes.store.read.item_lines import first_time, item_lines
from ledgerframes.store.read.objects_report import ExportedObjects
from ledgerframes.store.table_sets import HISTORY
from ledgerframes.timestamps import EARLIEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.store.store import Store

_DAY: Final = 86_400_000_000
_SMALLEST: Final = 2**16
_LARGEST: Final = 2**40
#: A segment of fewer updates does not end with the day.
_FEW: Final = 100


@suggesting
def export_objects(self: Store, folder: str | os.PathLike[str], *, object_bytes: int = 128_000_000) -> ExportedObjects:
    """Write the settled history as objects, so that it can be passed on without a server; young.

    `lf.open_objects(folder)` reads them, and so does whatever reads the objects of scans. Their items give rows equal
    to the stored ones. A segment ends with a day (UTC), and at the end of what is settled. An export into a folder
    that has an earlier one, or the rest of one that was killed, continues after the segments that are there.

    Args:
        self: the store.
        folder: a new folder, or that of an earlier export of this history. `SHA256SUMS` in it lists what is whole.
        object_bytes: begin another object after so many compressed bytes, 65,536 or more.

    Returns:
        What was written.

    Raises:
        InputError: an argument breaks a rule, the folder holds something else, the store has rejected items, or
            personal data was left out of it.
        StoreError: the store or the folder refused, or another export writes into the folder.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=200) as net:
        ...     store = lf.open_store(folder + "/lake")
        ...     report = store.sync(net)
        ...     written = store.export_objects(folder + "/objects")
        ...     with lf.open_objects(folder + "/objects") as objects:
        ...         len(lf.load_updates(objects)) == written.updates > 0
        True
    """
    place = read_path(folder, "folder")
    if "://" in place:
        raise InputError(f"folder={place!r} is not valid: give a folder of this machine, and copy it to the bucket")
    size = whole_number(object_bytes, "object_bytes", least=_SMALLEST, most=_LARGEST)
    return _export(self._lake, place, size)


def _export(lake: Lake, place: str, object_bytes: int) -> ExportedObjects:
    began = time.perf_counter()
    view = lake.existing(names=HISTORY.order)
    _check_rejects(lake)
    target = WrittenFolder(Path(place).absolute())
    with target.writing():
        intervals, written = exportable(view), target.end()
        after = intervals[0].lo if intervals else BEGINNING
        if written is not None:
            after, intervals = written.up_to, _rest(view, intervals, written, place)
        run = _Run(target, object_bytes, max(after, EARLIEST))
        run.write(view, intervals)
    up_to = run.last or (None if written is None else written.cursor)
    reached = None if up_to is None else (up_to.migration_id, format_timestamp(up_to.micros))
    seconds = round(time.perf_counter() - began, 3)
    return ExportedObjects(place, run.segments, run.objects, run.updates, run.bytes, reached, seconds)


def exportable(view: View) -> list[Interval]:
    """What is settled without a hole from the first stored update on, in the order of migrations and times.

    A later migration counts only where the one before is settled to its end.
    """
    chain: list[Interval] = []
    settled = view.slots.settled
    for migration_id in sorted({interval.migration_id for interval in view.covered}):
        own = next((interval for interval in settled if interval.migration_id == migration_id), None)
        begins = own is not None and (not chain or own.lo in (BEGINNING, chain[0].lo))
        if own is None or not begins:
            break
        chain.append(own)
        if not _is_closed(view, own):
            break
    return chain


def _is_closed(view: View, own: Interval) -> bool:
    """Whether nothing can follow an interval in its migration."""
    later = [interval for interval in view.covered if interval.migration_id > own.migration_id]
    if own.hi >= CLOSED or not later:
        return own.hi >= CLOSED
    # A sync of a part does not close a migration that has ended before the end of the part.
    first = first_time(view, later[0])
    return first is not None and later[0].lo == BEGINNING and first + OVERLAP <= own.hi


def _check_rejects(lake: Lake) -> None:
    rejects = lake.table("rejects").refresh()
    if rejects.exists and (count := rejects.dataset().count_rows()):
        raise InputError(
            f"the store keeps {count} rejected items, which objects would lack without saying so; store.retry_rejects()"
            " decodes them again"
        )


def _rest(view: View, intervals: Sequence[Interval], written: Written, place: str) -> list[Interval]:
    """What is not in the folder yet.

    Raises:
        InputError: the folder holds objects of another history.
    """
    cursor = written.cursor
    at = Interval(cursor.migration_id, cursor.micros - 1, cursor.micros)
    known = lies_in(cursor, intervals) and any(written.update_id.encode() in line for _, line in item_lines(view, at))
    if not known:
        raise InputError(
            f"{place!r} holds objects that end with update {written.update_id} at {cursor}, which is not settled in"
            " this store; name a new folder"
        )
    rest = []
    for interval in intervals:
        if interval.migration_id > cursor.migration_id:
            rest.append(interval)
        elif interval.migration_id == cursor.migration_id and interval.hi > cursor.micros:
            rest.append(interval._replace(lo=cursor.micros))
    return rest


@dataclass
class _Run:
    """One export while it writes.

    Attributes:
        target: the folder.
        object_bytes: the length of an object.
        after: where the segment that is written begins.
    """

    target: WrittenFolder
    object_bytes: int
    after: int
    last: Cursor | None = None
    newest: int = EARLIEST
    segments: int = 0
    objects: int = 0
    updates: int = 0
    bytes: int = 0
    _under_way: ExitStack = field(default_factory=ExitStack)
    _segment: SegmentWriter | None = None

    def write(self, view: View, intervals: Sequence[Interval]) -> None:
        """Write all items of some intervals."""
        with self._under_way:
            for cursor, line in _items(view, intervals):
                midnight = (cursor.micros - 1) // _DAY * _DAY
                if self._ends(cursor, midnight):
                    self._finish(midnight)
                if self._segment is None:
                    self._segment = self._under_way.enter_context(self.target.segment(self.object_bytes))
                self._segment.add(line)
                self.last, self.newest = cursor, max(self.newest, cursor.micros)
            hi = max((interval.hi for interval in intervals[-1:] if interval.hi < CLOSED), default=self.newest)
            self._finish(max(hi, self.newest, self.after + 1))

    def _ends(self, cursor: Cursor, midnight: int) -> bool:
        """Whether a segment ends between the last item and another one, at the midnight before that."""
        if self._segment is None or self._segment.updates < _FEW:
            return False
        # Where a migration begins, record times may go back, and names of segments must not.
        if self.last is None or self.last.migration_id != cursor.migration_id:
            return False
        return midnight >= self.newest and midnight > self.after

    def _finish(self, up_to: int) -> None:
        segment = self._segment
        if segment is None:
            return
        objects = segment.finish(self.after, up_to, self.target.folder)
        self.target.note(objects)
        self._under_way.close()
        self._segment = None
        self.after = up_to
        self.segments += 1
        self.objects += len(objects)
        self.updates += segment.updates
        self.bytes += segment.size


def _items(view: View, intervals: Sequence[Interval]) -> Iterator[tuple[Cursor, bytes]]:
    for interval in intervals:
        yield from item_lines(view, interval)
