"""The requirements of a store on a Dask cluster, checked before work is handed to it; syncs and `derive` call it."""

from __future__ import annotations

from typing import Any

from ledgerframes.errors import InputError


def check_engine(engine: Any) -> None:
    """Refuse anything that is not a cluster's client.

    Raises:
        InputError: it is not a `dask.distributed.Client`.
    """
    if not all(hasattr(engine, name) for name in ("submit", "scheduler_info", "cancel")):
        raise InputError(
            f"engine={type(engine).__name__} is not a dask.distributed Client; make one with Client(address)"
        )


def worker_count(engine: Any) -> int:
    """The number of workers of a cluster, at least 1."""
    return max(len(engine.scheduler_info(n_workers=-1)["workers"]), 1)
