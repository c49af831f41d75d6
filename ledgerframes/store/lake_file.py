"""`LakeFile`: what a lake's `lake.json` says: format, and each table as it was left; `Lake` reads and writes it.

A table's log cannot tell that it lost entries, or that it is gone as a whole: each of these is a valid older state. So
every sync, derive, repair and compaction ends by naming here the version and the rows of each table that it changed. A
table is named before it is made, so what is not named does not exist, and nothing has to be opened to find that out.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from ledgerframes.errors import StoreError
from ledgerframes.store.delta.data_files import put_file
from ledgerframes.store.delta.storage_errors import plain_errors

#: The file, in the root of a lake.
NAME: Final = "lake.json"
#: The format of lakes that this version writes and reads.
FORMAT: Final = 3


class Named(msgspec.Struct, frozen=True):
    """A table in the state that it was left in.

    Attributes:
        version: of the Delta table; -1 while it is being made.
        rows: how many it had, by its log.
        files: a checksum of the list of its files.
    """

    version: int = -1
    rows: int = 0
    files: int = 0


class LakeFile(msgspec.Struct, frozen=True):
    """What the file says.

    Attributes:
        format: see `FORMAT`.
        personal: whether personal data is kept.
        tables: every table of the lake, by name.
    """

    format: int = FORMAT
    personal: bool = True
    tables: dict[str, Named] = {}

    def having(self, tables: Mapping[str, Named]) -> LakeFile:
        """The same with some tables in another state."""
        return msgspec.structs.replace(self, tables={**self.tables, **tables})


class _Stored(msgspec.Struct):
    """The file with a checksum: a digit that flipped must not pass for a state."""

    lake: msgspec.Raw
    crc32: int


def encoded(file: LakeFile) -> bytes:
    """The bytes of the file."""
    lake = msgspec.json.encode(file, order="sorted")
    return b'{"lake":%b,"crc32":%d}\n' % (lake, zlib.crc32(lake))


def decoded(content: bytes, url: str) -> LakeFile:
    """What the bytes of a file say.

    Args:
        content: the bytes.
        url: the lake, for messages.

    Raises:
        StoreError: they are damaged, or another version wrote them.
    """
    try:
        stored = msgspec.json.decode(content, type=_Stored)
        file = msgspec.json.decode(stored.lake, type=LakeFile)
        whole = zlib.crc32(stored.lake) == stored.crc32
    except ValueError:
        whole = False
    if not whole:
        raise StoreError(
            f"{url}: {NAME}, which names the lake's tables, is damaged. store.repair() makes it again from the tables"
            " that are there; or restore it from a copy"
        )
    if file.format != FORMAT:
        raise StoreError(
            f"{url}: this lake has format {file.format}, and this version of ledgerframes reads {FORMAT}; install the"
            " version that wrote it, or sync into a new lake"
        )
    return file


def read_file(url: str, options: Mapping[str, str]) -> bytes | None:
    """The bytes of the file of a lake; None where it has none.

    Raises:
        StoreError: the storage refused.
    """
    if "://" not in url:
        try:
            return Path(url, NAME).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{url}: {NAME} cannot be read: {error}; check its owner and permissions") from error
    import pyarrow.fs as pa_fs
    from deltalake.fs import DeltaStorageHandler

    with plain_errors(url, "be read"):
        files = pa_fs.PyFileSystem(DeltaStorageHandler(url, dict(options)))
        if files.get_file_info(NAME).type == pa_fs.FileType.NotFound:
            return None
        with files.open_input_stream(NAME) as opened:
            content: bytes = opened.read()
    return content


def write_file(url: str, options: Mapping[str, str], content: bytes) -> None:
    """Replace the file of a lake, whole or not at all.

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
    """Whether there are Delta tables below a location, whoever made them."""
    if "://" not in url:
        return any(Path(url).glob("*/_delta_log"))
    import pyarrow.fs as pa_fs
    from deltalake.fs import DeltaStorageHandler

    with plain_errors(url, "be read"):
        files = pa_fs.PyFileSystem(DeltaStorageHandler(url, dict(options)))
        listed = files.get_file_info(pa_fs.FileSelector("", allow_not_found=True, recursive=True))
    return any("/_delta_log/" in f"/{info.path}" for info in listed)
