"""`LakeFile`: the contents of a lake's `lake.json`, and access to its other files except tables; `Lake` uses them.

The coverage document names every table except `updates`, whose log names the document. That log cannot show that it
lost entries, or that all of it is gone: either looks like a valid older state. So every writer ends by recording here
the state in which it left `updates`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.data_files import put_file
from ledgerframes.store.delta.listing import Named
from ledgerframes.store.delta.storage_errors import plain_errors
from ledgerframes.store.sealed import unsealed

if TYPE_CHECKING:
    import pyarrow.fs as pa_fs

#: The file, in the root of a lake.
NAME: Final = "lake.json"
#: The format of lakes that this version writes and reads.
FORMAT: Final = 5


class LakeFile(msgspec.Struct, frozen=True):
    """The contents of the file.

    Attributes:
        format: see `FORMAT`.
        personal: whether personal data is kept.
        updates: the state in which the last writer left `updates`.
    """

    format: int = FORMAT
    personal: bool = True
    updates: Named = Named()


def decoded(content: bytes, url: str) -> LakeFile:
    """Decode the bytes of a file.

    Args:
        content: the bytes.
        url: the lake, for messages.

    Raises:
        StoreError: they are damaged, or were written by another version.
    """
    file = unsealed(content, LakeFile)
    if file is None:
        raise StoreError(
            f"{url}: {NAME}, which records how the lake was left, is damaged. store.repair() makes it again from the"
            " tables that are there; or restore it from a copy"
        )
    if file.format != FORMAT:
        raise StoreError(
            f"{url}: this lake has format {file.format}, and this version of ledgerframes reads {FORMAT}; install the"
            " version that wrote it, or sync into a new lake"
        )
    return file


def read_file(url: str, options: Mapping[str, str], name: str = NAME) -> bytes | None:
    """The bytes of `lake.json` or of another file of a lake; None if it does not exist.

    Raises:
        StoreError: the storage refused.
    """
    if "://" not in url:
        try:
            return Path(url, name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{url}: {name} cannot be read: {error}; check its owner and permissions") from error
    import pyarrow.fs as pa_fs

    with plain_errors(url, "be read"):
        files = _files(url, options)
        if files.get_file_info(name).type == pa_fs.FileType.NotFound:
            return None
        with files.open_input_stream(name) as opened:
            content: bytes = opened.read()
    return content


def write_file(url: str, options: Mapping[str, str], content: bytes) -> None:
    """Replace the file of a lake, completely or not at all.

    Raises:
        StoreError: the storage refused.
    """
    with plain_errors(url, "be written"):
        if "://" in url:
            put_file(url, options, NAME, content)
            return
        folder = Path(url)
        folder.mkdir(parents=True, exist_ok=True)
        aside = folder / f".{NAME}.{os.getpid()}"
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(folder / NAME)


def has_tables(url: str, options: Mapping[str, str]) -> bool:
    """Whether there are Delta tables below a location, no matter who created them."""
    if "://" not in url:
        return any(Path(url).glob("*/_delta_log"))
    import pyarrow.fs as pa_fs

    with plain_errors(url, "be read"):
        listed = _files(url, options).get_file_info(pa_fs.FileSelector("", allow_not_found=True, recursive=True))
    return any("/_delta_log/" in f"/{info.path}" for info in listed)


def create_file(url: str, options: Mapping[str, str], name: str, content: bytes) -> None:
    """Store a new file of a lake.

    Raises:
        StoreError: it already exists, or the storage refused.
    """
    if read_file(url, options, name) is not None:
        raise StoreError(f"{url}: {name} already exists: another writer changed the store at the same time")
    with plain_errors(url, "be written"):
        put_file(url, options, name, content)


def files_in(url: str, options: Mapping[str, str], folder: str) -> list[str]:
    """The names of the files in a folder of a lake."""
    import pyarrow.fs as pa_fs

    with plain_errors(url, "be read"):
        listed = _files(url, options).get_file_info(pa_fs.FileSelector(folder, allow_not_found=True))
    return [info.base_name for info in listed if info.type == pa_fs.FileType.File]


def remove_file(url: str, options: Mapping[str, str], name: str) -> None:
    """Remove a file of a lake."""
    with plain_errors(url, "be cleaned"):
        _files(url, options).delete_file(name)


def _files(url: str, options: Mapping[str, str]) -> pa_fs.FileSystem:
    import pyarrow.fs as pa_fs

    if "://" not in url:
        return pa_fs.SubTreeFileSystem(url, pa_fs.LocalFileSystem())
    from deltalake.fs import DeltaStorageHandler

    return pa_fs.PyFileSystem(DeltaStorageHandler(url, dict(options)))
