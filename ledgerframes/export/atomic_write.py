"""Files written aside and moved to their places when all are whole; every writer of files calls it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ledgerframes.errors import InputError

_ASIDE: Final = ".ledgerframes-"
_LOCK: Final = "lock"
_IN_USE: Final = (5, 32, 33)  # what Windows says of a file that Excel, say, has open
_REMEDY: Final = "name another place or make room"
_WHOLE: Final = "whole"  # the folder of files that are to be moved, all of them
_GONE: Final = "gone"  # the folder with the names of those that are to be removed then
_SCHEME: Final = re.compile(r"\w{2,}:")
_PARTITION: Final = re.compile(r"[a-z_]+=[0-9-]+|part-\d+\.parquet", re.ASCII)


@contextmanager
def writing(place: str | os.PathLike[str]) -> Iterator[None]:
    """Add to an operating system's error what was being written, and the remedy.

    A name that no file can have (a NUL in it, half a character) is a ValueError of Python's own.
    """
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        in_use = getattr(error, "winerror", None) in _IN_USE
        remedy = "close the program that has it open, or name another place" if in_use else _REMEDY
        raise InputError(f"cannot write {os.fspath(place)!r}: {error}; {remedy}") from error


class Staging:
    """A hidden folder next to the final places; its files are moved there by `commit`, or else forgotten.

    A move that an earlier, killed run had begun is finished at the start; anything else that it left is removed.
    """

    def __init__(self, folder: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Name the folder of the final places, made if it is not there.

        Args:
            folder: the final folder of the files.
            overwrite: whether they may take the places of others.
        """
        self._folder = Path(folder)
        self._overwrite = overwrite
        self._names: list[str] = []
        self._life = ExitStack()

    def __enter__(self) -> Self:
        """Make the hidden folder."""
        _refuse_elsewhere(self._folder)
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            _sweep(self._folder)
            self._aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=self._folder)).absolute()
            self._life.callback(_forget, self._aside)
            _taken(self._aside / _LOCK, self._life)
            (self._aside / "new").mkdir(parents=True)  # an export next to it may have swept the folder before the lock
            (self._aside / "old").mkdir()
            (self._aside / _GONE).mkdir()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove the hidden folder, unless a move that it was in could not be finished."""
        self._life.close()

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        return self._aside

    def place(self, name: str) -> Path:
        """Where to write what will be called `name` in the final folder.

        Raises:
            InputError: the name is taken and may not be overwritten, or never may: a link, or somebody else's folder.
        """
        _refuse_elsewhere(Path(name))
        with writing(self._folder / name):
            refuse_taken(self._folder / name, overwrite=self._overwrite)
        self._names.append(name)
        return self._aside / "new" / name

    def supersede(self, names: Iterable[str]) -> None:
        """Remove, once everything is in its place, what an earlier run wrote under these names and this one did not."""
        for name in {*names} - {*self._names}:
            with writing(self._folder / name):
                (self._aside / _GONE / name).touch()

    def final(self, name: str) -> Path:
        """The final path of a file, for messages and reports."""
        return self._folder / name

    def commit(self) -> None:
        """Move everything to its place, each file safe on disk before; a move once begun is finished by the next run.

        Raises:
            InputError: a name was taken meanwhile, or the disk refuses.
        """
        for name in self._names:
            with writing(self._folder / name):
                refuse_taken(self._folder / name, overwrite=self._overwrite)
        with writing(self._folder):
            for path in sorted((self._aside / "new").rglob("*")):
                _sync(path)
            _sync(self._aside / _GONE)
            (self._aside / "new").rename(self._aside / _WHOLE)
            _sync(self._aside)
        _move(self._aside, self._folder)


def _move(aside: Path, folder: Path) -> None:
    """Move what is whole, or what is left of it where an earlier run was killed, to its places.

    Raises:
        InputError: a name was taken meanwhile, or the disk refuses.
    """
    for new in sorted((aside / _WHOLE).iterdir()):
        final = folder / new.name
        with writing(final):
            refuse_taken(final, overwrite=True)
            if final.is_dir():
                final.rename(aside / "old" / final.name)
            new.replace(final)
    for name in sorted(path.name for path in (aside / _GONE).glob("*")):
        with writing(folder / name):
            if _is_ours(folder / name):
                (folder / name).rename(aside / "old" / name)
            (aside / _GONE / name).unlink()
    with writing(folder):
        _sync(folder)
        (aside / _WHOLE).rmdir()


def _refuse_elsewhere(path: Path) -> None:
    """Refuse standard output, and an object store: of `s3://bucket` a Path keeps `s3:/bucket`, a folder here."""
    if str(path) == "-":
        raise InputError(
            "'-' is not a file or folder here; `ledgerframes load` and `sql` write CSV to standard output with -o -"
        )
    if _SCHEME.fullmatch("".join(path.parts[:1])):
        raise InputError(f"{str(path)!r} is not a folder of this machine; write to one and copy it from there")


def _forget(aside: Path) -> None:
    if not (aside / _WHOLE).exists():
        _remove(aside)


def _remove(aside: Path) -> None:
    """Remove a hidden folder, its lock last: a later run sweeps what has one, if this one is killed."""
    for path in aside.glob("*/"):
        shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(aside, ignore_errors=True)


def refuse_taken(final: Path, *, overwrite: bool) -> None:
    """Refuse a place that is taken and may not be overwritten, or never may: a link, or somebody else's folder."""
    if final.is_symlink():
        raise InputError(f"{str(final)!r} is a link and would lead elsewhere; remove it or name another place")
    if not final.exists():
        return
    if not overwrite:
        raise InputError(f"{str(final)!r} already exists; pass overwrite=True, or name another place")
    staged_folder = not final.suffix
    if final.is_dir() and not (staged_folder and _only_partitions(final)):
        raise InputError(
            f"cannot write {str(final)!r}: a folder with other things in it is there; move it or name another place"
        )
    if not final.is_dir() and not final.is_file():
        raise InputError(f"{str(final)!r} is a device, not a file; name another one")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written before the load, not after it; nothing is made yet.

    Raises:
        InputError: the folder, or the nearest one above it that is there, cannot be written.
    """
    _refuse_elsewhere(folder)
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if os.access(parent, os.F_OK))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to {str(folder)!r}: {str(there)!r} is not a writable folder; name another one")


def write_text(target: Path, text: str, *, overwrite: bool) -> None:
    """Write one file of text, whole or not at all.

    Raises:
        InputError: the name is taken and may not be overwritten, is a link, or cannot be written.
    """
    with Staging(target.parent, overwrite=overwrite) as staging:
        with writing(target):
            staging.place(target.name).write_text(text, encoding="utf-8")
        staging.commit()


def _is_ours(path: Path) -> bool:
    """Whether a path that an earlier export had written still leads to a file, or a folder of its own."""
    return not path.is_symlink() and (path.is_file() or (path.is_dir() and _only_partitions(path)))


def _only_partitions(folder: Path) -> bool:
    """Whether a folder contains only the partitions, or the semantic model, of an earlier export."""

    def ours(path: Path) -> bool:
        model = path.suffix == ".tmdl" or (path.name == "tables" and path.is_dir())
        return (bool(_PARTITION.fullmatch(path.name)) or model) and not path.is_symlink()

    return all(map(ours, folder.rglob("*")))


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, survive a loss of power; Windows has no such call for folders."""
    if path.is_dir() and sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Finish the moves of processes that are gone, and remove their hidden folders."""
    for aside in folder.glob(f"{_ASIDE}*"):
        with ExitStack() as locks:
            if aside.is_symlink() or not (aside / _LOCK).is_file() or not _taken(aside / _LOCK, locks):
                with suppress(OSError):  # left before it had a lock; one that is not empty stays
                    aside.rmdir()
                continue
            if (aside / _WHOLE).is_dir():
                _move(aside, folder)
        _remove(aside)


def _taken(path: Path, locks: ExitStack) -> bool:
    """Take a lock if it is free, until the stack closes or the process ends; without locks, nothing is ever swept."""
    from filelock import FileLock

    try:
        locks.enter_context(FileLock(path, blocking=False))
    except (OSError, NotImplementedError):  # filelock's Timeout is an OSError
        return False
    return True
