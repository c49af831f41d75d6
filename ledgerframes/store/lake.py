"""`Lake`: where a store's tables are, the state in which they are read, and who may write; all of `store` uses it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from ledgerframes.config.settings import holds_secret
from ledgerframes.errors import InputError, StoreError
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.tables import DERIVABLE
from ledgerframes.store.documents import Documents, LakeFile, decoded, sealed, unsealed
from ledgerframes.store.history_tables import PARTITIONS, HistoryTables
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import HISTORY, STORED, TableSet, declared, set_of
from ledgerframes.store.sync.report import SYNCS, AsOf, find_document
from ledgerframes.store.sync.servers import Lately

#: Documents are numbered by microseconds, and none is older than 2001.
_FIRST: Final = 1_000_000_000_000_000
_LOCK: Final = ".sync.lock"
#: Characters in a folder's path that the Delta Lake library decodes, treats as separators or fails on.
_MISREAD: Final = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|]")


class InUseError(StoreError):
    """Another process writes to the lake; once it has ended, this one may."""


@contextmanager
def locked(home: Path, url: str) -> Iterator[None]:
    """Hold the lock of a lake's folder, creating the folder if necessary.

    If nothing was written, the lock file and the folders created for it are removed again.

    Args:
        home: the folder.
        url: the lake, for messages.

    Raises:
        InUseError: another process writes to it.
        StoreError: the folder cannot be created.
    """
    from filelock import FileLock, Timeout

    # The operating system frees this lock when its process ends, so a kill leaves no stale lock behind.
    lock = FileLock(home / _LOCK, blocking=False)
    missing = [folder for folder in (home, *home.parents) if not folder.exists()]
    try:
        try:
            home.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            exists = (home / _LOCK).exists()  # its last holder may have removed it meanwhile
        except Timeout:
            exists = False
        except OSError as error:
            raise StoreError(
                f"{url} cannot be written: {error}; check the folder's owner and permissions, or open a store elsewhere"
            ) from error
        if not exists:
            raise InUseError(
                f"{url}: another process writes to it (sync, derive, repair or compact); wait for it, or stop it. The"
                " lock ends with its process, even if that is killed"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # on Windows its release removes it
                if [path.name for path in home.iterdir()] == [_LOCK]:
                    (home / _LOCK).unlink()
    finally:
        lock.release(force=True)  # also if a signal interrupted its acquisition
        with suppress(OSError):  # a folder that is not empty stays
            for folder in missing:
                folder.rmdir()


def check_folder(folder: Path) -> None:
    """Refuse a path that is not a folder, or that deltalake would misread as another one."""
    misread = _MISREAD.search(folder.as_posix())
    if misread or not folder.as_posix().isprintable():
        sign = misread[0] if misread else "an unprintable character"
        raise InputError(
            f"{str(folder)!r} contains {sign!r}, which deltalake may misread as another folder; name one without it"
        )
    try:
        is_other = folder.exists() and not folder.is_dir()
    except OSError as error:
        raise InputError(f"{str(folder)[:80]!r} cannot be a folder: {error.strerror}; name another location") from error
    if is_other:
        raise StoreError(f"{folder} is a file; a store is a folder. Name another location")


class Lake:
    """The location of a store, and its tables.

    Args:
        url: a folder, or an object-store URL such as `s3://bucket/lake`.
        storage_options: for the object store; see deltalake's documentation.
        personal: False leaves personal data out, True keeps it, None follows the choice made when the lake was created.
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, str] | None = None,
        personal: bool | None = None,
    ) -> None:
        self.url = os.fspath(url).rstrip("/") or "/"
        self.options = dict(storage_options or {})
        self.lately = Lately()  # from sync to sync
        if personal is not None and not isinstance(personal, bool):
            raise InputError(f"personal={personal!r} is not valid: give True or False, or leave it out")
        self._personal = personal
        self._root: Root | None = None  # while this process writes
        self._shown: Root | None = None  # the state that readers saw last, with its open tables
        self._pinned: Root | None = None  # the only state that readers see
        if not isinstance(self.url, str) or not self.url.strip():
            raise InputError(
                f"{url!r} is not a location for a store: give a folder or a URL such as 's3://bucket/lake'"
            )
        if self.url.startswith(("http://", "https://")):
            raise InputError("an http address is a server's, not a store's: give a folder or 's3://bucket/lake'")
        if re.match(r"\w{2,}:/(?!/)", self.url):
            raise InputError(f"{self.url!r} is not a folder of this machine; give a URL as text, as a Path shortens it")
        self.folder = None if "://" in self.url else Path(self.url).absolute()
        # The location is shown in messages and in provenance, so it must not contain a secret.
        if self.folder is None and holds_secret(self.url):
            raise InputError("the store's URL holds a user, a password or a query; use storage_options")
        if self.folder is not None:
            check_folder(self.folder)
        self.documents = Documents(self.base, self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, opens the store itself: what this one has open is not to be shared."""
        if self.options:
            raise TypeError("storage_options may hold secrets and are not pickled; open the store in the other process")
        return partial(type(self), personal=self._personal), (self.base,)

    def table(self, name: str, root: Root | None = None) -> DeltaStoreTable:
        """One table, not read yet; `Root.own` returns it in the state that the document names."""
        return DeltaStoreTable(
            declared(name),
            f"{self.base}/{name}",
            storage_options=self.options,
            partition_by=PARTITIONS if set_of(name) else (),
            personal=self.keeps_personal,
            root=root,
        )

    def file(self) -> LakeFile | None:
        """The contents of `lake.json`; None while there is no lake.

        Raises:
            StoreError: it is damaged, lost, or in another format.
        """
        content = self.documents.lake_file()
        if content is not None:
            return decoded(content, self.url)
        if self.documents.beside_tables():
            raise StoreError(
                f"{self.url}: there are tables and no lake.json. A lake of version 0.1 or 0.2 is read by that version"
                " only: sync into a new one. If this lake had the file, store.repair() makes it again"
            )
        return None

    def make_file(self) -> None:
        """Write `lake.json` if there is none yet."""
        if self.file() is None:
            self.documents.write_lake_file(sealed(LakeFile(personal=self._personal is not False)))

    def _restore_file(self) -> bool:
        """Write `lake.json` again if it is lost or damaged; returns whether it was.

        Raises:
            StoreError: the tables have another format.
        """
        content = self.documents.lake_file()
        if content is not None and unsealed(content, LakeFile) is not None:
            decoded(content, self.url)  # refuses another format
            return False
        if content is None and not self.documents.beside_tables():
            return False
        there = [self.table(name).refresh() for name in (*STORED, SYNCS.name)]
        index = next(table for table in there if table.name == HISTORY.index)
        if index.exists and index.number() is None and index.size()["rows"]:
            raise StoreError(
                f"{self.url}: another version of ledgerframes wrote these tables; install that version, or sync into a"
                " new lake"
            )
        self.documents.write_lake_file(sealed(LakeFile(personal=not any(table.impersonal for table in there))))
        return True

    @property
    def base(self) -> str:
        """The absolute folder, or the URL: what other processes open."""
        return str(self.folder) if self.folder is not None else self.url

    def keeps_personal(self) -> bool:
        """Whether personal data is kept: as when the lake was created, else as the caller chose.

        Raises:
            StoreError: the lake was created with another choice than the caller's.
        """
        file = self.file()
        if file is None or self._personal in {None, file.personal}:
            return self._personal is not False if file is None else file.personal
        stays, goes = (
            "created with personal data, which stays in it",
            "made without personal data, which cannot be put back",
        )
        raise StoreError(
            f"{self.url}: this lake was {stays if file.personal else goes}; sync into a new one, or open it without"
            " personal="
        )

    def root(self) -> Root:
        """The root of the lake: the writer's own, or else the newest state.

        Raises:
            StoreError: the document that it names is lost or damaged, or part of `updates` is lost.
        """
        return self.at() if self._root is None else self._root

    def history(self, of: TableSet = HISTORY) -> HistoryTables:
        """The tables of a history, in their newest state.

        Raises:
            StoreError: part of them is lost.
        """
        return HistoryTables(self.root(), of)

    def network(self) -> dict[str, str]:
        """The identity of the store's network; empty while nothing names it."""
        return self.root().document.network

    def derived(self) -> tuple[str, ...]:
        """The computed tables that the store has."""
        names = self.root().names
        return tuple(name for name in DERIVABLE if name in names)

    def at(self, as_of: AsOf | None = None, *, strict: bool = True) -> Root:
        """The root as readers see it, in its newest state or in an older one.

        Args:
            as_of: the number of a document, a sync id, or a time: the last sync that had ended by then.
            strict: refuse tables of which a part is lost.

        Raises:
            StoreError: there was no such state, its document is lost or damaged, or part of the history is lost.
        """
        if self._pinned is not None and as_of is None:
            return self._pinned
        root, known = self._at(as_of, strict=strict), self._shown
        # A state never changes, and on object storage every table that is opened costs requests.
        if known is not None and strict and root.is_same(known):
            return known
        root.shown(HISTORY.index)
        if as_of is None and strict:
            self._shown = root
        return root

    def pinned(self, root: Root) -> Lake:
        """The same lake for readers of one state, whatever is committed meanwhile."""
        lake = Lake.__new__(Lake)
        vars(lake).update(vars(self), _pinned=root)
        return lake

    def _at(self, as_of: AsOf | None, *, strict: bool) -> Root:
        root = Root(self, strict=strict)
        if as_of is None:
            return root.open()
        if isinstance(as_of, int) and as_of >= _FIRST:
            number = as_of
        else:
            number = find_document(Root(self).open().own(SYNCS.name), as_of, self.url)
        if not number:  # a sync of an empty ledger left it
            return root
        document = self.documents.read(number)
        if document is None or root.open(document.version).document.number != number:
            raise StoreError(
                f"{self.url}: the state {number} of as_of={as_of!r} is not there; it never was, compact(forget_before=)"
                " forgot it, or its document in the folder _coverage is lost"
            )
        return root

    def existing(self, as_of: AsOf | None = None, *, strict: bool = True) -> Root:
        """The same for a store that must exist.

        Raises:
            StoreError: nothing was ever synced into this location.
        """
        root = self.at(as_of, strict=strict)
        if not root.table.exists and not self.documents.lake_file():
            raise StoreError(f"{self.url}: there is no store here. Make one with store.sync(net), or check the path")
        return root

    @contextmanager
    def writing(self, *, repairing: bool = False) -> Iterator[bool]:
        """Lock the store for one writer, whose last commit names everything that it changed.

        Args:
            repairing: write `lake.json` again if it is lost, and open the root even if parts are lost.

        Yields:
            Whether `lake.json` was written again.

        Raises:
            StoreError: see `_locked`.
        """
        with self._locked():
            root = Root(self, writes=True, strict=not repairing)
            try:
                restored = repairing and self._restore_file()
                if self._personal is not None:
                    self.keeps_personal()  # refuses another choice
                self._root = root if repairing else root.open()
                yield restored
                root.finish()
            finally:
                self._root = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Take the lock of the store; object storage has none, so a second writer is noticed by its commit.

        Raises:
            StoreError: see `locked`.
        """
        with nullcontext() if self.folder is None else locked(self.folder, self.url):
            yield
