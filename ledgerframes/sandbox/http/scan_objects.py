"""The history of a world in bulk as Starlette routes of scan: lists of objects, and the objects."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ledgerframes.sandbox.http import render
from ledgerframes.sandbox.http.responses import RefusalError, encode, json_answer, read_object
from ledgerframes.sandbox.http.scan_snapshots import told_active
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.active_set import Active, active_at
from ledgerframes.sandbox.world.objects import OBJECT_ITEMS, Segment, compressed, segments, sha256, sorted_members
from ledgerframes.sandbox.world.snapshots import instants
from ledgerframes.sandbox.world.views import ServerView

MAXIMUM: Final = 1_000
COMPACT: Final = "compact_json"
_PATH: Final = "/v0/history/bulk/download/"
_KEPT: Final = 256


@dataclass(slots=True)
class ObjectRoutes:
    """The handlers of one scan server.

    Attributes:
        view: the part of its world that it shows.
    """

    view: ServerView
    _written: dict[int, list[Segment]] = field(default_factory=dict)  # by their length
    _objects: OrderedDict[Any, bytes] = field(default_factory=OrderedDict)

    def routes(self) -> list[BaseRoute]:
        """The routes, without the interface's prefix."""
        return [
            Route("/v0/history/bulk/updates", self.updates, methods=["POST"]),
            Route("/v0/history/bulk/acs", self.snapshot, methods=["GET"]),
            Route(_PATH + "{object_key:path}", self.download, methods=["GET"]),
        ]

    async def updates(self, request: Request) -> Response:
        """POST /v0/history/bulk/updates: whole segments, as many as fit into a page."""
        body = await read_object(request)
        after, up_to = (_time(body, name) for name in ("start_record_time", "end_record_time"))
        size = body.get("page_size")
        if type(size) is not int or not 1 <= size <= MAXIMUM:
            raise RefusalError(400, f"page_size must be from 1 to {MAXIMUM}, not {size!r}")
        token = body.get("next_page_token")
        if token is not None and not isinstance(token, str):
            raise RefusalError(400, "The request content was malformed: next_page_token must be text")
        with self.view.world.lock:
            written = self.written()
        listed = [segment for segment in written if segment.overlaps(after, up_to)]
        page = [segment for segment in listed if token is None or segment.folder() > token]
        refs: list[dict[str, str]] = []
        last: Segment | None = None
        for segment in page:
            own = self._refs(request, segment)
            if len(refs) + len(own) > size:
                if last is None:
                    raise RefusalError(400, f"Limit of {size} is too low to return any objects")
                break
            refs, last = refs + own, segment
        return json_answer(encode({"object_refs": refs, **_following(last, token, written, up_to)}))

    async def snapshot(self, request: Request) -> Response:
        """GET /v0/history/bulk/acs: the objects of the newest snapshot at or before a time."""
        text = request.query_params.get("at_or_before_record_time")
        if text is None:
            raise RefusalError(400, "Request is missing required query parameter 'at_or_before_record_time'")
        at = _parsed(text)
        with self.view.world.lock:
            known = [cursor for cursor in self._snapshots() if cursor[1] <= at]
            if not known:
                raise RefusalError(404, f"No snapshot objects found in bulk storage at or before {text}")
            cursor = max(known, key=lambda one: (one[1], one[0]))
            contracts = active_at(self.view.world, cursor)
        if not contracts:
            raise RefusalError(404, f"No snapshot objects found in bulk storage at {timestamps.exact(cursor[1])}")
        folder = f"{timestamps.trimmed(cursor[1])}~{timestamps.trimmed(cursor[1] + timestamps.SECOND)}"
        parts = [contracts[at : at + OBJECT_ITEMS] for at in range(0, len(contracts), OBJECT_ITEMS)]
        refs = [
            self._ref(request, key, self._contracts(key, cursor, encoding, part))
            for encoding in self.encodings()
            for number, part in enumerate(parts)
            for key in [f"{folder}/ACS_{encoding}_{number}.zstd"]
        ]
        return json_answer(encode({"record_time": timestamps.exact(cursor[1]), "object_refs": refs}))

    async def download(self, request: Request) -> Response:
        """GET /v0/history/bulk/download/{object_key}."""
        key = request.path_params["object_key"]
        with self.view.world.lock:
            data = self._found(key)
        if data is None:
            raise RefusalError(404, f"Object {key} not found")
        return Response(data, media_type="application/octet-stream")

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
        return self.of_length(1)

    def of_length(self, each: int) -> list[Segment]:
        """The segments of so many steps of the grid; what was written before stays as it was."""
        world = self.view.world
        before, shown = self._written.get(each, []), world.updates[: self.view.end()]
        self._written[each] = segments(world, shown, each=each, written=before)
        return self._written[each]

    def _snapshots(self) -> list[tuple[int, int]]:
        """The snapshots in bulk, as cursors: those at which a segment ends."""
        ends = {segment.up_to for segment in self.written()}
        migrations = {update.migration_id for update in self.view.world.updates[: self.view.end()]}
        return [(one, instant) for one in migrations for instant in instants(self.view.world, one) if instant in ends]

    def _refs(self, request: Request, segment: Segment) -> list[dict[str, str]]:
        return [
            self._ref(request, key, self._object(segment, number, encoding))
            for encoding in self.encodings()
            for number in range(len(segment.parts()))
            for key in [f"{segment.folder()}/updates_{encoding}_{number}.zstd"]
        ]

    def _ref(self, request: Request, key: str, data: bytes) -> dict[str, str]:
        base = f"{request.url.scheme}://{request.url.netloc}{request.scope['root_path']}"
        return {"url": f"{base}{_PATH}{quote(key, safe='')}", "digest": base64.b64encode(self.digest(data)).decode()}

    def _found(self, key: str) -> bytes | None:
        """The bytes of an object by its key."""
        for segment in self.written():
            if not key.startswith(segment.folder() + "/"):
                continue
            for encoding in self.encodings():
                for number in range(len(segment.parts())):
                    if key == f"{segment.folder()}/updates_{encoding}_{number}.zstd":
                        return self._object(segment, number, encoding)
        for name, data in self._objects.items():
            if name[0] == key:
                return self.sent(data)
        return None

    def _object(self, segment: Segment, number: int, encoding: str) -> bytes:
        part = segment.parts()[number]
        name = (segment.folder(), number, encoding, len(part), part[0].update_id, part[-1].update_id)

        def items() -> list[bytes]:
            typed = encoding != COMPACT
            return [sorted_members(render.type_carrying(one.rendered) if typed else one.rendered) for one in part]

        return self.sent(self._remembered(name, items))

    def _contracts(self, key: str, cursor: tuple[int, int], encoding: str, part: list[Active]) -> bytes:
        def items() -> list[bytes]:
            typed = encoding != COMPACT
            told = [encode(told_active(one, cursor[0])) for one in part]
            return [sorted_members(render.type_carrying_contract(one) if typed else one) for one in told]

        return self.sent(self._remembered((key, cursor, len(part)), items))

    def _remembered(self, name: Any, items: Callable[[], list[bytes]]) -> bytes:
        if name not in self._objects:
            self._objects[name] = compressed(items())
            while len(self._objects) > _KEPT:
                self._objects.popitem(last=False)
        return self._objects[name]


def _following(last: Segment | None, token: str | None, written: list[Segment], up_to: int) -> dict[str, str]:
    """The token of the next page; a server that has not written all of the range yet repeats the last one."""
    if last is not None:
        return {"next_page_token": last.folder()} if last.up_to < up_to else {}
    behind = not written or written[-1].up_to < up_to
    return {"next_page_token": token} if behind and token else {}


def _time(body: dict[str, Any], name: str) -> int:
    if not isinstance(body.get(name), str):
        raise RefusalError(400, f"The request content was malformed: {name} must be a time")
    return _parsed(body[name])


def _parsed(text: str) -> int:
    try:
        return timestamps.parse(text)
    except ValueError as error:
        raise RefusalError(400, str(error)) from error
