"""Where a sync keeps the objects that it reads, and how it comes by them; `sync` calls it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerframes.errors import StoreError
from ledgerframes.objects.kept_files import KeptFiles
from ledgerframes.objects.page_source import ObjectIndex
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.store.lake import Lake
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.table_sets import HISTORY, TableSet
from ledgerframes.transport.stopping import Stop

if TYPE_CHECKING:
    from ledgerframes.network import Network


@contextmanager
def objects_for(
    lake: Lake, net: Network, request: SyncRequest, of: TableSet, stop: Stop
) -> Iterator[ObjectIndex | None]:
    """The objects that a sync reads; None where it reads pages alone.

    They lie in a folder of their own, which is removed in the end. A sync that was killed leaves it there: what it has
    downloaded in whole is not downloaded again by the next one.

    Raises:
        InputError: the scan has no objects, and they are required.
        StoreError: the folder cannot be made.
    """
    # Pages of an opened folder come from objects already.
    if request.source == "pages" or of is not HISTORY or not net.is_remote:
        yield None
        return
    folder = _own_folder(lake.url)
    ending = Stop(stop)
    source = ScanObjects(net.scan, KeptFiles(folder, kept=request.workers)).stoppable(ending)
    index = ObjectIndex(source, request.settle_micros, request.source == "objects", ahead=request.drive.ahead)
    try:
        index.prepare()
        yield index
    finally:
        ending.set()  # a download may be under way
        index.close()
        shutil.rmtree(folder, ignore_errors=True)


def _own_folder(url: str) -> Path:
    """The folder for a lake's objects, which no other user can read or put files into.

    Raises:
        StoreError: it cannot be made, or belongs to somebody else.
    """
    # Only one sync of a lake runs at a time, so nobody else uses the folder.
    folder = Path(tempfile.gettempdir()) / f"ledgerframes-objects-{hashlib.sha256(url.encode()).hexdigest()[:16]}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if not stat.S_ISDIR(found.st_mode) or not own:
            raise StoreError(f"{str(folder)!r} belongs to somebody else; set TMPDIR to a folder of your own")
        for part in folder.glob(".*.part"):
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{str(folder)!r} cannot be used for objects: {error.strerror or error}; set TMPDIR to another folder"
        ) from error
    return folder
