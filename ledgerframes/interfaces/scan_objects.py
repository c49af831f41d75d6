"""Scan's calls for its history in bulk: lists of objects, and their download; `Scan` inherits them.

The interface is young: releases mark it as under development. Shapes are those of scan's published interface files.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from ledgerframes.arguments import text, whole_number
from ledgerframes.errors import InputError
from ledgerframes.interfaces.answers import reads
from ledgerframes.interfaces.calls import Call, Calls, sends
from ledgerframes.interfaces.scan_snapshots import When
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport.request import Endpoint

UPDATE_OBJECTS: Final = Endpoint("scan", "POST", "/v0/history/bulk/updates")
SNAPSHOT_OBJECTS: Final = Endpoint("scan", "GET", "/v0/history/bulk/acs")

#: The most objects on a page of the list.
LARGEST_LIST: Final = 1_000


class ObjectRef(Struct, frozen=True):
    """The URL of an object, and the SHA-256 of its bytes as Base64 or in hexadecimal digits."""

    url: Annotated[str, Meta(min_length=1)]
    digest: Annotated[str, Meta(min_length=1)]


class UpdateObjects(Struct, frozen=True):
    """A page of the list of update objects; `next_page_token` is opaque, None after the last page."""

    object_refs: list[ObjectRef]
    next_page_token: str | None = None


class SnapshotObjects(Struct, frozen=True):
    """The objects of one snapshot, and its record time."""

    record_time: str
    object_refs: list[ObjectRef]


class ObjectCalls(Calls):
    """Calls of scan for its history in bulk. One method, one request."""

    @sends(UPDATE_OBJECTS, neighbour=True)
    def update_objects(
        self, *, after: When, up_to: When, page_token: str | None = None, page_size: int = LARGEST_LIST
    ) -> Call[UpdateObjects]:
        """List the objects with the updates of a range (POST /v0/history/bulk/updates; young).

        Objects are whole, so the first and the last one may reach beyond the range. Use `iter_update_objects` for all
        pages: a server that has not yet written all of the range repeats the token of an empty page.

        Args:
            after: record time, exclusive, whatever the migration.
            up_to: record time, inclusive.
            page_token: the `next_page_token` of the page before.
            page_size: the most objects to list, 1 to 1000; a server refuses less than it writes at a time.

        Raises:
            StatusError: 501 or 404: the server has no objects.

        Example:
            >>> import ledgerframes as lf
            >>> with lf.sandbox(updates=50) as net:
            ...     page = net.scan.update_objects(after="2020-01-01", up_to="2030-01-01")
            >>> page.object_refs[0].url.endswith("updates_compact_json_0.zstd")
            True
        """
        low, high = to_micros(after, "after"), to_micros(up_to, "up_to")
        if low >= high:
            raise InputError(f"up_to={up_to!r} is not after after={after!r}; a list includes up_to and excludes after")
        body: dict[str, str | int] = {
            "start_record_time": format_timestamp(low),
            "end_record_time": format_timestamp(high),
            "page_size": whole_number(page_size, "page_size", least=1, most=LARGEST_LIST),
        }
        if page_token is not None:
            body["next_page_token"] = text(page_token, "page_token", "the next_page_token of the page before")
        return Call(UPDATE_OBJECTS.request(json=body), reads(UpdateObjects))

    @sends(SNAPSHOT_OBJECTS, neighbour=True)
    def snapshot_objects(self, *, at: When) -> Call[SnapshotObjects]:
        """List the objects of the newest snapshot in bulk at or before a time (GET /v0/history/bulk/acs; young).

        Args:
            at: record time, in UTC.

        Raises:
            StatusError: 404: there is no such snapshot; 501: the server has no objects.
        """
        query = {"at_or_before_record_time": format_timestamp(to_micros(at, "at"))}
        return Call(SNAPSHOT_OBJECTS.request(query=query), reads(SnapshotObjects))
