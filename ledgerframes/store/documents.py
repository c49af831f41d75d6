"""`Documents`: `lake.json` and the files `_coverage/<number>.json` in a lake's root; `Lake` and `Root` use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledgerframes.store.coverage_document import Document
from ledgerframes.store.lake_file import create_file, files_in, has_tables, read_file, remove_file, write_file
from ledgerframes.store.sealed import sealed, unsealed

_FOLDER: Final = "_coverage"


@dataclass(frozen=True)
class Documents:
    """The files of a lake other than its tables.

    Attributes:
        url: the lake's folder or object-store URL.
        options: for the object store.
    """

    url: str
    options: Mapping[str, str]

    def lake_file(self) -> bytes | None:
        """The bytes of `lake.json`; None if it does not exist."""
        return read_file(self.url, self.options)

    def write_lake_file(self, content: bytes) -> None:
        """Replace `lake.json`, whole or not at all."""
        write_file(self.url, self.options, content)

    def beside_tables(self) -> bool:
        """Whether there are Delta tables, no matter who created them."""
        return has_tables(self.url, self.options)

    def read(self, number: int) -> Document | None:
        """A document; None if it is lost or damaged.

        Raises:
            StoreError: the storage refused.
        """
        content = read_file(self.url, self.options, _path(number))
        return None if content is None else unsealed(content, Document)

    def add(self, document: Document) -> None:
        """Store a new document.

        Raises:
            StoreError: a document with that number exists, or the storage refused.
        """
        create_file(self.url, self.options, _path(document.number), sealed(document))

    def numbers(self) -> list[int]:
        """The numbers of all documents in order, including those of killed writers."""
        stems = (name.removesuffix(".json") for name in files_in(self.url, self.options, _FOLDER))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def remove(self, number: int) -> None:
        """Remove a document that no state needs any more."""
        remove_file(self.url, self.options, _path(number))


def _path(number: int) -> str:
    return f"{_FOLDER}/{number}.json"
