"""Objects by name, `StoredObject`, and `ScanObjects`, which lists those of a scan and keeps each on disk while read."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from ledgerframes.config.settings import source_of
from ledgerframes.errors import DecodeError, StatusError
from ledgerframes.interfaces.scan_objects import ObjectRef, name_of, sha256_of
from ledgerframes.objects.file_cache import FileCache, Get
from ledgerframes.timestamps import format_timestamp, format_trimmed, parse_timestamp
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

        Raises:
            RequestError: the scan returned no list.
            PagingError: it repeats a page of the list.
        """
        try:
            lists = list(self.scan.object_lists(after=format_timestamp(after), up_to=format_timestamp(up_to)))
        except StatusError as error:
            if error.status in _NOT_SERVED:
                return None
            raise
        return readable((ref for page in lists for ref in page.value.object_refs), server=lists[0].server)

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
