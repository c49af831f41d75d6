"""`open_store` opens a store by its folder or URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec

import pyarrow as pa

from ledgerframes.arguments import path as read_path
from ledgerframes.errors import ConfigurationError
from ledgerframes.store.lake import Lake
from ledgerframes.store.store import Store


def open_store(
    path: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, str] | None = None,
    personal: bool | None = None,
) -> Store:
    """Open a lake: a history and snapshots kept as Delta Lake tables.

    Nothing is created yet, and nothing is read unless `personal` is given. Arrow allocates with jemalloc from then on,
    where it would have taken mimalloc without having been told to.

    Args:
        path: a folder, or an object-store URL such as `s3://bucket/lake`.
        storage_options: credentials and settings of the object store, as deltalake takes them.
        personal: False makes a lake without personal data: the contact points of validators' operators are removed
            from what is synced, `extra` lists them row by row, and `rebuild_items` refuses its history. The choice is
            permanent; omit `personal` to keep whatever the lake was created with.

    Returns:
        The store. Its tables appear with the first `sync`.

    Raises:
        InputError: the path is not valid.
        StoreError: the path is a file, or the lake was created with another `personal`.
        ConfigurationError: deltalake was removed from the environment.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=200) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     len(store.load("updates"))
        200
    """
    if find_spec("deltalake") is None:
        raise ConfigurationError("a lake needs deltalake; install it with: pip install 'ledgerframes[lake]'")
    _choose_memory_pool()
    lake = Lake(read_path(path, "path"), storage_options=storage_options, personal=personal)
    if personal is not None:
        lake.keeps_personal()
    return Store(lake)


def _choose_memory_pool() -> None:
    """Let Arrow allocate with jemalloc, which reads a lake in half of mimalloc's time, or less, and in less memory.

    That is Arrow's own default from 21.0 on. What the user chose stays: a variable of Arrow's, or another pool.
    """
    if "ARROW_DEFAULT_MEMORY_POOL" in os.environ or pa.default_memory_pool().backend_name != "mimalloc":
        return
    with suppress(NotImplementedError):  # it is not part of every build
        pa.set_memory_pool(pa.jemalloc_memory_pool())
