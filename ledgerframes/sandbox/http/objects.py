"""The history of a world in bulk: its segments and snapshots as objects, each written once; the routes list them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ledgerframes.sandbox.http.responses import encode
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active
from ledgerframes.sandbox.world.objects import OBJECT_ITEMS, Segment, compressed, segments, sorted_members
from ledgerframes.sandbox.world.snapshots import instants
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView
from ledgerframes.sandbox.world.world import Update

_KEPT: Final = 256


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
        self._segments = segments(world, world.updates[: self.view.end()], written=self._segments)
        return self._segments

    def snapshots(self) -> list[Cursor]:
        """The snapshots in bulk, as cursors: those at which a segment ends."""
        ends = {segment.up_to for segment in self.written()}
        migrations = {update.migration_id for update in self.view.world.updates[: self.view.end()]}
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
        return next((one for one in self._in_folder(key.partition("/")[0]) if one.key == key), None)

    def _in_folder(self, folder: str) -> Iterator[Object]:
        for segment in self.written():
            if segment.folder() == folder:
                yield from self.of_segment(segment)
        snapshots = [cursor for cursor in self.snapshots() if _folder(cursor) == folder]
        if snapshots:
            yield from self.of_snapshot(max(snapshots))

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
            data = self._written[key] = compressed([sorted_members(item) for item in items()])
            while len(self._written) > _KEPT:
                self._written.popitem(last=False)
        return data


def _folder(cursor: Cursor) -> str:
    return f"{timestamps.trimmed(cursor[1])}~{timestamps.trimmed(cursor[1] + timestamps.SECOND)}"


def _updates(updates: Sequence[Update]) -> list[bytes]:
    return [update.rendered for update in updates]


def _contracts(contracts: Sequence[Active], migration_id: int) -> list[bytes]:
    return [encode(contract.record(migration_id)) for contract in contracts]
