"""The databases that models run in: `engine` borrows one per history, and two are kept for the next."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from ledgerframes.errors import ConfigurationError
from ledgerframes.models.engine import VARIABLE
from ledgerframes.models.interrupting import interruptible
from ledgerframes.models.reads import literal

#: No extensions, no Python variables under the names of tables; files and network only for the inputs. And no ASOF join
#: that compares each row with each: rows of a lake, which are not counted before they are read, would be taken for few.
_SETTINGS: Final = {
    "asof_loop_join_threshold": "0",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
#: The memory that a thread needs for a join of several tables that are spilled.
_PER_THREAD: Final = 150_000_000
#: Those that are kept: to make a database and its macros takes longer than a table of a few thousand events.
_IDLE: Final[list[Database]] = []
#: How many are: tables that a lake continues need a second one while the first is in use.
_MOST_IDLE: Final = 2


class Database:
    """A database that spills into a folder of its own, reads no other files than those named, and has the macros.

    Args:
        macros: the statements that define them.
        files: the paths that may be read.
    """

    def __init__(self, macros: Sequence[str], files: Sequence[str]) -> None:
        self._shared = not files
        self._limit = ""
        self._spill = Path(tempfile.mkdtemp(prefix="ledgerframes-"))
        try:
            self._root = duckdb.connect(config={**_SETTINGS, "temp_directory": str(self._spill)})
            #: Half of the machine's memory, in bytes.
            self.half = interruptible(self._root, partial(self._prepare, macros, files))
        except BaseException:
            shutil.rmtree(self._spill, ignore_errors=True)
            raise

    def _prepare(self, macros: Sequence[str], files: Sequence[str]) -> int:
        # Where Python is interactive DuckDB has a bar, which goes to standard output.
        self._root.execute("set enable_progress_bar = false")
        self._root.execute(f"set allowed_paths = [{', '.join(map(literal, files))}]")
        self._root.execute("set enable_external_access = false")
        self._threads = int(self._root.execute("select current_setting('threads')").fetchall()[0][0])
        self._root.execute(";".join(macros))
        return self.limit("50%")

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection with tables, views, variables and a time zone of its own."""
        return self._root.cursor()

    def limit(self, size: str, *, strictly: bool = True) -> int:
        """Bound its memory, such as by `4GB`; what it then is, in bytes. To set it again costs what memory is free.

        A strict limit is one for all that comes, so there are only as many threads as it suffices for.
        """
        if size != self._limit:
            self._root.execute(f"set memory_limit = {literal(size)}")
            self._limit = size
        found = self._root.execute("select parse_formatted_bytes(current_setting('memory_limit'))").fetchall()
        limit = int(found[0][0])
        threads = min(self._threads, max(limit // _PER_THREAD, 1)) if strictly else self._threads
        self._root.execute(f"set threads = {threads}")
        return limit

    def bound(self) -> int:
        """Bound its memory by what the variable says, if it is set; the bytes of that, else half of the machine's.

        Raises:
            ConfigurationError: `LEDGERFRAMES_MEMORY_LIMIT` is not valid.
        """
        limit = os.environ.get(VARIABLE)
        if limit is None:
            return self.half
        try:
            return self.limit(limit)
        except duckdb.Error as error:
            raise ConfigurationError(f"{VARIABLE}={limit!r} is not valid: give a size such as 4GB") from error

    def close(self) -> None:
        """Close it, and remove spilled data."""
        self._root.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def keep(self) -> None:
        """Give it back after use; it is closed if it cannot serve others, has spilled, or enough are kept.

        While it is kept, its folder is not there.
        """
        if self._shared and len(_IDLE) < _MOST_IDLE:
            with suppress(OSError):  # what was spilled is still there, or all of the folder was cleaned away
                self._spill.rmdir()
                _IDLE.append(self)
                return
        self.close()

    def _again(self) -> bool:
        """Make its folder again; False where temporary files are now to be elsewhere, or somebody took its name."""
        if self._spill.parent != Path(tempfile.gettempdir()):
            return False
        try:
            self._spill.mkdir(mode=0o700)
        except OSError:
            return False
        return True

    @classmethod
    def borrow(cls, macros: Sequence[str], files: Sequence[str]) -> Database:
        """One that is kept, for the caller alone, or a new one if files are to be read or none is kept."""
        with suppress(IndexError):  # none is left, or another thread was quicker
            while not files:
                database = _IDLE.pop()
                if database._again():  # noqa: SLF001 - its own class
                    return database
                database._root.close()  # noqa: SLF001 - what lies under its folder's name is not its own
        return cls(macros, files)


def _close_idle() -> None:
    while _IDLE:
        _IDLE.pop()._root.close()  # noqa: SLF001 - its folder is not there


atexit.register(_close_idle)
if hasattr(os, "register_at_fork"):
    # A fork has none of the threads that a database waits for at its end.
    os.register_at_fork(before=_close_idle)
