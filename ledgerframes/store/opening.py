"""`open_store`: a lake by its place."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ledgerframes.store.lake import Lake
from ledgerframes.store.store import Store
from ledgerframes.store.stored_files import Verify


def open_store(
    path: str | os.PathLike[str], *, storage_options: Mapping[str, str] | None = None, verify: Verify = "pages"
) -> Store:
    """Open a lake: a history and snapshots kept as Delta Lake tables. Nothing is read or made yet.

    Args:
        path: a folder, or an object-store URL such as `s3://bucket/lake`.
        storage_options: credentials and settings of the object store, as deltalake takes them.
        verify: what is checked of every file that is read: `"pages"`, the pages that are needed, against their
            checksums, and the footer; or `"files"`, all bytes of it against its digest, which reads whole files
            where a few columns would do.

    Raises:
        InputError: the path or `verify` is not valid.
        StoreError: the path is a file.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=200) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     len(store.load("updates"))
        200
    """
    return Store(Lake(path, storage_options=storage_options, verify=verify))
