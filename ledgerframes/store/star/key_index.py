"""`KeyIndex`: the keys of a fact in files, to find a key that occurs twice, and the time of an update by its key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import numpy as np
import pyarrow as pa

from ledgerframes.errors import StoreError

#: Only one of so many parts is in memory when they are sorted.
_PARTS: Final = 64
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class KeyIndex:
    """Pairs of a key and a number, spread over files by key, so that any number of them needs little memory.

    Args:
        folder: for its files; made here.
        table: the fact, for messages.
    """

    def __init__(self, folder: Path, table: str) -> None:
        folder.mkdir()
        self._folder = folder
        self._table = table
        self._files: list[BinaryIO] = [path.open("wb") for path in self._paths("pairs")]
        self._sorted: dict[int, tuple[Numbers, Numbers]] = {}

    def __enter__(self) -> Self:
        """Nothing more; for `with`, which closes the files."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files; what was looked up stays."""
        for file in self._files:
            file.close()
        self._sorted = {}

    def add(self, keys: pa.Array, numbers: pa.Array | None = None) -> None:
        """Write pairs; without numbers they are 0."""
        own = keys.to_numpy()
        values = np.zeros(len(own), np.int64) if numbers is None else numbers.to_numpy()
        pairs = np.column_stack([own, values])
        for part, rows in _parts(own):
            self._files[part].write(np.ascontiguousarray(pairs[rows]).tobytes())

    def finish(self) -> None:
        """Sort the pairs.

        Raises:
            StoreError: a key occurs twice.
        """
        for part, (file, path) in enumerate(zip(self._files, self._paths("pairs"), strict=True)):
            file.close()
            pairs = np.fromfile(path, np.int64).reshape(-1, 2)
            path.unlink()
            pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
            twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
            if len(twice):
                raise self._twice(int(pairs[twice[0], 0]))
            np.save(self._folder / f"keys-{part}.npy", pairs[:, 0])
            np.save(self._folder / f"numbers-{part}.npy", pairs[:, 1])

    def look_up(self, keys: pa.Array) -> pa.Array:
        """The number of each key; null where there is no such key."""
        wanted = keys.to_numpy()
        numbers_found, missing = np.zeros(len(wanted), np.int64), np.ones(len(wanted), bool)
        for part, rows in _parts(wanted):
            own, numbers = self._part(part)
            if not len(own):
                continue
            places = np.minimum(np.searchsorted(own, wanted[rows]), len(own) - 1)
            hit = own[places] == wanted[rows]
            numbers_found[rows[hit]], missing[rows[hit]] = numbers[places[hit]], False
        return pa.array(numbers_found, pa.int64(), mask=missing)

    def _part(self, part: int) -> tuple[Numbers, Numbers]:
        if part not in self._sorted:
            # Mapped files are in memory only as long as the system has room for them.
            paths = (self._folder / f"{name}-{part}.npy" for name in ("keys", "numbers"))
            own, numbers = (np.load(path, mmap_mode="r" if path.stat().st_size > _EMPTY else None) for path in paths)
            self._sorted[part] = (own, numbers)
        return self._sorted[part]

    def _paths(self, name: str) -> list[Path]:
        return [self._folder / f"{name}-{part}" for part in range(_PARTS)]

    def _twice(self, key: int) -> StoreError:
        return StoreError(
            f"{self._table}: the key {key} occurs twice, so relations would mix two rows, and nothing was exported. Run"
            " store.check(), which finds a row that is stored twice; if it finds none, two natural keys have the same"
            " key: export the tables without model=, and report this, since it is not expected to happen"
        )


#: The header of a file without numbers; an empty file cannot be mapped.
_EMPTY: Final = 128


def _parts(keys: Numbers) -> Iterator[tuple[int, Numbers]]:
    """The rows of each part that some keys belong to."""
    parts = keys % _PARTS
    order = np.argsort(parts, kind="stable")
    bounds = np.searchsorted(parts[order], np.arange(_PARTS + 1))
    for part in range(_PARTS):
        if bounds[part] < bounds[part + 1]:
            yield part, order[bounds[part] : bounds[part + 1]]
