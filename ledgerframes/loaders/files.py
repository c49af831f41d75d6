"""Writing loaded tables as Parquet: one file a table, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.errors import InputError


def write_parquet(tables: Mapping[str, pa.Table], folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Write each table as `NAME.parquet` (zstd), its columns' meanings in the schema.

    A file is written beside its place and moved there when it is whole, so a broken run leaves no half file.

    Args:
        tables: Arrow tables by name, as loaded with `as_="arrow"`.
        folder: where to; made if it is not there.

    Returns:
        The file of each table.

    Raises:
        InputError: the folder cannot be made or written.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        return {name: _write(table, target / f"{name}.parquet") for name, table in tables.items()}
    except OSError as error:
        raise InputError(f"cannot write to {str(target)!r}: {error}; name another folder or make room") from error


def _write(table: pa.Table, path: Path) -> Path:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as sink:
            pq.write_table(table, sink, compression="zstd")
            sink.flush()
            os.fsync(sink.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
