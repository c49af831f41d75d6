"""`ObjectFaults`: what is wrong with the objects of a server's history, and the objects as they are served then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledgerframes.sandbox.http.objects import Object, Objects
from ledgerframes.sandbox.http.responses import RefusalError
from ledgerframes.sandbox.world.objects import Segment, sha256
from ledgerframes.sandbox.world.views import ServerView


@dataclass(frozen=True, slots=True)
class ObjectFaults:
    """How the objects of a server differ from what they should be.

    Attributes:
        served: whether there are any; without them lists are refused by 501.
        wrong_digest: the lists have digests of other bytes.
        cut: every object ends in the middle; its digest is that of what is left.
        gone: what is listed cannot be downloaded: 404.
        overlap: the lists also have longer segments of the same history.
        encodings: how values are written, one object for each.
    """

    served: bool = True
    wrong_digest: bool = False
    cut: bool = False
    gone: bool = False
    overlap: bool = False
    encodings: tuple[str, ...] = ("compact_json",)


class SpoiledObjects(Objects):
    """A history in bulk with `faults`, which can be set at any time."""

    def __init__(self, view: ServerView) -> None:
        super().__init__(view)
        self.faults = ObjectFaults()

    def found(self, key: str) -> Object | None:
        return None if self.faults.gone else super().found(key)

    def encodings(self) -> tuple[str, ...]:
        return self.faults.encodings

    def sent(self, data: bytes) -> bytes:
        return data[: len(data) * 2 // 3] if self.faults.cut else data

    def digest(self, data: bytes) -> bytes:
        return sha256(b"another one") if self.faults.wrong_digest else super().digest(data)

    def written(self) -> list[Segment]:
        if not self.faults.served:
            raise RefusalError(501, "Bulk storage is not configured on this scan")
        written = super().written()
        if not self.faults.overlap:
            return written
        # As if a server had changed the length of its segments, and kept those that it had.
        threes = zip(written[::3], written[1::3], written[2::3], strict=False)
        longer = [Segment(one.after, end.end, [*one.updates, *two.updates, *end.updates]) for one, two, end in threes]
        return sorted([*written, *longer], key=_place)


def _place(segment: Segment) -> tuple[Any, ...]:
    return segment.after, segment.up_to
