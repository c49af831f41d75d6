"""`Document`: what a lake contains, and the state in which each of its tables is read; `Root` commits it.

A document is the file `_coverage/<number>.json` in the lake's root, and never changes; `Documents` reads and writes it,
and `lake.json`. The commit that adds rows to `updates` names the current document in the table's log. So the rows of
all tables, the coverage of histories, the complete snapshots and the progress of computed tables change in one commit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec.structs import replace

from ledgerframes.errors import StoreError
from ledgerframes.interfaces.scan_snapshots import Route
from ledgerframes.paging.tokens import Token
from ledgerframes.store.coverage import Coverage, Interval
from ledgerframes.store.delta.data_files import filesystem, put_file
from ledgerframes.store.delta.storage_errors import plain_errors
from ledgerframes.store.delta.table import Named
from ledgerframes.store.stored_snapshots import StoredSnapshot
from ledgerframes.store.stored_tables import KNOWN_BY
from ledgerframes.write_aside import written_aside

if TYPE_CHECKING:
    import pyarrow.fs as pa_fs


_T = TypeVar("_T", bound=msgspec.Struct)
#: The file that every lake has in its root.
NAME: Final = "lake.json"
#: The format of lakes that this version writes and reads.
FORMAT: Final = 5
_FOLDER: Final = "_coverage"


class Progress(msgspec.Struct, frozen=True):
    """How far a table is computed.

    Attributes:
        done: the intervals of the history that it is computed from.
        rules: the version of its rules; 0 once a repair removed rows, None while nothing is computed.
        changes: how often final rows of the history had been added or removed by then.
        begun: whether it starts at ledger begin.
        unknown: how many items were not understood.
    """

    done: tuple[Interval, ...] = ()
    rules: int | None = None
    changes: int = 0
    begun: bool = False
    unknown: int = 0


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """One state of a lake.

    Attributes:
        number: its name; later documents have larger numbers.
        before: the number of the previous document; 0 for the first.
        version: the first version of `updates` whose log names the document.
        rows: the number of rows of `updates` in that state.
        network: what identifies the network: the first item of each history, and its participants.
        tables: every other table of the lake, in the state in which it is read.
        histories: the coverage of each history, by name.
        snapshots: those of the active contracts, in the order in which they were begun.
        following: route and token of the next page of an unfinished snapshot.
        computed: how far each computed table is, by name.
    """

    number: int = 0
    before: int = 0
    version: int = 0
    rows: int = 0
    network: dict[str, str] = {}
    tables: dict[str, Named] = {}
    histories: dict[str, Coverage] = {}
    snapshots: tuple[StoredSnapshot, ...] = ()
    following: tuple[Route, Token] | None = None
    computed: dict[str, Progress] = {}

    def coverage(self, name: str) -> Coverage:
        """The coverage of a history."""
        return self.histories.get(name, Coverage())

    def having(self, snapshots: Iterable[StoredSnapshot], following: tuple[Route, Token] | None = None) -> Document:
        """The document with other snapshots."""
        return replace(self, snapshots=tuple(snapshots), following=following)

    def computing(self, progress: Mapping[str, Progress]) -> Document:
        """The document with more progress of some computed tables."""
        return replace(self, computed={**self.computed, **progress})

    def unsound(self, name: str) -> Document:
        """The document with a computed table that has to be computed again."""
        return self.computing({name: replace(self.computed.get(name, Progress()), rules=0)})

    def known_as(self, network: Mapping[str, str]) -> Document:
        """The document with this identity of the network; participants are added to those already known."""
        parts = (known.get(KNOWN_BY, "").split() for known in (self.network, network))
        named = {**self.network, **network}
        if KNOWN_BY in named:
            named[KNOWN_BY] = " ".join(sorted(set().union(*parts)))
        return self if named == self.network else replace(self, network=named)


class _Sealed(msgspec.Struct):
    """A file with a checksum: a flipped digit must not pass for a valid state."""

    content: msgspec.Raw
    crc32: int


def sealed(content: msgspec.Struct) -> bytes:
    """Encode a file."""
    raw = msgspec.json.encode(content, order="sorted")
    return b'{"content":%b,"crc32":%d}\n' % (raw, zlib.crc32(raw))


def unsealed(file: bytes, kind: type[_T]) -> _T | None:
    """Decode the bytes of a file; None if they are damaged."""
    try:
        stored = msgspec.json.decode(file, type=_Sealed)
        content = msgspec.json.decode(stored.content, type=kind)
    except ValueError:
        return None
    return content if zlib.crc32(stored.content) == stored.crc32 else None


class LakeFile(msgspec.Struct, frozen=True):
    """The contents of `lake.json`, written once.

    Attributes:
        format: see `FORMAT`.
        personal: whether personal data is kept.
    """

    format: int = FORMAT
    personal: bool = True


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
            f"{url}: {NAME}, which records how the lake was made, is damaged. store.repair() makes it again from the"
            " tables that are there; or restore it from a copy"
        )
    if file.format != FORMAT:
        raise StoreError(
            f"{url}: this lake has format {file.format}, and this version of ledgerframes reads {FORMAT}; install the"
            " version that wrote it, or sync into a new lake"
        )
    return file


@dataclass(frozen=True)
class Documents:
    """The files of a lake other than its tables; every method raises a StoreError if the storage refuses.

    Attributes:
        url: the lake's folder or object-store URL.
        options: for the object store.
    """

    url: str
    options: Mapping[str, str] = field(repr=False)

    def lake_file(self) -> bytes | None:
        """The bytes of `lake.json`; None if it does not exist."""
        return self._read(NAME)

    def write_lake_file(self, content: bytes) -> None:
        """Replace `lake.json`, whole or not at all."""
        with plain_errors(self.url, "be written"):
            if "://" in self.url:
                put_file(self.url, self.options, NAME, content)
                return
            folder = Path(self.url)
            folder.mkdir(parents=True, exist_ok=True)
            with written_aside(folder / NAME, mode=0o666) as file:  # whoever may read its tables
                file.write(content)

    def beside_tables(self) -> bool:
        """Whether there are Delta tables, no matter who created them."""
        if "://" not in self.url:
            return any(Path(self.url).glob("*/_delta_log"))
        return any("/_delta_log/" in f"/{info.path}" for info in self._listed("", recursive=True))

    def read(self, number: int) -> Document | None:
        """A document; None if it is lost or damaged."""
        content = self._read(_path(number))
        return None if content is None else unsealed(content, Document)

    def add(self, document: Document) -> None:
        """Store a new document, whose number no other one has."""
        name = _path(document.number)
        if self._read(name) is not None:
            raise StoreError(f"{self.url}: {name} already exists: another writer changed the store at the same time")
        with plain_errors(self.url, "be written"):
            put_file(self.url, self.options, name, sealed(document))

    def numbers(self) -> list[int]:
        """The numbers of all documents in order, including those of killed writers."""
        stems = (info.base_name.removesuffix(".json") for info in self._listed(_FOLDER))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def remove(self, number: int) -> None:
        """Remove a document that no state needs any more."""
        with plain_errors(self.url, "be cleaned"):
            filesystem(self.url, self.options).delete_file(_path(number))

    def _read(self, name: str) -> bytes | None:
        import pyarrow.fs as pa_fs

        with plain_errors(self.url, "be read"):
            files = filesystem(self.url, self.options)
            if files.get_file_info(name).type == pa_fs.FileType.NotFound:
                return None
            with files.open_input_stream(name) as opened:
                content: bytes = opened.read()
        return content

    def _listed(self, folder: str, *, recursive: bool = False) -> list[pa_fs.FileInfo]:
        import pyarrow.fs as pa_fs

        with plain_errors(self.url, "be read"):
            selector = pa_fs.FileSelector(folder, allow_not_found=True, recursive=recursive)
            listed: list[pa_fs.FileInfo] = filesystem(self.url, self.options).get_file_info(selector)
        return listed


def _path(number: int) -> str:
    return f"{_FOLDER}/{number}.json"
