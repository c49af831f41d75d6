"""`ObjectFaults`: what is wrong with the objects of a server's history, and the objects as they are served then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from ledgerframes.sandbox.http.responses import RefusalError
from ledgerframes.sandbox.world.objects import Object, Objects, Segment
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.views import ServerView


@dataclass(frozen=True, slots=True)
class ObjectFaults:
    """How the objects of a server differ from what they should be.

    Attributes:
        served: whether there are any; without them lists are refused by 501.
        wrong_digest: the objects have other bytes than the lists' digests say.
        cut: every object ends in the middle; its digest is that of what is left.
        gone: what is listed cannot be downloaded: 404.
        overlap: the lists also have longer segments of the same history.
        lacking: the number of a segment that the lists leave out.
        encodings: how values are written, one object for each.
    """

    served: bool = True
    wrong_digest: bool = False
    cut: bool = False
    gone: bool = False
    overlap: bool = False
    lacking: int | None = None
    encodings: tuple[str, ...] = ("compact_json",)


class SpoiledObjects(Objects):
    """A history in bulk with `faults`, which can be set at any time.

    Args:
        view: what is shown.
        as_sent: leave items as pages have them, since the usual writer of JSON would change numbers of a hostile one.
    """

    def __init__(self, view: ServerView, *, as_sent: bool) -> None:
        super().__init__(view)
        self._as_sent = as_sent
        self.faults = ObjectFaults()

    def of_segment(self, segment: Segment) -> list[Object]:
        return self._encoded(super().of_segment(segment))

    def of_snapshot(self, cursor: Cursor) -> list[Object]:
        return self._encoded(super().of_snapshot(cursor))

    def found(self, key: str) -> Object | None:
        found = None if self.faults.gone else super().found(key)
        # The lists have the digest of the right bytes.
        return Object(key, lambda: b"other bytes") if found and self.faults.wrong_digest else found

    def line(self, item: bytes) -> bytes:
        # A line ends at the first line feed; in texts JSON has an escape for it.
        return item.replace(b"\n", b" ") if self._as_sent else super().line(item)

    def _encoded(self, objects: list[Object]) -> list[Object]:
        """The objects under the name of each encoding, since nothing reads another one than the usual."""
        cut = 2 / 3 if self.faults.cut else 1
        return [
            Object(one.key.replace("compact_json", encoding), partial(_beginning, one, cut))
            for encoding in self.faults.encodings
            for one in objects
        ]

    def written(self) -> list[Segment]:
        if not self.faults.served:
            raise RefusalError(501, "Bulk storage is not configured on this scan")
        written = [one for number, one in enumerate(super().written()) if number != self.faults.lacking]
        if not self.faults.overlap:
            return written
        # As if a server had changed the length of its segments, and kept those that it had.
        threes = zip(written[::3], written[1::3], written[2::3], strict=False)
        longer = [Segment(one.after, end.end, [*one.updates, *two.updates, *end.updates]) for one, two, end in threes]
        return sorted([*written, *longer], key=_place)


def _beginning(one: Object, part: float) -> bytes:
    data = one.write()
    return data[: int(len(data) * part)]


def _place(segment: Segment) -> tuple[Any, ...]:
    return segment.after, segment.up_to
