"""The times of scan's snapshots of the active contracts, and the newest one at or before a given time."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pandas as pd

from ledgerframes.arguments import suggesting, whole_number
from ledgerframes.config.settings import source_of
from ledgerframes.errors import InputError, NotFoundError, PagingError
from ledgerframes.interfaces.answers import reading
from ledgerframes.interfaces.scan_snapshots import SNAPSHOT_TIME
from ledgerframes.loaders.extent import first_cursors, frame_of, within
from ledgerframes.loaders.table_loader import needing
from ledgerframes.paging.cursor import Bound, Cursor, Window, bound, wanted_window
from ledgerframes.paging.tokens import TokenChecks
from ledgerframes.timestamps import EPOCH, LATEST, MICROSECOND, format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.network import Network

_log = logging.getLogger("ledgerframes.loaders")
#: The maximum number of snapshots to list without a range; a network takes one every few hours.
_FREE: Final = 100
#: Networks take snapshots whole hours apart; one less than an hour before another is no new one.
_CLOSEST: Final = 3_600_000_000
#: More snapshots than any network has, with one an hour for five years; a server that has more makes them up.
_MOST: Final = 43_800
_INSTEAD: Final = 'load the history from start="begin", and lf.active_contracts replays it up to any moment'


@suggesting
def snapshot_times(
    net: Network, *, start: Bound | None = None, end: Bound | None = None, limit: int | None = None
) -> pd.DataFrame:
    """List the times of scan's snapshots of the active contracts.

    Scan returns one time per request, so this sends one request per snapshot, from the newest backwards. It logs about
    how many there are after the second one. Without `start` and `limit` it lists a hundred at most.

    Endpoint: GET /v0/state/acs/snapshot-timestamp.

    Args:
        net: the network; its scan is asked.
        start: inclusive; a time, applied to every migration, or a pair (migration id, time); `"begin"` is ledger begin.
        end: exclusive; the same forms; by default everything up to the newest snapshot.
        limit: list at most this many, the newest ones.

    Returns:
        One row per snapshot, the oldest first: migration_id, record_time (datetime64[us, UTC]).

    Raises:
        InputError: an argument is not valid, the scan does not serve the route, or there are more than a hundred
            snapshots and neither `start` nor `limit`.
        RequestError: the scan gave no answer.
        DecodeError: an answer breaks the contract.
        PagingError: the scan does not keep to the order of time, or its snapshots do not end.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=200) as net:
        ...     times = lf.snapshot_times(net, limit=3)
        >>> list(times.columns)
        ['migration_id', 'record_time']
    """
    wanted = wanted_window(start, end)
    most = None if limit is None else whole_number(limit, "limit", least=1)
    cursors: list[Cursor] = []
    firsts = list(first_cursors(net.scan.update_pages))
    bounded = start is not None or most is not None
    with needing(SNAPSHOT_TIME, instead=_INSTEAD):
        for place in _newest_first(net.scan, wanted, firsts):
            cursors.append(place)
            if len(cursors) == 2:
                _quote(cursors, firsts, wanted, bounded=bounded, limited=most is not None)
            if len(cursors) == most:
                break
            if len(cursors) > _FREE and not bounded:
                raise _too_many(_FREE, "more than ")
    cursors.sort()
    frame = frame_of(cursors, "record_time")
    frame.attrs["source"] = source_of(net.scan.servers[0])
    return frame


def snapshot_at(net: Network, at: Bound | None) -> Cursor:
    """The newest snapshot at or before a moment.

    Args:
        net: the network.
        at: a time or a pair (migration id, time); None is the newest snapshot.

    Raises:
        InputError: `at` is neither.
        NotFoundError: there is no such snapshot.
    """
    moment = bound(at, "at")
    scan = net.scan
    micros = LATEST if moment is None else moment if isinstance(moment, int) else moment.micros
    if isinstance(moment, Cursor):
        migrations = [moment.migration_id]
    else:
        firsts = list(first_cursors(scan.update_pages))
        migrations = [place.migration_id for place in reversed(firsts) if place.micros <= micros]
    for migration_id in migrations:
        snapshot = at_or_before(scan, migration_id, micros)
        if snapshot is not None:
            return Cursor(migration_id, snapshot)
    when = "" if at is None else f" at or before {format_timestamp(micros)}"
    where = f" of migration {moment.migration_id}" if isinstance(moment, Cursor) else ""
    raise NotFoundError(
        f"{SNAPSHOT_TIME}: the scan has no snapshot{where}{when}. What to do: lf.snapshot_times lists those it has",
        status=404, server=scan.servers[0],
    )  # fmt: skip


def _newest_first(scan: Scan, wanted: Window, firsts: list[Cursor]) -> Iterator[Cursor]:
    """The snapshots of a window, from the newest backwards."""
    for first in reversed(firsts):
        low, high = within(wanted, first.migration_id)
        place = high
        checks = TokenChecks(str(SNAPSHOT_TIME))
        while place > low and (micros := _before(scan, first.migration_id, place)) is not None and micros >= low:
            # Nor is one from before the migration, of which a scan that prunes may still have some.
            checks.follow(micros, new=place - micros >= _CLOSEST and micros >= first.micros)
            yield Cursor(first.migration_id, micros)
            place = micros


def _before(scan: Scan, migration_id: int, micros: int) -> int | None:
    """The newest snapshot strictly before an instant; releases differ in whether they count one at the instant."""
    cursor = _time_before(scan, migration_id, micros)
    if cursor is not None and cursor == micros:
        cursor = _time_before(scan, migration_id, micros - 1)
    if cursor is not None and cursor >= micros:
        raise PagingError(
            f"{SNAPSHOT_TIME}: asked for a snapshot before {format_timestamp(micros)}, the server named"
            f" {format_timestamp(cursor)}; a server that does not keep to the order cannot be searched"
        )
    return cursor


def at_or_before(scan: Scan, migration_id: int, micros: int) -> int | None:
    """The newest snapshot of a migration at or before an instant."""
    return _before(scan, migration_id, min(micros + 1, LATEST))


def _time_before(scan: Scan, migration_id: int, micros: int) -> int | None:
    answer = scan.snapshot_time(before=EPOCH + micros * MICROSECOND, migration_id=migration_id)
    if answer is None:
        return None
    with reading(SNAPSHOT_TIME, column="record_time", item="record_time"):
        return parse_timestamp(answer.record_time)[0]


def _quote(found: list[Cursor], firsts: list[Cursor], wanted: Window, *, bounded: bool, limited: bool) -> None:
    """Refuse a long list with an estimate of the number of snapshots, from the distance of the two newest."""
    newest, second = found
    period = newest.micros - second.micros
    if newest.migration_id != second.migration_id or period <= 0:
        return
    ranges = ((first, within(wanted, first.migration_id)) for first in firsts)
    lows = [max(first.micros, low) for first, (low, high) in ranges if low < high]
    count = max(2, (newest.micros - min(lows, default=second.micros)) // period + 1)
    _log.info("about %d snapshots, one request each", count)
    if count > _FREE and not bounded:
        raise _too_many(count, "about ")
    if count > _MOST and not limited:
        raise PagingError(
            f"{SNAPSHOT_TIME}: by the two newest, at {format_timestamp(second.micros)} and"
            f" {format_timestamp(newest.micros)}, the server has about {count:,} snapshots, more than any network."
            " Check scan_url=, or give limit= for the newest"
        )


def _too_many(count: int, about: str) -> InputError:
    return InputError(
        f"there are {about}{count:,} snapshots, and each takes a request: give start=, or limit= for the newest, or"
        ' start="begin" for all of them'
    )
