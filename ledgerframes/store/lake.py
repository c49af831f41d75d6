"""`Lake`: where a store's tables are, in which state they are read, and who may write; all of `store` uses it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ledgerframes.decoding.personal import LEFT_OUT
from ledgerframes.errors import InputError, StoreError
from ledgerframes.store.coverage import Interval
from ledgerframes.store.coverage_log import Slots, claims
from ledgerframes.store.delta.stored_files import Verify
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import KEPT, function_of
from ledgerframes.store.history_tables import PARTITIONS, HistoryTables
from ledgerframes.store.read.personal import LEFT_OUT_OF_IT, PROPERTY, leaves_out
from ledgerframes.store.sync.servers import Began, PageSize
from ledgerframes.store.sync.snapshots import SNAPSHOTS, snapshot_table
from ledgerframes.store.sync.sync_log import SYNCS, find_versions
from ledgerframes.store.table_sets import HISTORY, KNOWN_BY, NETWORK, SETS, TableSet, set_of
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import Table

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
        base = str(self.folder) if self.folder is not None else self.url
        return DeltaStoreTable(
            declared(name),
            f"{base}/{name}",
            storage_options=self.options,
            partition_by=PARTITIONS if set_of(name) else (),
            verify=self.verify,
            personal=self.keeps_personal,
        )

    def keeps_personal(self) -> bool:
        """Whether personal data is kept: as the existing tables were created, else as the caller said.

        Raises:
            StoreError: they were created otherwise than the caller says.
        """
        # Any table may be the first that a sync creates, so each of them carries the mark.
        tables = (self.table(name).refresh() for name in (*STORED, SYNCS.name))
        stored = [table.property(PROPERTY) for table in tables if table.handle is not None]
        return not leaves_out(stored, asked=self._asked, url=self.url)

    def history(self, of: TableSet = HISTORY, properties: Mapping[str, str] | None = None) -> HistoryTables:
        """The tables of a history, in their newest state.

        Args:
            of: which history.
            properties: texts for the tables that have to be created.

        Raises:
            StoreError: one of them is lost.
        """
        history = HistoryTables({name: self.table(name) for name in of.order}, of, properties).refresh()
        _refuse_lost(self.url, lost(history.tables, of), of)
        return history

    def network(self) -> dict[str, str]:
        """The properties by which the store knows its network, from any table that has them; empty while none has."""
        return network_of(self.table(name).refresh() for name in STORED)

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
        sets = [of for of in SETS if set(of.order) <= set(tables)]
        if as_of is None:
            view = View({name: table.refresh() for name, table in tables.items()})
            for of in sets:
                _refuse_lost(self.url, lost(view.tables, of), of)
            return view
        versions = find_versions(self.table(SYNCS.name).refresh(), as_of, self.url)
        view = View({name: table.as_of(versions.get(name)) for name, table in tables.items()})
        gone = [name for name, table in tables.items() if name in versions and not table.exists]
        _refuse_lost(self.url, gone, next((of for of in sets if set(of.order) & set(gone)), HISTORY))
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
        view = View({name: self.table(name).refresh() for name in STORED})
        if not view.versions:
            self._require()
        return view

    def _require(self) -> None:
        if not any(self.table(name).refresh().exists for name in (*STORED, SYNCS.name)):
            raise StoreError(f"{self.url}: there is no store here. Make one with store.sync(net), or check the path")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store for one writer.

        On object storage there is no lock; a second writer is noticed when it commits.

        Raises:
            StoreError: another sync runs on it, the folder cannot be created, or it was created with or without
                personal data and the caller says otherwise.
        """
        if self.folder is None:
            self._check_personal()
            yield
            return
        from filelock import FileLock, Timeout

        # The operating system frees this lock when its process ends, so a kill leaves no stale lock behind.
        lock = FileLock(self.folder / _LOCK, blocking=False)
        try:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock.acquire()
            except Timeout as error:
                raise StoreError(
                    f"{self.url}: another sync is running on this store; wait for it, or stop it. The lock ends with"
                    " its process, even if that is killed"
                ) from error
            except OSError as error:
                raise StoreError(
                    f"{self.url} cannot be written: {error}; check the folder's owner and permissions, or open a store"
                    " elsewhere"
                ) from error
            self._check_personal()
            yield
        finally:
            lock.release(force=True)  # also where a signal broke off how it was acquired

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
    existing = [tables[name] for name in of.order if tables[name].exists]
    if not any(map(claims, existing)):
        return []
    return [name for name in of.order if not tables[name].exists]


def _refuse_lost(url: str, names: Sequence[str], of: TableSet) -> None:
    if names:
        raise StoreError(
            f"{url}: the table {names[0]!r} is missing beside others of the {of.name}: its log is lost. store.repair()"
            " makes it anew, empty, and the next sync fills it; or restore its folder from a copy"
        )


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
