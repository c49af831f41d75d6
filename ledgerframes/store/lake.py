"""`Lake`: where a store's tables are, in which state they are read, and who may write; all of `store` uses it."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from ledgerframes.errors import InputError, StoreError
from ledgerframes.store.coverage_document import Document
from ledgerframes.store.delta.stored_files import Verify
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.documents import Documents
from ledgerframes.store.history_tables import PARTITIONS, HistoryTables
from ledgerframes.store.lake_file import LakeFile, Named, decoded
from ledgerframes.store.lake_folder import check_folder, locked
from ledgerframes.store.losses import Loss, losses_of, state_of
from ledgerframes.store.read.personal import LEFT_OUT_OF_IT, PROPERTY, leaves_out
from ledgerframes.store.root import NAME, Root
from ledgerframes.store.sealed import sealed
from ledgerframes.store.stored_tables import STORED, declared
from ledgerframes.store.sync.servers import Began, PageSize
from ledgerframes.store.sync.sync_log import SYNCS, find_versions
from ledgerframes.store.table_sets import HISTORY, TableSet, set_of
from ledgerframes.store.view import View, network_of

_log = logging.getLogger("ledgerframes.store")


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
            check_folder(self.folder)
        self.documents = Documents(self._base, self.options)

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
        content = self.documents.lake_file()
        if content is not None:
            return decoded(content, self.url)
        if self.documents.beside_tables():
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
        if table.name not in self._changed:
            self._refuse_lost({table.name: table}, Document())
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
        content = self.documents.lake_file()
        try:
            if content is not None:
                decoded(content, self.url)
                return False
        except StoreError as error:
            if "is damaged" not in str(error):
                raise
        tables = {name: self.table(name).open() for name in (*STORED, SYNCS.name)}
        there = {name: table for name, table in tables.items() if table.exists}
        index = there.get(HISTORY.index)
        if index is not None and index.number(NAME) is None and index.size()["rows"]:
            raise StoreError(
                f"{self.url}: another version of ledgerframes wrote these tables; install that version, or sync into a"
                " new lake"
            )
        marks = [table.property(PROPERTY) for table in there.values()]
        self._write(LakeFile(personal=LEFT_OUT_OF_IT not in marks, tables=dict.fromkeys(there, Named())))
        self._changed.update(there)
        return True

    def losses(
        self, tables: Mapping[str, DeltaStoreTable], document: Document, *, thoroughly: bool = False
    ) -> list[Loss]:
        """What was lost of some tables since a sync, derive or repair left them; it is read from their logs alone.

        Args:
            tables: by name, in their newest state, or as the document names them.
            document: names versions that they have to have.
            thoroughly: open those that have gone on since, as under a sync that was killed, in the state that was left.
        """
        at_least, index = document.tables, tables.get(HISTORY.index)
        # The root has no number of its own to be missed by, and is never missing beside a document.
        if index is not None and not index.exists and index.name in self.names() and self.documents.numbers():
            at_least = {**at_least, index.name: 0}
        return list(losses_of(tables, self.file().tables, at_least, self.table if thoroughly else None))

    @property
    def _base(self) -> str:
        return str(self.folder) if self.folder is not None else self.url

    def _name(self, tables: Mapping[str, Named]) -> None:
        """Name the state of some tables; in an object store another writer may have named others meanwhile."""
        self._write(self._file_now().having(tables))

    def _write(self, file: LakeFile) -> None:
        self.documents.write_lake_file(sealed(file))
        if self._file is not None:
            self._file = file

    def _name_changed(self) -> None:
        """Name the versions and rows of the tables that were changed."""
        if not self._changed:
            return
        names = (HISTORY.index, *sorted(self._changed - {HISTORY.index}))
        left = self._as_named({name: self.table(name).open() for name in names})
        self._name({name: state_of(table) for name, table in left.stored.items()})

    def keeps_personal(self) -> bool:
        """Whether personal data is kept: as the existing tables were created, else as the caller said.

        Raises:
            StoreError: they were created otherwise than the caller says.
        """
        file = self.file()
        marks = [None if file.personal else LEFT_OUT_OF_IT] if file.tables else []
        return not leaves_out(marks, asked=self._asked, url=self.url)

    def history(
        self, of: TableSet = HISTORY, properties: Mapping[str, str] | None = None, root: Root | None = None
    ) -> HistoryTables:
        """The tables of a history, in their newest state; for a writer, without what a killed one left beyond it.

        Args:
            of: which history.
            properties: texts for the tables that have to be created.
            root: in whose commits they change; by default, one of their own.

        Raises:
            StoreError: one of them is lost.
        """
        root = root or self.root()
        opened = {name: root.table if name == root.table.name else self.table(name) for name in of.order}
        for name, table in opened.items():
            if table is root.table:
                continue
            if self._file is None:
                table.as_of(root.document.tables.get(name))
            else:
                table.refresh()
        self._refuse_lost(opened, root.document)
        history = HistoryTables(opened, root, of, properties)
        if self._file is not None:
            others = [table for table in opened.values() if table is not root.table]
            restored = [table.restore(root.document.tables.get(table.name, 0)) for table in others]
            # Named at once, or every writer that has no news would restore them again.
            if any(restored) and root.table.exists:
                history.record(history.slots)
        return history

    def root(self) -> Root:
        """The root of the lake, in its newest state.

        Raises:
            StoreError: the document that it names is lost or damaged.
        """
        return Root(self.table(HISTORY.index).refresh(), self.documents).read()

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
        whole = chain.from_iterable(of.shown if (of := set_of(name)) else (name,) for name in wanted)
        if as_of is None:
            view = self._newest(dict.fromkeys(whole))
            self._refuse_lost(view.tables, view.document)
            return view
        tables = {name: self.table(name) for name in dict.fromkeys(whole)}
        versions = find_versions(self.table(SYNCS.name).refresh(), as_of, self.url)
        for name, table in tables.items():
            if name in versions and not table.as_of(versions[name]).exists:
                raise StoreError(f"{self.url}: {Loss(name, Named(versions[name]))}")
        return self._as_named(tables)

    def _newest(self, names: Iterable[str]) -> View:
        named = self.names()
        return self._as_named({name: self.table(name).open() if name in named else self.table(name) for name in names})

    def _as_named(self, tables: dict[str, DeltaStoreTable]) -> View:
        """A state of the tables: those of histories at the versions that the document names which `updates` names."""
        index = tables[HISTORY.index]
        document = Root(index, self.documents).read().document
        for name, table in tables.items():
            version = document.tables.get(name)
            if set_of(name) is None or table is index or table.version == version:
                continue
            if version is None or (table.version or 0) > version:  # otherwise its log has lost entries
                table.as_of(version)
        return View(tables, document)

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
        view = self._as_named({name: self.table(name).open() if name in named else self.table(name) for name in STORED})
        if not view.versions:
            self._require()
        return view

    def _require(self) -> None:
        if not self.names():
            raise StoreError(f"{self.url}: there is no store here. Make one with store.sync(net), or check the path")

    def _refuse_lost(self, tables: Mapping[str, DeltaStoreTable], document: Document) -> None:
        if self._repairing:
            return
        for loss in self.losses(tables, document):
            raise StoreError(f"{self.url}: {loss}")

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
        """Take the lock of the store; on object storage there is none, and a second writer is noticed by its commit.

        Raises:
            StoreError: see `locked`.
        """
        with nullcontext() if self.folder is None else locked(self.folder, self.url):
            yield

    def _check_personal(self) -> None:
        if self._asked is not None:
            self.keeps_personal()
