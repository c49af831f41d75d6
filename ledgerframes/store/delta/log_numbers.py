"""`LogNumbers`: the numbers that a table's log keeps under names, read in one pass; `DeltaStoreTable` asks it.

deltalake answers for one name at a time and replays the log for each. A store keeps dozens of numbers, so on object
storage a sync without news sent 650 requests, nearly all of them for the same entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.fs as pa_fs

from ledgerframes.threads import together

_LOG: Final = "_delta_log"
_AT_ONCE: Final = 8
_THREAD: Final = "ledgerframes-log"


@dataclass
class LogNumbers:
    """The numbers in the log of one table, by version.

    Attributes:
        url: folder or object-store URL of the table.
        options: for the object store.
    """

    url: str
    options: Mapping[str, str]
    _version: int = -1
    _known: dict[str, int] = field(default_factory=dict)

    def at(self, version: int) -> Mapping[str, int] | None:
        """All numbers in the state of a version; None where the log is not as this reader knows it.

        Entries never change once they are written, so what was read before is kept.
        """
        if version < self._version:
            self._version, self._known = -1, {}
        if version > self._version:
            try:
                self._read(version)
            # A log that another program shortened, or wrote in parts: deltalake reads what this does not.
            except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException):
                self._version, self._known = -1, {}
                return None
        return self._known

    def _read(self, version: int) -> None:
        first = self._version + 1
        numbers = dict(self._known)
        if self._version < 0:
            checkpoint = self._checkpoint(version)
            if checkpoint >= 0:
                numbers.update(self._of_checkpoint(checkpoint))
            first = checkpoint + 1
        for entry in self._entries(range(first, version + 1)):
            numbers.update(_of_entry(entry))
        self._version, self._known = version, numbers

    def _checkpoint(self, version: int) -> int:
        """The version of the checkpoint to begin with, in one file; -1 where there is none for this state."""
        try:
            said = json.loads(self._bytes(f"{_LOG}/_last_checkpoint"))
        except FileNotFoundError:
            return -1
        if said.get("parts") or said.get("v2Checkpoint"):
            raise ValueError("the checkpoint has several files")
        named: int = said["version"]
        return named if named <= version else -1

    def _of_checkpoint(self, checkpoint: int) -> dict[str, int]:
        import pyarrow.parquet as pq

        path = f"{_LOG}/{checkpoint:020}.checkpoint.parquet"
        # Only this column: the others list every file of the table.
        with self._files.open_input_file(path) as opened:
            column = pq.ParquetFile(opened).read(columns=["txn.appId", "txn.version"])["txn"]
        return {said["appId"]: said["version"] for said in column.to_pylist() if said and said["appId"] is not None}

    def _entries(self, versions: Iterable[int]) -> list[bytes]:
        paths = [_path_of(version) for version in versions]
        if "://" not in self.url or len(paths) < 2:
            return [self._bytes(path) for path in paths]
        return together([partial(self._bytes, path) for path in paths], _THREAD, at_once=_AT_ONCE)

    def _bytes(self, path: str) -> bytes:
        if "://" not in self.url:
            return Path(self.url, path).read_bytes()
        with self._files.open_input_stream(path) as opened:
            content: bytes = opened.read()
        return content

    @property
    def _files(self) -> pa_fs.FileSystem:
        if "://" not in self.url:
            return pa_fs.SubTreeFileSystem(self.url, pa_fs.LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return pa_fs.PyFileSystem(DeltaStorageHandler(self.url, dict(self.options)))


def _path_of(version: int) -> str:
    return f"{_LOG}/{version:020}.json"


def _of_entry(entry: bytes) -> dict[str, int]:
    """The numbers that one entry of a log sets."""
    # Most of an entry describes files; only the lines that can hold a number are parsed.
    actions: list[dict[str, Any]] = [json.loads(line) for line in entry.splitlines() if b'"txn"' in line]
    return {action["txn"]["appId"]: action["txn"]["version"] for action in actions if "txn" in action}
