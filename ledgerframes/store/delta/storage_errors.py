"""Turns errors of the storage, its library and damaged files into StoreErrors with location and remedy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ledgerframes.errors import StoreError, storage_words

if TYPE_CHECKING:
    from ledgerframes.store.delta.table import DeltaStoreTable

_LONGEST: Final = 500

#: The process in which deltalake first ran. Its threads belong to that process, for all stores, and a fork does not
#: carry them over; only a process-wide note can show that.
_started_in: list[int] = []
#: The errors that Arrow raises when it cannot read a file.
_READ_ERRORS: Final = (OSError, pa.ArrowException, StoreError)


@contextmanager
def plain_errors(url: str, verb: str) -> Iterator[None]:
    """Turn an error of the storage into a StoreError with location and remedy.

    Raises:
        StoreError: the storage refused, another writer was first, or this process cannot use stores.
    """
    from deltalake.exceptions import CommitFailedError, DeltaError

    refuse_after_fork(url)
    try:
        yield
    except CommitFailedError as error:
        raise StoreError(
            f"{url} cannot {verb}: another writer changed the store at the same time ({storage_words(error)}). Nothing"
            " is lost: run sync again"
        ) from error
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise _explained(url, verb, error) from error
    except BaseException as error:
        if is_panic(error):
            raise _explained(url, verb, error) from error
        raise


def is_there(url: str, part: str) -> bool:
    """Whether a local folder has a part; a folder that this user may not enter does not answer that.

    Raises:
        StoreError: this user may not enter the folder.
    """
    with plain_errors(url, "be read"):
        try:
            Path(url, part).stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
    return True


def refuse_after_fork(url: str) -> None:
    """Refuse a process that was forked from one in which a store was used.

    Raises:
        StoreError: it was forked from one.
    """
    if not _started_in:
        _started_in.append(os.getpid())
    if _started_in[0] != os.getpid():
        raise StoreError(
            f"{url}: this process was forked from one that had used a store, and the storage library does not work"
            " after a fork. Start processes with multiprocessing.get_context('spawn') or 'forkserver', or use stores"
            " in the children only"
        )


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust panicked; a panic is not an ordinary exception and has no importable class."""
    return type(error).__name__ == "PanicException"


def _explained(url: str, verb: str, error: BaseException) -> StoreError:
    text = storage_words(error)
    # A log without a checkpoint is read by opening all its entries at once.
    if "too many open files" in text.lower():
        return StoreError(
            f"too many open files: raise ulimit -n, to 1024 for example. {url} cannot {verb}: {text[:_LONGEST]}. What"
            " was committed before stays"
        )
    return StoreError(f"{url} cannot {verb}: {text[:_LONGEST]}. {_advice(text, verb)}")


def _advice(text: str, verb: str) -> str:
    lowered = text.lower()
    if "no space" in lowered or "quota" in lowered or "os error 28" in lowered:
        return "The disk is full: free some space and run sync again; what was committed stays"
    if "nosuchbucket" in lowered:
        return "There is no such bucket: create it, or fix the URL"
    if "accessdenied" in lowered or "403 forbidden" in lowered or "signaturedoesnotmatch" in lowered:
        return "The object store refuses the credentials: check storage_options, or the variables that it reads"
    if "error sending request" in lowered or "connection refused" in lowered or "error trying to connect" in lowered:
        return "The object store cannot be reached: check the endpoint in storage_options and the network"
    if "permission" in lowered or "read-only" in lowered or "os error 13" in lowered or "os error 30" in lowered:
        done = "read" if verb == "be read" else "written"
        return f"The folder cannot be {done}: check its owner and permissions, or open a store elsewhere"
    if verb == "be read":
        remedy = "fix the storage, restore the folder from a copy or run store.repair(), and then sync again"
        return f"What was committed before stays; {remedy}"
    return "What was committed before stays; fix the storage, or restore the folder from a copy, and run sync again"


def may_be_damage(error: BaseException) -> bool:
    """Whether an error of a read may come from a damaged file."""
    import duckdb

    # DuckDB counts what it asks for itself: no file makes that more. And Ctrl-C is no news of a file.
    if isinstance(error, duckdb.OutOfMemoryException | duckdb.InterruptException):
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
    storage_words(error)  # removes credentials from it: it is shown, whether or not a file is damaged
    for table in tables:
        for damage in table.files.damages(full=True):
            raise StoreError(str(damage)) from error
