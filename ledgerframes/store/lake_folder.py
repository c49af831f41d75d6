"""`locked`, `check_folder`: a lake's folder on this machine, and who may write to it; `Lake` calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ledgerframes.errors import InputError, StoreError

_LOCK: Final = ".sync.lock"
#: Characters in a folder's path that the Delta Lake library decodes, treats as separators or fails on.
_MISREAD: Final = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|]")


@contextmanager
def locked(home: Path, url: str) -> Iterator[None]:
    """Hold the lock of a lake's folder, creating the folder if necessary.

    If nothing was written, the lock file and the folders created for it are removed again.

    Args:
        home: the folder.
        url: the lake, for messages.

    Raises:
        StoreError: another sync runs on it, or the folder cannot be created.
    """
    from filelock import FileLock, Timeout

    # The operating system frees this lock when its process ends, so a kill leaves no stale lock behind.
    lock = FileLock(home / _LOCK, blocking=False)
    missing = [folder for folder in (home, *home.parents) if not folder.exists()]
    try:
        try:
            home.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            exists = (home / _LOCK).exists()  # its last holder may have removed it meanwhile
        except Timeout:
            exists = False
        except OSError as error:
            raise StoreError(
                f"{url} cannot be written: {error}; check the folder's owner and permissions, or open a store elsewhere"
            ) from error
        if not exists:
            raise StoreError(
                f"{url}: another sync is running on this store; wait for it, or stop it. The lock ends with"
                " its process, even if that is killed"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # on Windows its release removes it
                if [path.name for path in home.iterdir()] == [_LOCK]:
                    (home / _LOCK).unlink()
    finally:
        lock.release(force=True)  # also if a signal interrupted its acquisition
        with suppress(OSError):  # a folder that is not empty stays
            for folder in missing:
                folder.rmdir()


def check_folder(folder: Path) -> None:
    """Refuse a path that is not a folder, or that deltalake would misread as another one."""
    misread = _MISREAD.search(folder.as_posix())
    if misread or not folder.as_posix().isprintable():
        sign = misread[0] if misread else "an unprintable character"
        raise InputError(
            f"{str(folder)!r} contains {sign!r}, which deltalake may misread as another folder; name one without it"
        )
    try:
        is_other = folder.exists() and not folder.is_dir()
    except OSError as error:
        raise InputError(f"{str(folder)[:80]!r} cannot be a folder: {error.strerror}; name another location") from error
    if is_other:
        raise StoreError(f"{folder} is a file; a store is a folder. Name another location")
