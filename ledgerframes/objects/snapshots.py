"""`SnapshotObjects`: the objects of one snapshot of the active contracts, as a scan lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, NotFoundError, StatusError
from ledgerframes.interfaces.scan_objects import SNAPSHOT_OBJECTS
from ledgerframes.interfaces.scan_objects import SnapshotObjects as Listed
from ledgerframes.objects.sources import SNAPSHOT, StoredObject, readable
from ledgerframes.timestamps import EPOCH, MICROSECOND, format_timestamp, format_trimmed, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_listed: Final = msgspec.json.Decoder(Listed)


@dataclass(frozen=True)
class SnapshotObjects:
    """The objects of one snapshot.

    Attributes:
        micros: its record time, in microseconds.
        objects: its objects, in order.
        place: the scan that lists them, without anything secret.
    """

    micros: int
    objects: tuple[StoredObject, ...]
    place: str


def newest_snapshot(scan: Scan, micros: int) -> SnapshotObjects:
    """The newest snapshot that has objects, at or before an instant.

    Raises:
        InputError: the scan has no objects, or none that are encoded like pages.
        NotFoundError: there is no such snapshot.
        DecodeError: the list breaks the contract, or lacks an object.
    """
    place = source_of(scan.servers[0])
    try:
        answer = scan.raw.snapshot_objects(at=EPOCH + micros * MICROSECOND)
    except NotFoundError as error:
        if error.unknown_route:
            raise _none(place) from error
        raise NotFoundError(
            f"{SNAPSHOT_OBJECTS}: the scan has no snapshot as objects at or before {format_timestamp(micros)}. What to"
            " do: give a later at=, or source='pages'",
            status=404, server=error.server,
        ) from error  # fmt: skip
    except StatusError as error:
        if error.status != 501:
            raise
        raise _none(place) from error
    assert answer is not None
    place = source_of(answer.server)
    try:
        listed = _listed.decode(answer.value)
        at, _ = parse_timestamp(listed.record_time)
    except (msgspec.DecodeError, ValueError) as error:
        raise _broken(str(error)) from error
    if at > micros:
        raise _broken(f"asked for a snapshot at or before {format_timestamp(micros)}, it names {listed.record_time}")
    objects = readable(listed.object_refs, SNAPSHOT)
    if not objects:
        raise InputError(
            f"source='objects': {place} lists no objects of its snapshot of {listed.record_time} whose items are"
            " encoded like those of pages; give source='pages'"
        )
    _check(objects, at)
    return SnapshotObjects(at, tuple(objects), place)


def _check(objects: list[StoredObject], micros: int) -> None:
    """Refuse objects of another snapshot, or a list that lacks one.

    Raises:
        DecodeError: it is such a list.
    """
    for position, stored in enumerate(objects):
        if stored.name.after != micros:
            raise _broken(f"{stored.name} is listed for the snapshot of {format_trimmed(micros)}")
        if stored.name.number != position:
            raise _broken(f"object {position} of the snapshot of {format_trimmed(micros)} is not listed")


def _none(place: str) -> InputError:
    return InputError(
        f"source='objects': {place} has no objects; give source='pages', or scan_url= of a scan that has some"
    )


def _broken(why: str) -> DecodeError:
    return DecodeError(
        f"{SNAPSHOT_OBJECTS}: {why}. What to do: ask another scan, or give source='pages'",
        endpoint=str(SNAPSHOT_OBJECTS), table="active_contracts",
    )  # fmt: skip
