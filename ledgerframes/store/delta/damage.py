"""Names the damaged file behind an error of a read; every read of rows goes through it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.storage_errors import is_panic
from ledgerframes.store.delta.table import DeltaStoreTable

#: The errors that Arrow raises when it cannot read a file.
_READ_ERRORS: Final = (OSError, pa.ArrowException, StoreError)


def may_be_damage(error: BaseException) -> bool:
    """Whether an error of a read may come from a damaged file."""
    import duckdb

    # DuckDB counts what it asks for itself: no file makes that more.
    if isinstance(error, duckdb.OutOfMemoryException):
        return False
    return isinstance(error, (*_READ_ERRORS, duckdb.Error)) or is_panic(error)


@contextmanager
def damage_named(tables: Iterable[DeltaStoreTable]) -> Iterator[None]:
    """Turn an error of a read into a StoreError that names file, table, interval and remedy, if a file is damaged.

    The files are examined only after an error, down to the last byte.

    Raises:
        StoreError: a file is damaged.
    """
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        if not may_be_damage(error):
            raise
        # If no file is damaged, the error has another cause and stays as it is.
        raise_damage(tables, error)
        raise


def raise_damage(tables: Iterable[DeltaStoreTable], error: BaseException) -> None:
    """Raise a StoreError about the first damaged file of some tables, if there is one.

    Raises:
        StoreError: a file is damaged.
    """
    for table in tables:
        for damage in () if table.files is None else table.files.damages(full=True):
            raise StoreError(str(damage)) from error
