"""Loads a snapshot of the active contracts from its objects; `load_active_contracts` calls it.

An object holds every contract, so the filters that a scan applies to pages are applied here. The writers of objects
read the same query as pages do, so contracts stand in the order of pages.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
from msgspec import Struct

from ledgerframes.errors import DecodeError, InputError, NotFoundError
from ledgerframes.interfaces.calls import check_text
from ledgerframes.loaders.acs.times import at_or_before, snapshot_at
from ledgerframes.loaders.extent import first_cursors
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.objects.history import object_lines
from ledgerframes.objects.kept_files import KeptFiles
from ledgerframes.objects.snapshots import SnapshotObjects, newest_snapshot
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.paging.window import Bound, bound
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.loaders")


#: Decodes contracts: their JSON, the name of their object, and the name of each in messages.
Read = Callable[[Sequence[bytes], str, Sequence[str]], pa.RecordBatch]


class _Seen(Struct):
    package_name: str
    template_id: str
    signatories: list[str]
    observers: list[str]


_seen: Final = msgspec.json.Decoder(_Seen)


@dataclass(frozen=True)
class Wanted:
    """Which contracts count.

    Attributes:
        templates: their templates as `package-name:Module:Entity`; all if None.
        parties: their signatories or observers; all if None.
        most: refuse more than this number; None if the caller has chosen a part.
    """

    templates: Collection[str] | None = None
    parties: Collection[str] | None = None
    most: int | None = None

    def lines(self, batch: Sequence[bytes], name: str, first: int) -> dict[int, bytes]:
        """The lines that count, by their number.

        Raises:
            DecodeError: a line is not a contract.
        """
        numbered = dict(enumerate(batch, first))
        if self.templates is None and self.parties is None:
            return numbered
        return {number: line for number, line in numbered.items() if self._takes(line, name, number)}

    def _takes(self, line: bytes, name: str, number: int) -> bool:
        try:
            seen = _seen.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _broken(f"line {number}: {error}", name, f"line {number}") from error
        template = f"{seen.package_name}:{seen.template_id.partition(':')[2]}"
        if self.templates is not None and template not in self.templates:
            return False
        return self.parties is None or any(party in self.parties for party in (*seen.signatories, *seen.observers))


@dataclass
class _Rows:
    """The contracts so far."""

    wanted: Wanted
    limit: int | None
    read: Read
    batches: list[pa.RecordBatch] = field(default_factory=list)
    count: int = 0

    @property
    def full(self) -> bool:
        return self.limit is not None and self.count >= self.limit

    def add(self, batch: Sequence[bytes], name: str, first: int) -> None:
        try:
            check_text(b"".join(batch))
        except UnicodeDecodeError as error:
            raise _broken(f"from line {first} on, text is not UTF-8: {error}", name, name) from error
        kept = self.wanted.lines(batch, name, first)
        self.count += len(kept)
        most = self.wanted.most
        if most is not None and self.count > most:
            raise InputError(
                f"the snapshot has more than {most:,} contracts: give templates= or parties=, or limit= with as many"
                " rows as memory holds"
            )
        if kept:
            self.batches.append(self.read([*kept.values()], name, [f"line {number}" for number in kept]))


def load_from_objects(
    load: TableLoad,
    at: Bound | None,
    wanted: Wanted,
    lines: int,
    read: Read,
    held_by: Callable[[pa.Table], dict[str, Any]],
) -> Any:
    """Load a snapshot from its objects into one frame.

    Args:
        load: the form that the caller wants.
        at: a time or a pair (migration id, time); None is the newest snapshot.
        wanted: which contracts count.
        lines: how many to decode at once.
        read: decodes them.
        held_by: returns the provenance of the contracts.

    Raises:
        InputError: the scan has no objects, or the snapshot has more contracts than are wanted.
        NotFoundError: there is no such snapshot.
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged, or an item breaks the contract.
    """
    net = load.net
    if not net.is_remote:
        raise InputError(
            "source='objects': an opened folder has the history of updates alone. What to do: connect to a scan, or"
            " load the history of the folder and use lf.active_contracts"
        )
    snapshot, migration_id = _snapshot_of(net, at)
    load.origin.servers[snapshot.place] = None
    rows = _Rows(wanted, load.limit, read)
    with (
        load.origin.tolerating(allow_partial=load.allow_partial),
        tempfile.TemporaryDirectory(prefix="ledgerframes-", ignore_cleanup_errors=True) as folder,
        closing(object_lines(ScanObjects(net.scan, KeptFiles(Path(folder))), snapshot.objects, lines=lines)) as batches,
    ):
        for stored, first, batch in batches:
            rows.add(batch, str(stored.name), first)
            if rows.full:
                break
    table = pa.Table.from_batches(rows.batches, schema=load.table.schema)
    time = format_timestamp(snapshot.micros)
    if migration_id is None:
        _log.info("the migration of the snapshot of %s is not known", time)
        return load.frame(table, at=time, **held_by(table))
    cursor = Cursor(migration_id, snapshot.micros)
    return load.frame(table, cursor=cursor, at=f"({migration_id}, {time})", **held_by(table))


def _snapshot_of(net: Network, at: Bound | None) -> tuple[SnapshotObjects, int | None]:
    """The newest snapshot with objects at or before a moment, and its migration if known."""
    moment, scan = bound(at, "at"), net.scan
    if not isinstance(moment, Cursor):
        snapshot = newest_snapshot(scan, LATEST if moment is None else moment)
        migrations = _migrations_at(scan, snapshot.micros)
        return snapshot, migrations[0] if len(migrations) == 1 else None
    # Lists of objects know no migration, so the time of a snapshot of the requested one is asked for.
    newest = snapshot_at(net, at).micros
    micros = newest
    while micros >= newest - OVERLAP:
        snapshot = newest_snapshot(scan, micros)
        migrations = _migrations_at(scan, snapshot.micros)
        if migrations == [moment.migration_id]:
            return snapshot, moment.migration_id
        if moment.migration_id in migrations:
            raise InputError(
                f"at={at!r}: the objects of {format_timestamp(snapshot.micros)} belong to one of the migrations"
                f" {', '.join(map(str, migrations))}, and it is unknown of which; give a time alone, or source='pages'"
            )
        micros = snapshot.micros - 1  # of another migration, whose record times overlap
    raise NotFoundError(
        f"the scan has no snapshot of migration {moment.migration_id} as objects at or before"
        f" {format_timestamp(moment.micros)}. What to do: give a time alone, or source='pages'",
        status=404, server=scan.servers[0],
    )  # fmt: skip


def _migrations_at(scan: Scan, micros: int) -> list[int]:
    """The migrations that have a snapshot at exactly an instant."""
    began = [first.migration_id for first in first_cursors(scan.update_pages) if first.micros <= micros]
    return [migration_id for migration_id in began if at_or_before(scan, migration_id, micros) == micros]


def _broken(why: str, name: str, item: str) -> DecodeError:
    return DecodeError(f"{name}, {why}", endpoint=name, table="active_contracts", item=item)
