"""`SegmentWriter`: writes one segment of objects aside, split at a size; it appears under its name once it is whole."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ledgerframes.errors import StoreError
from ledgerframes.objects.names import ObjectName

if TYPE_CHECKING:
    from hashlib import _Hash

#: Bytes of lines in one frame, about as other writers have it.
_FRAME: Final = 8 * 2**20
_LEFT_FREE: Final = 64 * 2**20


@dataclass
class SegmentWriter:
    """The objects of one segment.

    Attributes:
        folder: a hidden folder on the disk of the final one; `finish` renames it.
        object_bytes: begin another object after so many compressed bytes.
        updates: how many items were written.
        size: how many compressed bytes.
        digests: the SHA-256 of each object, in hexadecimal digits.
    """

    folder: Path
    object_bytes: int
    updates: int = 0
    size: int = 0
    digests: list[str] = field(default_factory=list)
    _lines: list[bytes] = field(default_factory=list)
    _held: int = 0
    _own: int = 0  # of the object that is written
    _sha256: _Hash = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> None:
        """Write an item.

        Raises:
            StoreError: the disk is full, or cannot be written.
        """
        self._lines.append(line)
        self._held += len(line)
        self.updates += 1
        if self._held >= min(_FRAME, self.object_bytes):
            self._write_frame()

    def finish(self, after: int, up_to: int, target: Path) -> list[tuple[str, str]]:
        """Give the segment its name; gives the digest and the path of each object.

        Args:
            after: the record time where it begins, exclusive.
            up_to: where it ends, inclusive.
            target: the folder of segments.

        Raises:
            StoreError: the disk is full, or cannot be written.
        """
        if self._lines:
            self._write_frame()
        if self._own:
            self._end_object()
        names = [str(ObjectName(after, up_to, number)) for number in range(len(self.digests))]
        final = target / names[0].partition("/")[0]
        try:
            sync_folder(self.folder)
            self.folder.rename(final)
            sync_folder(target)
        except OSError as error:
            raise unwritable(final, error) from error
        return list(zip(self.digests, names, strict=True))

    def _write_frame(self) -> None:
        data = pa.compress(b"".join(self._lines), codec="zstd", asbytes=True)
        self._lines, self._held = [], 0
        free = shutil.disk_usage(self.folder).free
        if free < len(data) + _LEFT_FREE:
            raise StoreError(
                f"{str(self.folder.parent)!r} has {free / 1e6:,.0f} MB free, and 67 MB are left to other programs. Free"
                " space there and run the export again: it continues after the segments that are there"
            )
        try:
            with self._file().open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(self.folder.parent, error) from error
        self._sha256.update(data)
        self._own += len(data)
        self.size += len(data)
        if self._own >= self.object_bytes:
            self._end_object()

    def _end_object(self) -> None:
        self.digests.append(self._sha256.hexdigest())
        self._sha256, self._own = hashlib.sha256(), 0

    def _file(self) -> Path:
        return self.folder / str(ObjectName(0, 0, len(self.digests))).rpartition("/")[2]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power; Windows has no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(place: Path, error: OSError) -> StoreError:
    """The error for a folder that refuses what is written."""
    return StoreError(
        f"{str(place)!r} cannot be written: {error.strerror or error}; free space or name another folder. An export"
        " continues after the segments that are there"
    )
