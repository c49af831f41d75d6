"""`Spool`: the folder for temporary files of a history, where syncs keep objects; a kill leaves it as it is then."""

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
        self._left = self._own / "left"
        self._folder = self._own / "folder"
        self._folder.mkdir()
        tempfile.tempdir = str(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        tempfile.tempdir = self._before
        shutil.rmtree(self._own)

    def kill(self) -> None:
        """Keep what is there now: what runs after a kill, such as the removal of files, never happened."""
        if not self._left.exists():
            shutil.copytree(self._folder, self._left)

    def revive(self) -> None:
        """The folder as the kill left it, if there was one."""
        if self._left.exists():
            shutil.rmtree(self._folder)
            self._left.rename(self._folder)

    def files(self) -> list[str]:
        """What lies there, in order."""
        return sorted(str(file.relative_to(self._folder)) for file in self._folder.rglob("*"))
