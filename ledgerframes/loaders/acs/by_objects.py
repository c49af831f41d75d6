"""Reads a snapshot of the active contracts from its objects; `load_active_contracts` calls it.

An object holds every contract, so the filters that a scan applies to pages are applied here. The writers of objects
read the same query as pages do, so contracts stand in the order of pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from ledgerframes.errors import DecodeError, InputError, NotFoundError
from ledgerframes.interfaces.calls import check_text
from ledgerframes.loaders.acs.times import at_or_before, snapshot_at
from ledgerframes.loaders.extent import first_cursors
from ledgerframes.objects.file_cache import FileCache
from ledgerframes.objects.history import object_lines
from ledgerframes.objects.snapshots import SnapshotObjects, newest_snapshot
from ledgerframes.objects.sources import ScanObjects
from ledgerframes.paging.cursor import Bound, Cursor, bound
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.network import Network


class _Seen(Struct):
    package_name: str
    template_id: str
    signatories: list[str]
    observers: list[str]

    def counts(self, templates: Collection[str] | None, parties: Collection[str] | None) -> bool:
        """Whether it is of one of the templates, and one of the parties signs or observes it."""
        template = f"{self.package_name}:{self.template_id.partition(':')[2]}"
        if templates is not None and template not in templates:
            return False
        return parties is None or any(party in parties for party in (*self.signatories, *self.observers))


_seen: Final = msgspec.json.Decoder(_Seen)


def contracts_of(
    scan: Scan,
    snapshot: SnapshotObjects,
    lines: int,
    *,
    templates: Collection[str] | None = None,
    parties: Collection[str] | None = None,
) -> Generator[tuple[str, dict[int, bytes]]]:
    """Yield the contracts of a snapshot by the number of their line, with the name of their object; close it.

    Args:
        scan: what lists and fetches the objects.
        snapshot: the snapshot.
        lines: how many to read at once.
        templates: the templates that count, as `package-name:Module:Entity`; all if None.
        parties: the signatories or observers that count; all if None.

    Raises:
        RequestError: an object could not be fetched.
        DecodeError: an object is damaged, or a line is not a contract.
    """
    everything = templates is None and parties is None
    with tempfile.TemporaryDirectory(prefix="ledgerframes-", ignore_cleanup_errors=True) as folder:
        objects = ScanObjects(scan, FileCache(Path(folder)))
        with closing(object_lines(objects, snapshot.objects, lines=lines)) as batches:
            for stored, first, batch in batches:
                name = str(stored.name)
                try:
                    check_text(b"".join(batch))
                except UnicodeDecodeError as error:
                    raise _broken(f"from line {first} on, text is not UTF-8: {error}", name, name) from error
                contracts = dict(enumerate(batch, first))
                if not everything:
                    seen = {number: _read(line, name, number) for number, line in contracts.items()}
                    contracts = {
                        number: line for number, line in contracts.items() if seen[number].counts(templates, parties)
                    }
                yield name, contracts


def _read(line: bytes, name: str, number: int) -> _Seen:
    try:
        return _seen.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _broken(f"line {number}: {error}", name, f"line {number}") from error


def snapshot_of(net: Network, at: Bound | None) -> tuple[SnapshotObjects, int | None]:
    """The newest snapshot with objects at or before a moment, and its migration if known.

    Args:
        net: the network.
        at: a time or a pair (migration id, time); None is the newest snapshot.

    Raises:
        InputError: the scan has no objects, or it is unknown of which migration they are.
        NotFoundError: there is no such snapshot.
    """
    if not net.is_remote:
        raise InputError(
            "source='objects': an opened folder has the history of updates alone. What to do: connect to a scan, or"
            " load the history of the folder and use lf.active_contracts"
        )
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
