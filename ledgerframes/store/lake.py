"""`Lake`: where a store's tables are, in which state they are read, and who may write; all of `store` uses it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from ledgerframes.decoding.personal import LEFT_OUT
from ledgerframes.errors import InputError, StoreError
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_log import Slots, claims
from ledgerframes.store.delta.stored_files import Verify
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import KEPT, function_of
from ledgerframes.store.history_tables import PARTITIONS, HistoryTables
from ledgerframes.store.lake_file import LakeFile, Named, decoded, encoded, has_tables, read_file, write_file
from ledgerframes.store.losses import Loss, losses_of, state_of
from ledgerframes.store.read.personal import LEFT_OUT_OF_IT, PROPERTY, leaves_out
from ledgerframes.store.sync.servers import Began, PageSize
from ledgerframes.store.sync.snapshots import SNAPSHOTS, snapshot_table
from ledgerframes.store.sync.sync_log import SYNCS, find_versions
from ledgerframes.store.table_sets import HISTORY, KNOWN_BY, NETWORK, SETS, TableSet, set_of
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Table

_log = logging.getLogger("ledgerframes.store")
_LOCK: Final = ".sync.lock"


@dataclass(frozen=True)
class View:
    """The tables of a store in one state.

    Attributes:
        tables: by name, including those that do not exist.
    """

    tables: Mapping[str, DeltaStoreTable]

    @property
    def covered(self) -> tuple[Interval, ...]:
        """What all three tables of the update history cover."""
        return self.slots.common

    @property
    def slots(self) -> Slots:
        """What the tables of the update history cover."""
        return self.slots_of(HISTORY)

    def slots_of(self, tables: TableSet) -> Slots:
        """What the tables of one set cover."""
        if tables.name not in self._slots:
            self._slots[tables.name] = Slots.read([self.tables[name] for name in tables.order])
        return self._slots[tables.name]

    @cached_property
    def _slots(self) -> dict[str, Slots]:
        return {}

    def has(self, tables: TableSet) -> bool:
        """Whether all tables of a set exist."""
        return set(tables.order) <= set(self.stored)

    def left_out(self, name: str) -> tuple[str, ...]:
        """The personal data that a table was created without, for provenance."""
        return (LEFT_OUT,) if self.tables[name].property(PROPERTY) == LEFT_OUT_OF_IT else ()

    def to_show(self, *, personal: bool) -> None:
        """Refuse to show personal data that is not stored.

        Raises:
            InputError: personal data is asked for, and the store was created without it.
        """
        if personal and any(map(self.left_out, self.versions)):
            raise InputError("personal=True: this store was made without personal data; leave personal out")

    @property
    def versions(self) -> dict[str, int]:
        """The version of each table that exists."""
        return {name: table.version for name, table in self.tables.items() if table.version is not None}

    @property
    def stored(self) -> dict[str, DeltaStoreTable]:
        """The tables that exist."""
        return {name: table for name, table in self.tables.items() if table.version is not None}


class Lake:
    """The location of a store, and its tables.

    Args:
        url: a folder, or an object-store URL such as `s3://bucket/lake`.
        storage_options: for the object store; see deltalake's documentation.
        verify: how much of a file a read looks at: `"pages"` or `"files"`.
        personal: False leaves personal data out of what is stored, True keeps it, None does as the lake was created.
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, str] | None = None,
        verify: Verify = "pages",
        personal: bool | None = None,
    ) -> None:
        self.url = os.fspath(url).rstrip("/") or "/"
        self.options = dict(storage_options or {})
        self.page_sizes: dict[str, tuple[PageSize, float]] = {}  # by server, from sync to sync
        self.begins: dict[str, Began] = {}  # likewise
        self.verify: Verify = verify
        if verify not in {"pages", "files"}:
            raise InputError(f"verify={verify!r} is not valid: give 'pages' or 'files'")
        if personal is not None and not isinstance(personal, bool):
            raise InputError(f"personal={personal!r} is not valid: give True or False, or leave it out")
        self._asked = personal
        self._file: LakeFile | None = None  # while this process writes
        self._changed: set[str] = set()
        self._repairing = False
        if not isinstance(self.url, str) or not self.url.strip():
            raise InputError(
                f"{url!r} is not a location for a store: give a folder or a URL such as 's3://bucket/lake'"
            )
        self.folder = None if "://" in self.url else Path(self.url).absolute()
        parts = urlsplit(self.url)
        # The location is shown in messages and in provenance, so it must hold nothing secret.
        if self.folder is None and (parts.username or parts.password):
            raise InputError("the store's URL holds a user or password; give them in storage_options")
        if self.folder is not None:
            _check_folder(self.folder)

    def table(self, name: str) -> DeltaStoreTable:
        """One table, not read yet."""
        return DeltaStoreTable(
            declared(name),
            f"{self._base}/{name}",
            storage_options=self.options,
            partition_by=PARTITIONS if set_of(name) else (),
            verify=self.verify,
            personal=self.keeps_personal,
            listing=self,
        )

    def file(self) -> LakeFile:
        """What `lake.json` says; of a lake that does not exist, that it has no table.

        Raises:
            StoreError: it is damaged, lost, or of another format.
        """
        return self._file_now() if self._file is None else self._file

    def _file_now(self) -> LakeFile:
        content = self._read_file()
        if content is not None:
            return decoded(content, self.url)
        if self._has_tables():
            raise StoreError(
                f"{self.url}: there are tables and no lake.json. A lake of version 0.1 or 0.2 is read by that version"
                " only: sync into a new one. If this lake had the file, store.repair() makes it again"
            )
        return LakeFile(personal=self._asked is not False)

    def names(self) -> Collection[str]:
        """Every table that may be there."""
        return self.file().tables.keys()

    def making(self, name: str) -> None:
        """Name a table before it is made.

        Raises:
            StoreError: it was there, and is lost.
        """
        named = self.file().tables.get(name)
        if named is not None and named.version >= 0:
            raise StoreError(str(Loss(name, named)))
        self._name({name: Named()})

    def changing(self, table: DeltaStoreTable) -> None:
        """Note that the state of a table has to be named again.

        Raises:
            StoreError: something of it is lost, which the change would hide.
        """
        if table.name not in self._changed and not self._repairing:
            self._refuse_lost({table.name: table})
        self._changed.add(table.name)

    def remake(self, name: str, properties: Mapping[str, str]) -> DeltaStoreTable:
        """Make a table again whose log is lost, empty; a repair does so."""
        self._name({name: Named()})
        table = self.table(name)
        table.create(properties)
        self._changed.add(name)
        return table

    def forget(self, name: str) -> None:
        """Name a table no more."""
        file = self.file()
        self._write(replace(file, tables={own: named for own, named in file.tables.items() if own != name}))

    def restore_file(self) -> bool:
        """Write `lake.json` again if it is lost or damaged, with the tables that are there; whether it was.

        Raises:
            StoreError: the tables are of another format.
        """
        content = self._read_file()
        try:
            if content is not None:
                decoded(content, self.url)
                return False
        except StoreError as error:
            if "is damaged" not in str(error):
                raise
        tables = {name: self.table(name).open() for name in (*STORED, SYNCS.name)}
        there = {name: table for name, table in tables.items() if table.exists}
        for of in SETS:
            Slots.read([there[name] for name in of.order if name in there])  # refuses another format
        marks = [table.property(PROPERTY) for table in there.values()]
        self._write(LakeFile(personal=LEFT_OUT_OF_IT not in marks, tables=dict.fromkeys(there, Named())))
        self._changed.update(there)
        return True

    def losses(self, tables: Mapping[str, DeltaStoreTable], *, thoroughly: bool = False) -> list[Loss]:
        """What was lost of some tables since a sync, derive or repair left them; it is read from their logs alone.

        Args:
            tables: by name, in their newest state.
            thoroughly: open those that have gone on since, as under a sync that was killed, in the state that was left.
        """
        return list(losses_of(tables, self.file().tables, self.table if thoroughly else None))

    def _read_file(self) -> bytes | None:
        return read_file(self._base, self.options)

    def _write_file(self, content: bytes) -> None:
        write_file(self._base, self.options, content)

    def _has_tables(self) -> bool:
        return has_tables(self._base, self.options)

    @property
    def _base(self) -> str:
        return str(self.folder) if self.folder is not None else self.url

    def _name(self, tables: Mapping[str, Named]) -> None:
        """Name the state of some tables; in an object store another writer may have named others meanwhile."""
        self._write(self._file_now().having(tables))

    def _write(self, file: LakeFile) -> None:
        self._write_file(encoded(file))
        if self._file is not None:
            self._file = file

    def _name_changed(self) -> None:
        """Name the versions and rows of the tables that were changed."""
        if not self._changed:
            return
        tables = {name: self.table(name).open() for name in sorted(self._changed)}
        self._name({name: state_of(table) for name, table in tables.items() if table.version is not None})

    def keeps_personal(self) -> bool:
        """Whether personal data is kept: as the existing tables were created, else as the caller said.

        Raises:
            StoreError: they were created otherwise than the caller says.
        """
        file = self.file()
        marks = [None if file.personal else LEFT_OUT_OF_IT] if file.tables else []
        return not leaves_out(marks, asked=self._asked, url=self.url)

    def history(self, of: TableSet = HISTORY, properties: Mapping[str, str] | None = None) -> HistoryTables:
        """The tables of a history, in their newest state.

        Args:
            of: which history.
            properties: texts for the tables that have to be created.

        Raises:
            StoreError: one of them is lost.
        """
        history = HistoryTables({name: self.table(name) for name in of.order}, of, properties).refresh()
        self._refuse_lost(history.tables)
        return history

    def network(self) -> dict[str, str]:
        """The properties by which the store knows its network, from any table that has them; empty while none has."""
        named = self.names()
        return network_of(self.table(name).refresh() for name in STORED if name in named)

    def holds(self, update_ids: Sequence[str]) -> bool:
        """Whether any of some updates is stored."""
        return self.table(HISTORY.index).refresh().exists and self.history().holds(update_ids)

    def view(self, as_of: str | date | datetime | None = None, *, names: Iterable[str] = ()) -> View:
        """Tables, in their newest state or as a sync left them.

        Args:
            as_of: a sync id, or a time: the last sync that had ended by then.
            names: the tables wanted beside those of the update history, each with its set; all by default.

        Raises:
            StoreError: there was no such sync, or a table of a history is lost.
        """
        wanted = [*HISTORY.shown, *names] if names else STORED
        # The table written last is read first, so that no update is seen before its events.
        whole = (own for name in wanted for own in _with_its_set(name))
        tables = {name: self.table(name) for name in dict.fromkeys(whole)}
        named = self.file().tables
        if as_of is None:
            view = View({name: table.open() if name in named else table for name, table in tables.items()})
            self._refuse_lost(view.tables)
            return view
        versions = find_versions(self.table(SYNCS.name).refresh(), as_of, self.url)
        view = View({name: table.as_of(versions.get(name)) for name, table in tables.items()})
        for name, table in tables.items():
            if name in versions and not table.exists:
                raise StoreError(f"{self.url}: {Loss(name, Named(versions[name]))}")
        return view

    def existing(self, as_of: str | date | datetime | None = None, *, names: Iterable[str] = ()) -> View:
        """The same, of a store that has to exist.

        Raises:
            StoreError: nothing was ever synced into this location.
        """
        view = self.view(as_of, names=names)
        if not view.versions:
            self._require()
        return view

    def raw_view(self) -> View:
        """The tables of a store that has to exist, in their newest state, whichever of them are lost.

        Raises:
            StoreError: nothing was ever synced into this location, or a log cannot be read.
        """
        named = self.names()
        view = View({name: self.table(name).open() if name in named else self.table(name) for name in STORED})
        if not view.versions:
            self._require()
        return view

    def _require(self) -> None:
        if not self.names():
            raise StoreError(f"{self.url}: there is no store here. Make one with store.sync(net), or check the path")

    def _refuse_lost(self, tables: Mapping[str, DeltaStoreTable]) -> None:
        for loss in self.losses(tables):
            raise StoreError(f"{self.url}: {loss}")
        for of in SETS:
            for name in lost(tables, of):
                raise StoreError(f"{self.url}: {Loss(name, Named())}")

    @contextmanager
    def writing(self, *, repairing: bool = False) -> Iterator[bool]:
        """Hold the store for one writer, and name in `lake.json` what it changed, however it ends.

        Args:
            repairing: make `lake.json` again if it is lost.

        Yields:
            Whether `lake.json` was made again.

        Raises:
            StoreError: see `_locked`.
        """
        with self._locked():
            self._changed, self._repairing = set(), repairing
            try:
                restored = repairing and self.restore_file()
                self._check_personal()
                self._file = self.file()
                yield restored
                self._name_changed()
            except BaseException:
                try:
                    self._name_changed()
                except StoreError as error:
                    _log.warning("what was changed could not be named in lake.json: %s", error)
                raise
            finally:
                self._file, self._changed, self._repairing = None, set(), False

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Take the lock of the store.

        On object storage there is no lock; a second writer is noticed when it commits. Where nothing was written, the
        lock's file and the folders made for it are removed again.

        Raises:
            StoreError: another sync runs on it, the folder cannot be created, or it was created with or without
                personal data and the caller says otherwise.
        """
        if self.folder is None:
            yield
            return
        from filelock import FileLock, Timeout

        # The operating system frees this lock when its process ends, so a kill leaves no stale lock behind.
        lock = FileLock(self.folder / _LOCK, blocking=False)
        missing = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        try:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock.acquire()
                held = (self.folder / _LOCK).exists()  # its last holder may have removed it meanwhile
            except Timeout:
                held = False
            except OSError as error:
                raise StoreError(
                    f"{self.url} cannot be written: {error}; check the folder's owner and permissions, or open a store"
                    " elsewhere"
                ) from error
            if not held:
                raise StoreError(
                    f"{self.url}: another sync is running on this store; wait for it, or stop it. The lock ends with"
                    " its process, even if that is killed"
                )
            try:
                yield
            finally:
                with suppress(OSError):  # on Windows its release removes it
                    if [path.name for path in self.folder.iterdir()] == [_LOCK]:
                        (self.folder / _LOCK).unlink()
        finally:
            lock.release(force=True)  # also where a signal broke off how it was acquired
            with suppress(OSError):  # a folder that holds anything stays
                for folder in missing:
                    folder.rmdir()

    def _check_personal(self) -> None:
        if self._asked is not None:
            self.keeps_personal()


def _with_its_set(name: str) -> tuple[str, ...]:
    """A table, with those that are read together with it."""
    of = set_of(name)
    return (name,) if of is None else of.shown


def network_of(tables: Iterable[DeltaStoreTable]) -> dict[str, str]:
    """The properties that tell which network tables belong to, of the first of them that names it."""
    named = next((table for table in tables if table.property(NETWORK) is not None), None)
    known = {} if named is None else {name: named.property(name) for name in (NETWORK, KNOWN_BY)}
    return {name: value for name, value in known.items() if value is not None}


def lost(tables: Mapping[str, DeltaStoreTable], of: TableSet) -> list[str]:
    """The tables of a history that are missing although others of it hold rows.

    While the first sync creates them, some are missing for a moment beside others that are empty.
    """
    own = [tables[name] for name in of.order if name in tables]
    if len(own) < len(of.order) or not any(map(claims, (table for table in own if table.exists))):
        return []
    return [table.name for table in own if not table.exists]


def _check_folder(folder: Path) -> None:
    """Refuse a path that is not a folder, or that deltalake would not find or take for another one."""
    misread = _MISREAD.search(folder.as_posix())
    if misread or not folder.as_posix().isprintable():
        sign = misread[0] if misread else "an unprintable character"
        raise InputError(
            f"{str(folder)!r} holds {sign!r}, with which a Delta Lake may end in another folder; name one without it"
        )
    try:
        is_other = folder.exists() and not folder.is_dir()
    except OSError as error:
        raise InputError(f"{str(folder)[:80]!r} cannot be a folder: {error.strerror}; name another location") from error
    if is_other:
        raise StoreError(f"{folder} is a file; a store is a folder. Name another location")


#: What the Delta Lake library decodes, takes for a separator or stumbles over in the path of a folder.
_MISREAD: Final = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|]")

#: The tables that a store can have.
STORED: Final = (*(name for of in SETS for name in of.shown), REJECTS.name, *SNAPSHOTS, *KEPT)


def declared(name: str) -> Table:
    """A table as the store keeps it.

    Raises:
        InputError: it is not a table, or a store does not keep it.
    """
    if name == SYNCS.name:
        return SYNCS
    known = name if isinstance(name, str) else ""  # anything else is refused with the names that there are
    if known in KEPT:
        return KEPT[known]
    if known in COMPUTED:
        raise InputError(f"a store does not keep {name!r}; compute it with {function_of(name)}(store)")
    table_named(name)
    if name not in STORED:
        raise InputError(f"a store does not keep {name!r}; it keeps {', '.join(STORED)}")
    return snapshot_table(name) if name in SNAPSHOTS else CATALOGUE[name]
