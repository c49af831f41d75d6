"""A stored table as a Dask DataFrame, one partition per file; `Store.dask` calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from ledgerframes.errors import InputError
from ledgerframes.frames import Decimals, shape
from ledgerframes.store.delta.storage_errors import damage_named
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import Part, load_table
from ledgerframes.store.stored_tables import declared

if TYPE_CHECKING:
    import pandas as pd


class StorageOptions:
    """A store's storage options in the process that opened it; pickling drops them, since they may be credentials.

    Other processes take credentials from their own environment.
    """

    def __init__(self, here: Mapping[str, str]) -> None:
        self.here = here

    def __reduce__(self) -> tuple[Any, ...]:
        return StorageOptions, ({},)

    def __dask_tokenize__(self) -> str:
        return "storage options"

    def __repr__(self) -> str:
        return "<storage options>"


def dask_frame(lake: Lake, part: Part, columns: Sequence[str], *, decimals: Decimals) -> Any:
    """The rows of a part as a Dask DataFrame, read when Dask computes.

    Raises:
        InputError: Dask is not installed.
    """
    try:
        import dask.dataframe
    except ImportError as error:
        raise InputError("store.dask needs Dask; install it with: pip install 'ledgerframes[dask]'") from error
    frames: Any = dask.dataframe  # it is untyped
    table = part.table.table
    empty = shape(table.schema.empty_table().select(list(columns)), table, decimals=decimals)
    paths = [] if part.table.handle is None else [file.path for file in part.data.get_fragments(filter=part.rows)]
    with dask.config.set({"dataframe.convert-string": False}):  # it would convert lists and amounts to text
        if not paths:
            return frames.from_pandas(empty, npartitions=1)
        return frames.from_map(
            read_file, sorted(paths), url=lake.base,
            options=StorageOptions(lake.options), name=table.name,
            version=part.table.version, columns=list(columns), rows=part.rows, decimals=decimals, meta=empty,
            enforce_metadata=False,
        )  # fmt: skip


def read_file(
    path: str,
    *,
    url: str,
    options: StorageOptions,
    name: str,
    version: int,
    columns: Sequence[str],
    rows: pc.Expression | None,
    decimals: Decimals,
) -> pd.DataFrame:
    """One file's rows; runs on any worker of Dask, so all arguments are plain values."""
    import pyarrow.dataset as ds

    table = declared(name)
    # Opened again by version: a handle of the Delta library cannot be sent to another process.
    stored = Lake(url, storage_options=options.here).table(name).as_of(version)
    data = stored.dataset()
    files = [file for file in data.get_fragments() if file.path == path]
    with damage_named([stored]):
        file = ds.FileSystemDataset(files, data.schema, data.format, data.filesystem)
        rows_of_file = load_table(file, columns, rows, table)
    frame: pd.DataFrame = shape(rows_of_file, table, decimals=decimals)
    return frame
