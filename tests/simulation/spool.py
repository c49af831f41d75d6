"""`Spool`: the folder for temporary files of a history, where syncs keep objects."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")


class Spool:
    """A folder of its own, as long as the context lasts."""

    def __enter__(self) -> Spool:
        self._before = tempfile.tempdir
        self._own = Path(tempfile.mkdtemp(prefix="simulation-", dir=_MEMORY if _MEMORY.is_dir() else None))
        self._folder = self._own / "folder"
        self._folder.mkdir()
        tempfile.tempdir = str(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        tempfile.tempdir = self._before
        shutil.rmtree(self._own)

    def clear(self) -> None:
        """Forget what a killed sync left: no other one uses it."""
        for path in self._folder.iterdir():
            shutil.rmtree(path)

    def files(self) -> list[str]:
        """What lies there, in order."""
        return sorted(str(file.relative_to(self._folder)) for file in self._folder.rglob("*"))
