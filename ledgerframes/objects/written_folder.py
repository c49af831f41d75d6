"""`WrittenFolder`: a folder of objects that an export fills, segment by segment; a killed export is continued."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ledgerframes.errors import InputError, StoreError
from ledgerframes.objects.folder import DIGESTS, FolderObjects, folder_objects, read_digests
from ledgerframes.objects.history import page_of_lines
from ledgerframes.objects.lines import read_lines
from ledgerframes.objects.names import read_name
from ledgerframes.objects.written_segment import SegmentWriter, sync_folder, unwritable
from ledgerframes.paging.cursor import Cursor

_ASIDE: Final = ".objects-"
_LOCK: Final = ".export.lock"
_LINES: Final = 1_000
_BYTES: Final = 16 * 2**20


@dataclass(frozen=True)
class Written:
    """Where the objects of a folder end.

    Attributes:
        up_to: the end of the last segment, by its name.
        cursor: of the last item.
        update_id: its id.
    """

    up_to: int
    cursor: Cursor
    update_id: str


@dataclass(frozen=True)
class WrittenFolder:
    """The folder.

    Attributes:
        folder: where it is.
    """

    folder: Path

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for one export, and remove what a killed one has left.

        Raises:
            InputError: it holds something else.
            StoreError: another export writes into it, or it cannot be written.
        """
        from filelock import FileLock, Timeout

        self._check()
        lock = FileLock(self.folder / _LOCK, blocking=False)
        try:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock.acquire()
            except Timeout as error:
                raise StoreError(
                    f"{str(self.folder)!r}: another export writes into it; wait for it, or stop it"
                ) from error
            except OSError as error:
                raise unwritable(self.folder, error) from error
            self._prepare()
            yield
        finally:
            lock.release(force=True)  # also where a signal broke off how it was acquired

    def end(self) -> Written | None:
        """Where its objects end; None while there are none.

        Raises:
            InputError: an object of the list is gone.
            DecodeError: the last one is damaged.
        """
        if not self._digests():
            return None
        source = folder_objects(str(self.folder), {}, None)
        last = max((stored.name for stored in source.objects), default=None)
        return None if last is None else self._end(source, last.up_to)

    @contextmanager
    def segment(self, object_bytes: int) -> Iterator[SegmentWriter]:
        """A segment to be written; what is not finished is removed."""
        try:
            aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=self.folder))
            aside.chmod(0o755)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        try:
            yield SegmentWriter(aside, object_bytes)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def note(self, objects: list[tuple[str, str]]) -> None:
        """Add a segment to the list of digests: from here on it counts as written.

        Raises:
            StoreError: the list cannot be written.
        """
        self._list({**self._digests(), **{name: digest for digest, name in objects}})

    def _check(self) -> None:
        """Refuse a folder of something else, before anything is written into it."""
        others = [name for name in self._names() if name != _LOCK and not name.startswith(_ASIDE)]
        if others and DIGESTS not in others:
            raise InputError(
                f"{str(self.folder)!r} holds {others[0]!r} and no {DIGESTS}, so it is not an earlier export; name a new"
                " folder"
            )

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _prepare(self) -> None:
        self._check()  # once more: what was written meanwhile is not to be removed
        names = self._names()
        if DIGESTS not in names:
            self._list({})
        listed = {name.partition("/")[0] for name in self._digests()}
        for name in names:
            place = self.folder / name
            if name == f"{_ASIDE}{DIGESTS}":
                place.unlink(missing_ok=True)
            elif name.startswith(_ASIDE) or (name not in listed and _is_segment(place)):
                shutil.rmtree(place, ignore_errors=True)

    def _digests(self) -> dict[str, str]:
        try:
            text = (self.folder / DIGESTS).read_bytes()
        except OSError as error:
            raise unwritable(self.folder, error) from error
        return read_digests(text, str(self.folder))

    def _list(self, digests: dict[str, str]) -> None:
        target = self.folder / DIGESTS
        beside = self.folder / f"{_ASIDE}{DIGESTS}"
        try:
            with beside.open("w", encoding="ascii") as file:
                file.writelines(f"{digest}  {name}\n" for name, digest in digests.items())
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
            sync_folder(self.folder)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def _end(self, source: FolderObjects, up_to: int) -> Written | None:
        """The last item of the last segment."""
        own = max((stored for stored in source.objects if stored.name.up_to == up_to), key=lambda one: one.name)
        batch: list[bytes] = []
        with source.opened(own) as file:
            for lines in read_lines(file, str(own.name), lines=_LINES, most=_BYTES):
                batch = lines
        if not batch:
            return None
        glimpse = page_of_lines(batch[-1:], str(own.name)).glimpse
        return Written(up_to, glimpse.cursors[0], glimpse.update_ids[0])


def _is_segment(place: Path) -> bool:
    """Whether there is nothing in a folder but objects of the segment that it is named for."""
    if place.is_symlink() or not place.is_dir():
        return False
    return all(read_name(f"{place.name}/{path.name}") is not None for path in place.iterdir())
