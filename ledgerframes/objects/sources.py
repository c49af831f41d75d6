"""The objects of a scan: the lists of its history and snapshots, confirmed by other scans, and downloads while read."""

from __future__ import annotations

import logging
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, InputError, RequestError, StatusError, StoreError
from ledgerframes.interfaces.scan_objects import (
    LARGEST_LIST,
    OBJECT_CHECKSUMS,
    ObjectRef,
    key_of,
    name_of,
    sha256_of,
)
from ledgerframes.objects.names import UPDATES, ObjectName, StoredObject, read_name
from ledgerframes.stopping import Stop, held_back
from ledgerframes.threads import ended, result, spawn
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan

_log = logging.getLogger("ledgerframes.objects")
#: Starts a call whose result is needed later, in a thread of the given name.
Ahead = Callable[[Callable[[], None], str], Future[None]]
#: What to give in place of objects that a scan does not have.
ELSEWHERE: Final = "source='pages', or scan_url= of a scan that has some"
#: The answers of a scan without objects.
NOT_SERVED: Final = frozenset({404, 501})
#: Seconds that the end of a read waits for the download of the next object.
_LEAVING: Final = 1.0
#: Files that are kept for a single reader: the one being read, and the next.
_AHEAD: Final = 2


@dataclass(frozen=True)
class FileCache:
    """Files that are fetched when they are first opened; thread-safe.

    Attributes:
        folder: their folder; an existing file is not fetched again.
        capacity: the number of files to keep for readers that begin in the middle of one.
    """

    folder: Path
    capacity: int = 0
    _kept: deque[Path] = field(default_factory=deque)  # the one used last at the end
    _locks: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    #: Paths are compared one by one, and other threads run in between.
    _changing: Lock = field(default_factory=Lock)

    @contextmanager
    def opened(self, name: str, get: Callable[[Path], object]) -> Iterator[Any]:
        """The bytes of a file, which is removed once several others were used since.

        Args:
            name: its name.
            get: writes it, if it is not there; it appears once it is complete.
        """
        target = self.folder / name
        # Several readers may want the same file at once, and one of them removes it.
        with self._locks[name]:
            if not target.exists():
                get(target)
            file = pa.OSFile(str(target), "rb")
        try:
            with file:
                yield file
        finally:  # also if a reader stops in the middle
            self._keep(target)

    def _keep(self, target: Path) -> None:
        """Note that a file was used, and remove all but the last ones."""
        with self._changing:
            with suppress(ValueError):
                self._kept.remove(target)
            self._kept.append(target)
            surplus = [self._kept.popleft() for _ in range(len(self._kept) - self.capacity - _AHEAD)]
        for file in surplus:
            with self._locks[file.name]:
                file.unlink(missing_ok=True)


@dataclass(frozen=True)
class ScanObjects:
    """The objects of a scan.

    Attributes:
        scan: the interface.
        files: the folder for objects while they are read, by their digest.
        ahead: fetches the next object while another is read.
    """

    scan: Scan
    files: FileCache
    ahead: Ahead = spawn

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
            if error.status in NOT_SERVED:
                return None
            raise
        listed = readable((ref for page in lists for ref in page.value.object_refs), server=lists[0].server)
        waiting = unconfirmed(self.scan, listed)
        if waiting:
            _log.warning("%s and what follows are not read: other scans have not written them yet", waiting[0].name)
        # Whole segments: one without its last object would pass for complete.
        first = min((stored.name.after for stored in waiting), default=LATEST)
        return [stored for stored in listed if stored.name.up_to <= first]

    def opened(self, objects: Sequence[StoredObject]) -> Generator[Any]:
        """The compressed bytes of objects in turn; the next one is fetched meanwhile.

        Raises:
            RequestError: an object could not be fetched.
            DecodeError: it does not match its digest.
            StoreError: the disk has no room for it.
        """
        stop, pending = Stop(), None
        scan = self.scan.stoppable(stop)
        following = [*objects[1:], None]
        try:
            for stored, later in zip(objects, following, strict=False):
                if pending is not None:
                    with held_back(stop.set):
                        result(pending)
                with self._file(stored, scan) as file:
                    pending = None
                    if later is not None:
                        pending = self.ahead(partial(self._fetch, later, scan), "ledgerframes-object")
                    yield file
        finally:
            # Also if the caller stops early: the download under way must not outlive the read.
            stop.set()
            if pending is not None:
                ended(pending, _LEAVING)

    def _file(self, stored: StoredObject, scan: Scan) -> Any:
        # By its digest: the name comes from the server, and could be any path.
        name = f"{sha256_of(stored.digest).hex()}.zstd"
        return self.files.opened(name, partial(scan.download_object, ObjectRef(stored.location, stored.digest)))

    def _fetch(self, stored: StoredObject, scan: Scan) -> None:
        with self._file(stored, scan):
            pass

    def stoppable(self, stop: Stop) -> ScanObjects:
        """The same for one operation, whose downloads end once `stop` is set."""
        return replace(self, scan=self.scan.stoppable(stop))


@contextmanager
def scan_objects(scan: Scan, *, cached: int = 0, ahead: Ahead = spawn) -> Iterator[ScanObjects]:
    """The objects of a scan; while they are read they lie in a temporary folder.

    Args:
        scan: the interface.
        cached: how many objects stay for other readers after they were read.
        ahead: fetches the next object while another is read.

    Raises:
        StoreError: the folder cannot be created.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="ledgerframes-objects-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreError(
            f"cannot create a folder for objects: {error.strerror or error}; set TMPDIR to another folder"
        ) from error
    ending = Stop()
    with folder:
        try:
            yield ScanObjects(scan, FileCache(Path(folder.name), capacity=cached), ahead).stoppable(ending)
        finally:
            ending.set()  # a download may be under way


def no_objects(place: str, instead: str) -> InputError:
    """The error for a scan without objects."""
    return InputError(f"source='objects': {place} has no objects; give {instead}")


def readable(refs: Iterable[ObjectRef], kind: str = UPDATES, *, server: str = "") -> list[StoredObject]:
    """The objects of a kind whose items are encoded like those of pages, each once, in order.

    Raises:
        DecodeError: one name occurs for two objects.
    """
    objects: dict[ObjectName, StoredObject] = {}
    for ref in refs:
        name = read_name(ref.url, kind)
        if name is None:
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
        level = logging.DEBUG if isinstance(error, StatusError) and error.status in NOT_SERVED else logging.WARNING
        _log.log(level, "%s Its digests of objects are not compared.", error)
        return None
    if len(found) != len(objects):
        place = source_of(server)
        _log.warning("%s sends %d digests for %d objects; they are not compared", place, len(found), len(objects))
        return None
    return found
