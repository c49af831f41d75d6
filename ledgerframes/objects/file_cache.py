"""`FileCache`: downloaded objects on disk while they are read."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

import pyarrow as pa

#: Files that are kept for a single reader: the one being read, and the next.
_AHEAD: Final = 2


@dataclass(frozen=True)
class FileCache:
    """Files that are fetched when they are first opened; thread-safe.

    Attributes:
        folder: their folder; an existing file is not fetched again.
        capacity: the number of files to keep for readers that begin in the middle of one.
    """

    folder: Path
    capacity: int = 0
    _kept: deque[Path] = field(default_factory=deque)  # the one used last at the end
    _locks: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    #: Paths are compared one by one, and other threads run in between.
    _changing: Lock = field(default_factory=Lock)

    @contextmanager
    def opened(self, name: str, get: Callable[[Path], object]) -> Iterator[Any]:
        """The bytes of a file, which is removed once several others were used since.

        Args:
            name: its name.
            get: writes it, if it is not there; it appears once it is complete.
        """
        target = self.folder / name
        # Several readers may want the same file at once, and one of them removes it.
        with self._locks[name]:
            if not target.exists():
                get(target)
            file = pa.OSFile(str(target), "rb")
        try:
            with file:
                yield file
        finally:  # also if a reader stops in the middle
            self._keep(target)

    def _keep(self, target: Path) -> None:
        """Note that a file was used, and remove all but the last ones."""
        with self._changing:
            with suppress(ValueError):
                self._kept.remove(target)
            self._kept.append(target)
            surplus = [self._kept.popleft() for _ in range(len(self._kept) - self.capacity - _AHEAD)]
        for file in surplus:
            with self._locks[file.name]:
                file.unlink(missing_ok=True)
