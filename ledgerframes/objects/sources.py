"""Objects by name, and those of a scan: the lists of its history and snapshots, kept on disk while they are read."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import unquote, urlsplit

import msgspec

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, NotFoundError, RequestError, StatusError
from ledgerframes.interfaces.scan_objects import (
    LARGEST_LIST,
    OBJECT_CHECKSUMS,
    SNAPSHOT_OBJECTS,
    ObjectRef,
    key_of,
    name_of,
    sha256_of,
)
from ledgerframes.interfaces.scan_objects import SnapshotObjects as Listed
from ledgerframes.objects.file_cache import FileCache, Get
from ledgerframes.timestamps import EPOCH, LATEST, MICROSECOND, format_timestamp, format_trimmed, parse_timestamp
from ledgerframes.transport import Stop

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_log = logging.getLogger("ledgerframes.objects")
_NOT_SERVED: Final = frozenset({404, 501})
#: The encoding whose items have the form of pages.
COMPACT: Final = "compact_json"
UPDATES: Final = "updates"
SNAPSHOT: Final = "ACS"

# The first writers had one encoding and did not name it.
_FILE: Final = re.compile(r"(updates|ACS)(?:_([a-z][a-z_]*))?_(\d{1,9})\.zstd", re.ASCII)

_listed: Final = msgspec.json.Decoder(Listed)


@dataclass(frozen=True, order=True)
class ObjectName:
    """The parts of `<after>~<up_to>/updates_compact_json_<number>.zstd`.

    Attributes:
        after: the segment's beginning in microseconds, exclusive; for a snapshot, its time.
        up_to: the segment's end, inclusive.
        number: of the object within its segment, in reading order.
        kind: `updates` or `ACS`.
        encoding: the encoding of values.
    """

    after: int
    up_to: int
    number: int
    kind: str = UPDATES
    encoding: str = COMPACT

    @property
    def readable(self) -> bool:
        """Whether its items are encoded like those of pages."""
        return self.encoding == COMPACT

    def __str__(self) -> str:
        segment = f"{format_trimmed(self.after)}~{format_trimmed(self.up_to)}"
        return f"{segment}/{self.kind}_{self.encoding}_{self.number}.zstd"


def read_name(location: str) -> ObjectName | None:
    """The name at the end of a URL or a path; None if it is not the name of an object."""
    steps = unquote(urlsplit(location).path if "://" in location else location).rsplit("/", 2)[-2:]
    file = _FILE.fullmatch(steps[-1])
    if file is None or len(steps) < 2:
        return None
    after, found, up_to = steps[0].partition("~")
    try:
        low, high = parse_timestamp(after)[0], parse_timestamp(up_to)[0]
    except ValueError:
        return None
    kind, encoding, number = file.groups()
    if not found or low > high:
        return None
    return ObjectName(low, high, int(number), kind, encoding or COMPACT)


@dataclass(frozen=True)
class StoredObject:
    """An object that can be read.

    Attributes:
        name: the parts of its name.
        location: its URL or path.
        digest: its SHA-256 according to the list; empty if there is none.
        server: the server that listed it; empty if none did.
    """

    name: ObjectName
    location: str
    digest: str = ""
    server: str = ""


class Objects(Protocol):
    """Opens objects."""

    def fetch(self, stored: StoredObject) -> None:
        """Make an object available, so that opening it does not wait."""

    def opened(self, stored: StoredObject) -> Any:
        """The compressed bytes of an object, as a context; its temporary files are removed afterwards."""

    def stoppable(self, stop: Stop) -> Objects:
        """The same for one operation, which ends once `stop` is set."""


@dataclass(frozen=True)
class ScanObjects:
    """The objects of a scan.

    Attributes:
        scan: the interface.
        files: the folder for objects while they are read, by their digest.
    """

    scan: Scan
    files: FileCache

    @property
    def place(self) -> str:
        """The scan that is asked first."""
        return source_of(self.scan.servers[0])

    def updates(self, after: int, up_to: int) -> list[StoredObject] | None:
        """The objects of some record times, in the order of the history; None if the scan has none.

        Of several scans, others confirm the digests; what they have not written yet is left out.

        Raises:
            RequestError: the scan returned no list.
            PagingError: it repeats a page of the list.
            DecodeError: other scans have another digest for an object.
        """
        try:
            lists = list(self.scan.object_lists(after=format_timestamp(after), up_to=format_timestamp(up_to)))
        except StatusError as error:
            if error.status in _NOT_SERVED:
                return None
            raise
        listed = readable((ref for page in lists for ref in page.value.object_refs), server=lists[0].server)
        waiting = unconfirmed(self.scan, listed)
        if waiting:
            _log.warning("%s and what follows are not read: other scans have not written them yet", waiting[0].name)
        # Whole segments: one without its last object would pass for complete.
        first = min((stored.name.after for stored in waiting), default=LATEST)
        return [stored for stored in listed if stored.name.up_to <= first]

    def fetch(self, stored: StoredObject) -> None:
        """Download an object.

        Raises:
            RequestError: it could not be fetched.
            DecodeError: it does not match its digest.
            StoreError: the disk has no room for it.
        """
        self.files.fetch(_file(stored), self._download(stored))

    def opened(self, stored: StoredObject) -> AbstractContextManager[Any]:
        """The bytes of an object; its file is removed once it, or several later ones, were read."""
        return self.files.opened(_file(stored), self._download(stored))

    def stoppable(self, stop: Stop) -> ScanObjects:
        """The same for one operation."""
        return replace(self, scan=self.scan.stoppable(stop))

    def _download(self, stored: StoredObject) -> Get:
        return partial(self.scan.download_object, ObjectRef(stored.location, stored.digest))


def _file(stored: StoredObject) -> str:
    # By its digest: the name comes from the server, and could be any path.
    return f"{sha256_of(stored.digest).hex()}.zstd"


def readable(refs: Iterable[ObjectRef], kind: str = UPDATES, *, server: str = "") -> list[StoredObject]:
    """The objects of a kind whose items are encoded like those of pages, each once, in order.

    Raises:
        DecodeError: one name occurs for two objects.
    """
    objects: dict[ObjectName, StoredObject] = {}
    for ref in refs:
        name = read_name(ref.url)
        if name is None or not name.readable or name.kind != kind:
            _log.debug("%s is skipped: it does not contain %s in the form of pages", name_of(ref.url), kind)
            continue
        known = objects.setdefault(name, StoredObject(name, ref.url, ref.digest, server))
        if sha256_of(known.digest) != sha256_of(ref.digest):
            raise DecodeError(f"the scan lists {name} with two digests; ask another one", item=str(name))
    return [objects[name] for name in sorted(objects)]


def unconfirmed(scan: Scan, objects: Sequence[StoredObject]) -> list[StoredObject]:
    """The listed objects whose digests too few of several scans have, in order; they may not be written there yet.

    Scans write the same objects. Of n that answer, (n - 1) // 3 may be faulty, so one more of them has to have the
    digest, and fewer another one. A scan that does not serve digests, or does not answer, does not count.

    Args:
        scan: the scans.
        objects: from the list of one of them.

    Raises:
        DecodeError: as many scans have another digest for one of them.
    """
    others = [server for server in scan.servers if objects and server != objects[0].server]
    answers = {server: known for server in others if (known := _digests(scan, server, objects)) is not None}
    enough = len(answers) // 3 + 1
    waiting = []
    for place, stored in enumerate(objects):
        theirs = {server: digests[place] for server, digests in answers.items() if digests[place] is not None}
        against = [server for server, digest in theirs.items() if digest != sha256_of(stored.digest)]
        same = 1 + len(theirs) - len(against)
        if len(against) >= same:
            raise DecodeError(
                f"{source_of(stored.server)} lists {stored.name} with another digest than"
                f" {', '.join(map(source_of, against))}, so one of them has another history. What to do: compare them"
                " with lf.cross_check and leave one out of scan_url=, or give source='pages'",
                endpoint=str(OBJECT_CHECKSUMS), item=str(stored.name),
            )  # fmt: skip
        if same < enough:
            waiting.append(stored)
    return waiting


def _digests(scan: Scan, server: str, objects: Sequence[StoredObject]) -> list[bytes | None] | None:
    """The digests that a scan has for objects, None for each that it has not written; None if it does not say."""
    found: list[bytes | None] = []
    try:
        for at in range(0, len(objects), LARGEST_LIST):
            keys = [key_of(stored.location) for stored in objects[at : at + LARGEST_LIST]]
            checksums = scan.on(server).object_checksums(keys).checksums
            found += [None if one.value is None else sha256_of(one.value) for one in checksums]
    except (RequestError, DecodeError) as error:
        level = logging.DEBUG if isinstance(error, StatusError) and error.status in _NOT_SERVED else logging.WARNING
        _log.log(level, "%s Its digests of objects are not compared.", error)
        return None
    if len(found) != len(objects):
        place = source_of(server)
        _log.warning("%s sends %d digests for %d objects; they are not compared", place, len(found), len(objects))
        return None
    return found


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
        DecodeError: the list breaks the contract, lacks an object, or has other digests than other scans.
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
    objects = readable(listed.object_refs, SNAPSHOT, server=answer.server)
    if not objects:
        raise InputError(
            f"source='objects': {place} lists no objects of its snapshot of {listed.record_time} whose items are"
            " encoded like those of pages; give source='pages'"
        )
    _check(objects, at)
    if unconfirmed(scan, objects):
        raise NotFoundError(
            f"{SNAPSHOT_OBJECTS}: {place} has the snapshot of {listed.record_time} as objects, and too few of the other"
            " scans have written it yet. What to do: give an earlier at=, or source='pages'",
            status=404, server=answer.server,
        )  # fmt: skip
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
