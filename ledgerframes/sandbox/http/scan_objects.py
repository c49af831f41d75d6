"""The history of a world in bulk as routes of scan: lists of objects, and the objects."""

from __future__ import annotations

import asyncio
import base64
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct
from starlette.responses import Response

from ledgerframes.sandbox.http.responses import JSON_MAXIMUM, RefusalError, found, read_as, read_time, read_within
from ledgerframes.sandbox.http.routes import Routes, ServerRequest
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.objects import Object, Objects, Segment

MAXIMUM: Final = 1_000
ROUTES: Final = Routes()
_PATH: Final = "/api/scan/v0/history/bulk/download/"


class ObjectsRequest(Struct):
    """The body of POST /v0/history/bulk/updates."""

    start_record_time: str
    end_record_time: str
    page_size: int
    next_page_token: str | None = None


@ROUTES.post("/api/scan/v0/history/bulk/updates", since="0.7")
async def updates(request: ServerRequest) -> dict[str, Any]:
    """Whole segments, as many as fit into a page."""
    wanted = read_as(ObjectsRequest, await read_within(request.http, JSON_MAXIMUM))
    with request.world.lock:
        objects, following = _page(request.server.objects, wanted)
    return {"object_refs": await _refs(request, objects), **following}


def _page(objects: Objects, wanted: ObjectsRequest) -> tuple[list[Object], dict[str, str]]:
    """The objects of a page, and the token of the next one."""
    after, up_to = read_time(wanted.start_record_time), read_time(wanted.end_record_time)
    size, token = wanted.page_size, wanted.next_page_token
    if not 1 <= size <= MAXIMUM:
        raise RefusalError(400, f"page_size must be from 1 to {MAXIMUM}, not {size}")
    written = objects.written()
    listed = [segment for segment in written if segment.overlaps(after, up_to)]
    page: list[Object] = []
    last: Segment | None = None
    for segment in listed:
        if token is not None and segment.folder() <= token:
            continue
        own = objects.of_segment(segment)
        if len(page) + len(own) > size:
            if last is None:
                raise RefusalError(400, f"Limit of {size} is too low to return any objects")
            break
        page, last = page + own, segment
    return page, _following(last, token, written, up_to)


@ROUTES.get("/api/scan/v0/history/bulk/acs", since="0.7")
async def snapshot(request: ServerRequest) -> dict[str, Any]:
    """The objects of the newest snapshot at or before a time."""
    text, objects = request.needed("at_or_before_record_time"), request.server.objects
    at = read_time(text)
    with request.world.lock:
        known = sorted((cursor for cursor in objects.snapshots() if cursor[1] <= at), key=lambda one: (one[1], one[0]))
        cursor = found(known[-1] if known else None, f"No snapshot objects found in bulk storage at or before {text}")
        listed = objects.of_snapshot(cursor)
    if not listed:
        raise RefusalError(404, f"No snapshot objects found in bulk storage at {timestamps.exact(cursor[1])}")
    return {"record_time": timestamps.exact(cursor[1]), "object_refs": await _refs(request, listed)}


@ROUTES.get(_PATH + "{object_key:path}", since="0.7")
async def download(request: ServerRequest) -> Response:
    """An object."""
    key = request.part("object_key")
    with request.world.lock:
        one = found(request.server.objects.found(key), f"Object {key} not found")
    return Response(await asyncio.to_thread(one.write), media_type="application/octet-stream")


@ROUTES.post("/api/scan/v0/history/bulk/checksums", since="0.7")
def checksums(request: ServerRequest) -> dict[str, Any]:
    """The digests of objects by key, without a value for those that are not written."""
    keys = [str(key) for key in request.ids("object_keys")]
    listed = request.server.objects.in_folders({key.partition("/")[0] for key in keys})
    known = {one.key: _digest(one) for one in listed if one.key in {*keys}}
    return {"checksums": [{"value": known[key]} if key in known else {} for key in keys]}


async def _refs(request: ServerRequest, objects: list[Object]) -> list[dict[str, str]]:
    """The objects as they are listed; a thread writes those that were not asked for before."""
    url = request.http.url
    base = f"{url.scheme}://{url.netloc}{_PATH}"
    digests = await asyncio.to_thread(lambda: [_digest(one) for one in objects])
    return [{"url": base + quote(one.key, safe=""), "digest": own} for one, own in zip(objects, digests, strict=True)]


def _digest(one: Object) -> str:
    """The SHA-256 of an object, as Base64."""
    return base64.b64encode(sha256(one.write()).digest()).decode()


def _following(last: Segment | None, token: str | None, written: list[Segment], up_to: int) -> dict[str, str]:
    """The token of the next page; a server that has not written all of the range yet repeats the last one."""
    if last is not None:
        return {"next_page_token": last.folder()} if last.up_to < up_to else {}
    behind = not written or written[-1].up_to < up_to
    return {"next_page_token": token} if behind and token else {}
