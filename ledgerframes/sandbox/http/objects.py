"""The history of a world in bulk: its segments and snapshots as objects, each written once; the routes list them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from ledgerframes.sandbox.http import render
from ledgerframes.sandbox.http.responses import encode
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import active_at
from ledgerframes.sandbox.world.objects import OBJECT_ITEMS, Segment, compressed, segments, sha256, sorted_members
from ledgerframes.sandbox.world.snapshots import instants
from ledgerframes.sandbox.world.views import ServerView

COMPACT: Final = "compact_json"
_KEPT: Final = 256

#: An object's key and bytes.
Object = tuple[str, bytes]


class Objects:
    """The objects of one server.

    Args:
        view: the part of the world that its scan shows.
    """

    def __init__(self, view: ServerView) -> None:
        self.view = view
        self._segments: list[Segment] = []
        self._written: OrderedDict[Any, bytes] = OrderedDict()

    def encodings(self) -> tuple[str, ...]:
        """How values are written: an object for each."""
        return (COMPACT,)

    def sent(self, data: bytes) -> bytes:
        """The bytes of an object as served."""
        return data

    def digest(self, data: bytes) -> bytes:
        """The digest of an object in lists."""
        return sha256(data)

    def written(self) -> list[Segment]:
        """The segments that are written by now, in the order of time."""
        world = self.view.world
        self._segments = segments(world, world.updates[: self.view.end()], written=self._segments)
        return self._segments

    def snapshots(self) -> list[tuple[int, int]]:
        """The snapshots in bulk, as cursors: those at which a segment ends."""
        ends = {segment.up_to for segment in self.written()}
        migrations = {update.migration_id for update in self.view.world.updates[: self.view.end()]}
        return [(one, instant) for one in migrations for instant in instants(self.view.world, one) if instant in ends]

    def of_segment(self, segment: Segment) -> list[Object]:
        """The objects of a segment."""
        return [
            (key, self._update_object(segment, number, encoding))
            for encoding in self.encodings()
            for number in range(len(segment.parts()))
            for key in [f"{segment.folder()}/updates_{encoding}_{number}.zstd"]
        ]

    def of_snapshot(self, cursor: tuple[int, int]) -> list[Object]:
        """The objects of a snapshot; none of an empty one."""
        contracts = active_at(self.view.world, cursor)
        folder = f"{timestamps.trimmed(cursor[1])}~{timestamps.trimmed(cursor[1] + timestamps.SECOND)}"
        parts = [contracts[at : at + OBJECT_ITEMS] for at in range(0, len(contracts), OBJECT_ITEMS)]
        found = []
        for encoding in self.encodings():
            for number, part in enumerate(parts):
                key = f"{folder}/ACS_{encoding}_{number}.zstd"
                told = [encode(one.told(cursor[0])) for one in part]
                name = (key, cursor, len(part))
                found.append((key, self._object(name, told, encoding, render.type_carrying_contract)))
        return found

    def found(self, key: str) -> bytes | None:
        """The bytes of an object by its key."""
        for segment in self.written():
            if key.startswith(segment.folder() + "/"):
                for name, data in self.of_segment(segment):
                    if name == key:
                        return data
        return next((self.sent(data) for name, data in self._written.items() if name[0] == key), None)

    def _update_object(self, segment: Segment, number: int, encoding: str) -> bytes:
        part = segment.parts()[number]
        name = (segment.folder(), number, encoding, len(part), part[0].update_id, part[-1].update_id)
        return self._object(name, [one.rendered for one in part], encoding, render.type_carrying)

    def _object(self, name: Any, items: list[bytes], encoding: str, typed: Callable[[bytes], bytes]) -> bytes:
        """An object as it is served, written when it is first asked for."""
        if name not in self._written:
            told = items if encoding == COMPACT else [typed(item) for item in items]
            self._written[name] = compressed([sorted_members(item) for item in told])
            while len(self._written) > _KEPT:
                self._written.popitem(last=False)
        return self.sent(self._written[name])
