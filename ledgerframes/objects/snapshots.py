"""`newest_snapshot`: a snapshot of active contracts as objects; the loader of contracts reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, NotFoundError, StatusError
from ledgerframes.interfaces.scan_objects import SNAPSHOT_OBJECTS, SnapshotObjects
from ledgerframes.objects.names import SNAPSHOT, StoredObject
from ledgerframes.objects.sources import ELSEWHERE, no_objects, readable, unconfirmed
from ledgerframes.timestamps import EPOCH, MICROSECOND, format_timestamp, format_trimmed, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_listed: Final = msgspec.json.Decoder(SnapshotObjects)


@dataclass(frozen=True)
class Snapshot:
    """The objects of one snapshot.

    Attributes:
        micros: its record time, in microseconds.
        objects: its objects, in order.
        place: the scan that lists them, without anything secret.
    """

    micros: int
    objects: tuple[StoredObject, ...]
    place: str


def newest_snapshot(scan: Scan, micros: int) -> Snapshot:
    """The newest snapshot that has objects, at or before an instant.

    Raises:
        InputError: the scan has no objects, or none that are encoded like pages.
        NotFoundError: there is no such snapshot.
        DecodeError: the list breaks the contract, lacks an object, or has other digests than other scans.
    """
    try:
        answer = scan.raw.snapshot_objects(at=EPOCH + micros * MICROSECOND)
    except StatusError as error:
        if error.status == 501 or (isinstance(error, NotFoundError) and error.unknown_route):
            raise no_objects(source_of(scan.servers[0]), ELSEWHERE) from error
        if error.status != 404:
            raise
        raise NotFoundError(
            f"{SNAPSHOT_OBJECTS}: the scan has no snapshot as objects at or before {format_timestamp(micros)}. What to"
            " do: give a later at=, or source='pages'",
            status=404, server=error.server,
        ) from error  # fmt: skip
    assert answer is not None
    place = source_of(answer.server)
    try:
        listed = _listed.decode(answer.value)
        at, _ = parse_timestamp(listed.record_time)
    except (msgspec.DecodeError, ValueError) as error:
        raise _broken(str(error)) from error
    if at > micros:
        raise _broken(f"asked for a snapshot at or before {format_timestamp(micros)}, it names {listed.record_time}")
    objects = readable(listed.object_refs, SNAPSHOT, server=answer.server)
    if not objects:
        raise InputError(
            f"source='objects': {place} lists no objects of its snapshot of {listed.record_time} whose items are"
            " encoded like those of pages; give source='pages'"
        )
    for position, stored in enumerate(objects):
        if stored.name.after != at:
            raise _broken(f"{stored.name} is listed for the snapshot of {format_trimmed(at)}")
        if stored.name.number != position:
            raise _broken(f"object {position} of the snapshot of {format_trimmed(at)} is not listed")
    if unconfirmed(scan, objects):
        raise NotFoundError(
            f"{SNAPSHOT_OBJECTS}: {place} has the snapshot of {listed.record_time} as objects, and too few of the other"
            " scans have written it yet. What to do: give an earlier at=, or source='pages'",
            status=404, server=answer.server,
        )  # fmt: skip
    return Snapshot(at, tuple(objects), place)


def _broken(why: str) -> DecodeError:
    return DecodeError(
        f"{SNAPSHOT_OBJECTS}: {why}. What to do: ask another scan, or give source='pages'",
        endpoint=str(SNAPSHOT_OBJECTS), table="active_contracts",
    )  # fmt: skip
