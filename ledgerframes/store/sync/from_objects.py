"""`objects_of`: the bulk objects of a scan and the folder they are kept in; syncs and a cluster's workers call it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerframes.errors import StoreError
from ledgerframes.objects.file_cache import FileCache
from ledgerframes.objects.lines import Ahead
from ledgerframes.objects.page_source import ObjectIndex
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.stopping import Stop
from ledgerframes.threads import spawn
from ledgerframes.timestamps import EARLIEST, LATEST

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan


@contextmanager
def objects_of(
    scan: Scan,
    settle: int,
    stop: Stop,
    *,
    cached: int = 1,
    required: bool = False,
    listed: tuple[int, int] = (EARLIEST, LATEST),
    ahead: Ahead = spawn,
) -> Iterator[ObjectIndex]:
    """The objects of a scan; while they are read they lie in a temporary folder.

    Args:
        scan: the interface.
        settle: how long before its end a segment may lack updates, in microseconds.
        stop: interrupts downloads.
        cached: how many objects stay for other readers after they were read.
        required: refuse a scan that has no objects.
        listed: the record times, (after, up_to], whose objects are listed.
        ahead: fetches the next object while another is read.

    Raises:
        InputError: the scan has no objects, and they are required.
        StoreError: the folder cannot be created.
    """
    ending = Stop(stop)
    try:
        folder = tempfile.TemporaryDirectory(prefix="ledgerframes-objects-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreError(
            f"cannot create a folder for objects: {error.strerror or error}; set TMPDIR to another folder"
        ) from error
    with folder:
        source = ScanObjects(scan, FileCache(Path(folder.name), capacity=cached)).stoppable(ending)
        index = ObjectIndex.listed(source, settle, listed, required=required, ahead=ahead)
        try:
            yield index
        finally:
            ending.set()  # a download may be under way
            index.readers.close()
