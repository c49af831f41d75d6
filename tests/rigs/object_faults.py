"""`ObjectFaults`: what is wrong with the objects of a server's history, and the routes that serve them so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ledgerframes.sandbox.http.responses import RefusalError
from ledgerframes.sandbox.http.scan_objects import ObjectRoutes
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


class SpoiledObjects(ObjectRoutes):
    """The routes of a history in bulk with `faults`, which can be set at any time."""

    def __init__(self, view: ServerView) -> None:
        super().__init__(view)
        self.faults = ObjectFaults()

    async def updates(self, request: Request) -> Response:
        self._check_served()
        return await super().updates(request)

    async def snapshot(self, request: Request) -> Response:
        self._check_served()
        return await super().snapshot(request)

    async def download(self, request: Request) -> Response:
        if self.faults.gone:
            raise RefusalError(404, f"Object {request.path_params['object_key']} not found")
        return await super().download(request)

    def encodings(self) -> tuple[str, ...]:
        return self.faults.encodings

    def sent(self, data: bytes) -> bytes:
        return data[: len(data) * 2 // 3] if self.faults.cut else data

    def digest(self, data: bytes) -> bytes:
        return sha256(b"another one") if self.faults.wrong_digest else super().digest(data)

    def written(self) -> list[Segment]:
        # As if a server had changed the length of its segments, and kept those that it had.
        longer = self.of_length(3) if self.faults.overlap else []
        return sorted([*super().written(), *longer], key=_place)

    def _check_served(self) -> None:
        if not self.faults.served:
            raise RefusalError(501, "Bulk storage is not configured on this scan")


def _place(segment: Segment) -> tuple[Any, ...]:
    return segment.after, segment.up_to
