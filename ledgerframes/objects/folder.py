"""`FolderObjects`: the objects of a folder on disk or in object storage; `open_objects` lists and reads them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.fs as pa_fs

from ledgerframes.config.settings import holds_secret
from ledgerframes.errors import ConfigurationError, DecodeError, InputError, StoreError, storage_words
from ledgerframes.objects.names import UPDATES, ObjectName, StoredObject, read_name

#: Bytes that are requested from object storage at once.
_BUFFER: Final = 8 * 2**20


@dataclass(frozen=True)
class FolderObjects:
    """Objects below one folder.

    Attributes:
        place: the folder or the URL, without anything secret.
        files: the file system, rooted there.
    """

    place: str
    files: pa_fs.FileSystem

    def opened(self, objects: Sequence[StoredObject]) -> Generator[Any]:
        """The compressed bytes of objects in turn.

        Raises:
            DecodeError: an object is gone or cannot be read.
        """
        for stored in objects:
            try:
                file = self.files.open_input_file(stored.location)
            except (OSError, pa.ArrowException) as error:
                raise DecodeError(
                    f"{self.place}: {stored.location} cannot be read: {storage_words(error)[:300]}. Is it still there?"
                    " Open the folder again",
                    item=stored.location,
                ) from error
            with file:
                # Every read from object storage is a request.
                yield pa.PythonFile(BufferedReader(file, _BUFFER), "r") if "://" in self.place else file


def folder_objects(place: str, options: Mapping[str, str]) -> tuple[FolderObjects, list[StoredObject]]:
    """List the objects of updates below a folder, each name once; locations are paths below it.

    Args:
        place: a folder, or a URL of object storage.
        options: for the object storage, as deltalake takes them.

    Raises:
        InputError: there is no such folder, it has no objects, or one name occurs twice.
        StoreError: the object storage refused.
    """
    files, sizes = _remote(place, options) if "://" in place else _local(place)
    objects = _named(sizes, place)
    if not objects:
        raise InputError(
            f"{place}: there are no objects of updates here; they have names such as"
            f" 2026-01-01T00:00:00Z~2026-01-02T00:00:00Z/{UPDATES}_compact_json_0.zstd, and links are not followed"
        )
    return FolderObjects(place, files), objects


def _local(place: str) -> tuple[pa_fs.FileSystem, dict[str, int]]:
    folder = Path(place).absolute()
    if not folder.is_dir():
        raise InputError(f"{place!r} is not a folder: give a folder of objects, or a URL such as 's3://bucket/objects'")
    try:
        files = pa_fs.SubTreeFileSystem(str(folder), pa_fs.LocalFileSystem())
        return files, dict(_two_levels(place))
    except UnicodeEncodeError as error:
        raise InputError(f"{place!r} is a name that is not UTF-8; rename the folder") from error
    except OSError as error:
        raise _unlisted(place, error) from error


def _remote(place: str, options: Mapping[str, str]) -> tuple[pa_fs.FileSystem, dict[str, int]]:
    if holds_secret(place):
        raise InputError("the URL of the objects contains a user, a password or a query; use storage_options")
    try:
        from deltalake.exceptions import DeltaError
        from deltalake.fs import DeltaStorageHandler
    except ImportError as error:
        raise ConfigurationError(
            "objects in a bucket need deltalake; install it with: pip install 'ledgerframes[lake]'"
        ) from error
    try:
        files = pa_fs.PyFileSystem(DeltaStorageHandler(place, dict(options)))
        found = files.get_file_info(pa_fs.FileSelector("", recursive=True))
    except (OSError, ValueError, DeltaError, pa.ArrowException) as error:
        raise _unlisted(place, error) from error
    return files, {str(info.path): info.size for info in found if info.type == pa_fs.FileType.File}


def _unlisted(place: str, error: Exception) -> StoreError:
    return StoreError(f"{place} cannot be listed: {storage_words(error)[:300]}. Check the path and storage_options")


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


def _named(sizes: Mapping[str, int], place: str) -> list[StoredObject]:
    """The files that are objects of updates.

    Raises:
        InputError: two of different lengths have one name, or a name is not UTF-8.
    """
    objects: dict[ObjectName, StoredObject] = {}
    for path in sorted(sizes):
        if path != path.encode(errors="replace").decode():
            raise InputError(
                f"{place} contains {os.fsencode(path)!r}, a name that is not UTF-8; rename or remove that file"
            )
        # A flat folder has the names that a browser gives to downloads, whose slash is written %2F.
        name = read_name(path)
        if name is None or name.after >= name.up_to:
            continue
        known = objects.setdefault(name, StoredObject(name, path))
        if sizes[known.location] != sizes[path]:
            raise InputError(
                f"{place}: {known.location} and {path} have the same name and different lengths; remove one of them"
            )
    return list(objects.values())
