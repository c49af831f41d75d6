"""`FolderObjects`: the objects of a folder on disk or in object storage; `open_objects` lists them."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pa_fs

from ledgerframes.errors import ConfigurationError, DecodeError, InputError, StoreError
from ledgerframes.interfaces.scan_objects import check_room, sha256_of
from ledgerframes.objects.file_cache import FileCache
from ledgerframes.objects.lines import read_lines
from ledgerframes.objects.sources import UPDATES, ObjectName, StoredObject, read_name
from ledgerframes.transport import Stop
from ledgerframes.write_aside import written_aside

#: A list of digests next to the objects, in the form of `sha256sum`.
DIGESTS: Final = "SHA256SUMS"
_LINE: Final = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)", re.ASCII)
_CHUNK: Final = 8 * 2**20


@dataclass(frozen=True)
class FolderObjects:
    """Objects below one folder.

    Attributes:
        place: the folder or the URL, without anything secret.
        files: the file system, rooted there.
        objects: the existing objects, each name once; locations are paths below the folder.
        cache: the folder for objects of object storage while they are read; None for a folder of this machine.
        stop: ends fetching.
    """

    place: str
    files: pa_fs.FileSystem
    objects: tuple[StoredObject, ...]
    cache: FileCache | None = None
    stop: Stop = field(default_factory=Stop)
    _checked: set[str] = field(default_factory=set)

    def fetch(self, stored: StoredObject) -> None:
        """Make an object available, its digest checked if there is one.

        Raises:
            DecodeError: it is gone, cannot be read or does not match its digest.
            StoreError: the disk has no room for it.
        """
        if self.cache is not None:
            self.cache.fetch(_file(stored), partial(self._copy_to, stored))
        elif stored.digest and stored.location not in self._checked:
            with _readable(stored, self.place):
                digest = self._copy(stored, lambda _: None)
            self._check(stored, digest)
            self._checked.add(stored.location)

    def opened(self, stored: StoredObject) -> AbstractContextManager[Any]:
        """The compressed bytes of an object."""
        if self.cache is not None:
            return self.cache.opened(_file(stored), partial(self._copy_to, stored))
        self.fetch(stored)
        with _readable(stored, self.place):
            opened: AbstractContextManager[Any] = self.files.open_input_file(stored.location)
        return opened

    def stoppable(self, stop: Stop) -> FolderObjects:
        """The same for one operation."""
        return replace(self, stop=Stop(self.stop, stop))

    def first_line(self, stored: StoredObject) -> bytes | None:
        """The object's first item, without reading the rest; None if it is empty.

        Raises:
            DecodeError: it is gone or cannot be read.
        """
        with _readable(stored, self.place):
            file = self.files.open_input_file(stored.location)
        with file:
            lines = read_lines(file, str(stored.name), lines=1, most=1)
            return next((batch[0] for batch in lines), None)

    def _copy_to(self, stored: StoredObject, target: Path) -> None:
        """Copy an object from object storage; the file appears once it is complete.

        Raises:
            DecodeError: it is gone, cannot be read or does not match its digest.
            StoreError: the disk has no room for it.
        """
        with _readable(stored, self.place), written_aside(target) as part:
            check_room(target.parent, self.files.get_file_info(stored.location).size or 0, stored.name)
            self._check(stored, self._copy(stored, part.write))

    def _copy(self, stored: StoredObject, write: Callable[[bytes], object]) -> bytes:
        """Read an object to its end, and write it; returns its SHA-256."""
        sha256 = hashlib.sha256()
        with self.files.open_input_file(stored.location) as file:
            while piece := file.read(_CHUNK):
                self.stop.check()
                sha256.update(piece)
                write(piece)
        return sha256.digest()

    def _check(self, stored: StoredObject, digest: bytes) -> None:
        if stored.digest and not hmac.compare_digest(digest, sha256_of(stored.digest)):
            raise DecodeError(
                f"{self.place}: {stored.location} does not match its digest in {DIGESTS}: it was damaged or"
                " replaced. Get it again, or remove it and read the part before it by end=",
                item=stored.location,
            )


def folder_objects(place: str, options: Mapping[str, str], temporary: Path | None) -> FolderObjects:
    """List the objects of updates below a folder.

    Args:
        place: a folder, or a URL of object storage.
        options: for the object storage, as deltalake takes them.
        temporary: the folder for objects of object storage while they are read.

    Raises:
        InputError: there is no such folder, it has no objects, or one name occurs twice.
        StoreError: the object storage refused.
    """
    files = _local(place) if temporary is None else _remote(place, options)
    with _listing(place):
        if temporary is None:
            listed = list(_two_levels(place))
        else:
            found = files.get_file_info(pa_fs.FileSelector("", recursive=True))
            listed = [(str(info.path), info.size) for info in found if info.type == pa_fs.FileType.File]
    sizes = {_portable(path, place): size for path, size in listed}
    digests = _digests(files, place) if DIGESTS in sizes else {}
    if gone := sorted(digests.keys() - sizes.keys()):
        raise InputError(f"{place}: {DIGESTS} lists {gone[0]}, which does not exist; add it, or write the list again")
    objects = _named(sizes, digests, place)
    if not objects:
        raise InputError(
            f"{place}: there are no objects of updates here; they have names such as"
            f" 2026-01-01T00:00:00Z~2026-01-02T00:00:00Z/{UPDATES}_compact_json_0.zstd, and links are not followed"
        )
    return FolderObjects(place, files, objects, None if temporary is None else FileCache(temporary, capacity=_CACHED))


def _two_levels(place: str) -> Iterator[tuple[str, int]]:
    """The files of a folder and of the folders in it, with their sizes; links may form cycles, or lead anywhere."""
    folders = [("", place)]
    for prefix, folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield prefix + entry.name, entry.stat(follow_symlinks=False).st_size
                elif not prefix and entry.is_dir(follow_symlinks=False):
                    folders.append((f"{entry.name}/", entry.path))


def _portable(path: str, place: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{place} contains {os.fsencode(path)!r}, a name that is not UTF-8; rename or remove that file"
        ) from error
    return path


#: Objects of object storage that stay on this machine for other readers.
_CACHED: Final = 4


def _named(sizes: Mapping[str, int], digests: Mapping[str, str], place: str) -> tuple[StoredObject, ...]:
    objects: dict[ObjectName, StoredObject] = {}
    for path in sorted(sizes):
        # A flat folder has the names that a browser gives to downloads, whose slash is written %2F.
        name = read_name(path)
        if name is None or not name.readable or name.kind != UPDATES or name.after >= name.up_to:
            continue
        stored = StoredObject(name, path, digests.get(path, ""))
        known = objects.setdefault(name, stored)
        if known is not stored and sizes[known.location] != sizes[path]:
            raise InputError(
                f"{place}: {known.location} and {path} have the same name and different lengths; remove one of them"
            )
    return tuple(objects.values())


def _local(place: str) -> pa_fs.FileSystem:
    folder = Path(place).absolute()
    if not folder.is_dir():
        raise InputError(f"{place!r} is not a folder: give a folder of objects, or a URL such as 's3://bucket/objects'")
    try:
        return pa_fs.SubTreeFileSystem(str(folder), pa_fs.LocalFileSystem())
    except UnicodeEncodeError as error:
        raise InputError(f"{place!r} is a name that is not UTF-8; rename the folder") from error


def _remote(place: str, options: Mapping[str, str]) -> pa_fs.FileSystem:
    parts = urlsplit(place)
    if parts.username or parts.password:
        raise InputError("the URL of the objects contains a user or password; give them in storage_options")
    try:
        from deltalake.fs import DeltaStorageHandler
    except ImportError as error:
        raise ConfigurationError(
            "objects in a bucket need deltalake; install it with: pip install 'ledgerframes[lake]'"
        ) from error

    with _listing(place):
        return pa_fs.PyFileSystem(DeltaStorageHandler(place, dict(options)))


def _digests(files: pa_fs.FileSystem, place: str) -> dict[str, str]:
    """The digests of the list, by path."""
    with _listing(place), files.open_input_file(DIGESTS) as file:
        text = bytes(file.read())
    return read_digests(text, place)


def read_digests(text: bytes, place: str) -> dict[str, str]:
    """The digests of a list as `sha256sum` writes it, by path.

    Raises:
        InputError: it is not such a list.
    """
    digests = {}
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        entry = _LINE.fullmatch(line)
        if entry is None:
            raise InputError(
                f"{place}: line {number} of {DIGESTS} is not valid: {line[:80]!r}; lines are as sha256sum writes them,"
                " or remove the file to read without digests"
            )
        digests[entry[2].removeprefix("./")] = entry[1]
    return digests


@contextmanager
def _listing(place: str) -> Iterator[None]:
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, ValueError, DeltaError, pa.ArrowException) as error:
        raise StoreError(
            f"{place} cannot be listed: {' '.join(str(error).split())[:300]}. Check the path and storage_options"
        ) from error


@contextmanager
def _readable(stored: StoredObject, place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise DecodeError(
            f"{place}: {stored.location} cannot be read: {' '.join(str(error).split())[:300]}. Is it still there? Open"
            " the folder again",
            item=stored.location,
        ) from error


def _file(stored: StoredObject) -> str:
    return f"{hashlib.sha256(os.fsencode(stored.location)).hexdigest()}.zstd"
