"""`restored` takes a computed table back to an earlier state of it, from which it is computed on; `deriving` calls it.

Every commit of a computed table is a state of its own: rows, and how far the history is computed in them. As long as
the log and the files of that state are there, the table can be continued from it, if nothing that it is computed from
has changed since.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from ledgerframes.errors import StoreError
from ledgerframes.store.changes import BEFORE_ALL
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.kept import VERSIONS
from ledgerframes.store.derive.progress import Basis, Progress, sound_before
from ledgerframes.store.lake import Lake

_log = logging.getLogger("ledgerframes.store")


def restored(
    lake: Lake, table: DeltaStoreTable, now: Progress, basis: Basis, usable: Callable[[Progress], bool]
) -> Progress | None:
    """Take a table back to the newest state that can be continued, in one commit.

    Args:
        lake: the store.
        table: which table, in its newest state.
        now: how far it is computed in it.
        basis: the part of the history that it is computed from.
        usable: whether a state can be continued.

    Returns:
        How far the table is computed now; None where no such state is there, and the table is as it was.

    Raises:
        StoreError: the store cannot be written.
    """
    step = waiting = 1
    for version, progress in _states(table, basis):
        if not usable(progress):
            continue
        waiting -= 1
        if waiting:
            continue
        earlier = _whole(lake, table, version)
        if earlier is not None:
            continued = replace(progress.on(basis), slots=max(now.slots, progress.slots))
            table.go_back(earlier, continued.numbers())
            return continued
        # A file that is gone or damaged can belong to thousands of states in a row, and each look is one at all files.
        step = waiting = 2 * step
    return None


def _states(table: DeltaStoreTable, basis: Basis) -> Iterator[tuple[int, Progress]]:
    """The states of a table that may be continued, newest first: version, and how far it was computed."""
    limit = math.inf
    for version, numbers in table.states():
        limit = min(limit, sound_before(numbers))
        progress = Progress.read(numbers.get)
        if not progress.version or version >= limit:  # a repair has taken out files, or found rows lost
            continue
        of_now = progress.version == VERSIONS[table.name] and progress.made == basis.made
        # All states before it are as old, or older.
        if not of_now or not progress.done or basis.changed_since(progress.changes, progress.counts) == BEFORE_ALL:
            return
        yield version, progress


def _whole(lake: Lake, table: DeltaStoreTable, version: int) -> DeltaStoreTable | None:
    """An earlier state of a table, if all its files are there, those that the table lost since then with every byte."""
    try:
        earlier = lake.table(table.name).as_of(version)
    except StoreError as error:  # its log was shortened
        _log.info("%s: version %d cannot be read any more: %s", table.name, version, error)
        return None
    files, newest = earlier.files, table.files
    if files is None:
        return None
    present = {} if newest is None else newest.listed
    for path, file in files.listed.items():
        why = "" if path in present else files.harm(file, full=True)
        if why:
            _log.info("%s: version %d lacks the file %s: %s", table.name, version, file, why)
            return None
    return earlier
