"""Learning about a history by few small requests: its migrations, and what reading a range would cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ledgerframes.arguments import suggesting
from ledgerframes.config.settings import is_loopback
from ledgerframes.errors import PagingError
from ledgerframes.paging.cursor import Cursor, before
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Window, window
from ledgerframes.results import Result
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.scan import Scan
    from ledgerframes.network import Network

# 8 pages of 40 items cost less than one page of 1,000, and show bursts that a single sample would miss.
_SAMPLES: Final = 8
_SAMPLE_SIZE: Final = 40
#: A network has a handful.
_MIGRATIONS: Final = 1_000


@dataclass(frozen=True)
class Migration:
    """One migration of the network, and the first and last record time seen in it."""

    migration_id: int
    first: int
    last: int


@dataclass(frozen=True)
class Plan(Result):
    """An estimate, from small samples, of what reading a range of the history takes.

    Attributes:
        range: the range in words.
        rows: updates, about.
        requests: requests of 1,000 items.
        megabytes: size of the answers, uncompressed.
        minutes: time at the configured rate (loopback has none) and the sampled answer time.
    """

    range: str
    rows: int
    requests: int
    megabytes: float
    minutes: float

    def __str__(self) -> str:
        return (
            f"{self.range}: about {self.rows:,} updates, {self.requests:,} requests, {self.megabytes:,.1f} MB,"
            f" {f'{self.minutes:,.1f} minutes' if self.minutes >= 1 else 'under a minute'}"
        )


def migrations(net: Network) -> pd.DataFrame:
    """List the network's migrations with their first and last record time.

    Found by bisection, with about 60 requests of one item per migration.

    Args:
        net: the network; its scan is asked.

    Returns:
        One row per migration: migration_id, first_record_time, last_record_time (datetime64[us, UTC]).

    Raises:
        RequestError: the scan gave no answer.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.migrations(net).migration_id.to_list()
        [0, 1, 2]
    """
    known = find_migrations(net.scan)
    frame = pd.DataFrame(
        {
            "migration_id": pd.Series([migration.migration_id for migration in known], dtype="int64"),
            "first_record_time": _times([migration.first for migration in known]),
            "last_record_time": _times([migration.last for migration in known]),
        }
    )
    frame.attrs["source"] = ", ".join(net.scan.servers)
    return frame


@suggesting
def plan(net: Network, start: Bound | None = None, end: Bound | None = None) -> Plan:
    """Estimate what loading a range of the history takes, before loading it.

    Args:
        net: the network.
        start: inclusive; a time, or a pair (migration id, time); None or `"begin"` is ledger begin.
        end: exclusive; None is now.

    Returns:
        A `Plan`: updates, requests, megabytes and minutes, approximately.

    Raises:
        InputError: a bound is not valid, or the end is not after the start.
        RequestError: the scan gave no answer.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plan(net).rows
        50
    """
    return plan_window(net, window(start, end))


def plan_window(net: Network, wanted: Window) -> Plan:
    """Estimate what reading a window takes."""
    return plan_windows(net, [wanted], str(wanted))


def plan_windows(net: Network, windows: Sequence[Window], name: str) -> Plan:
    """Estimate what reading several windows takes; `name` describes them in words."""
    rows, size, items, seconds, probes = 0.0, 0, 0, 0.0, 0
    for migration, wanted in product(find_migrations(net.scan), windows):
        low = wanted.nearest(Cursor(migration.migration_id, migration.first))
        # A window of bare times moves on to the next migration where this one has nothing of it.
        if low is None or low.migration_id != migration.migration_id or low.micros > migration.last:
            continue
        high = _top(wanted, migration)
        sample = _Sample(net.scan, migration.migration_id, low.micros, high)
        rows += sample.rows
        size += sample.bytes
        items += sample.items
        seconds += sample.seconds
        probes += sample.requests
    count = round(rows)
    # Two more for the end of the read, which only an empty page proves.
    requests = -(-count // MAXIMUM) + 2
    # Loopback has no rate limit.
    rate = net.settings.rate if not is_loopback(net.scan.servers[0]) else 0.0
    # Whichever is slower decides, the server or the limit.
    each = max(seconds / probes if probes else 0.0, 1 / rate if rate else 0.0)
    megabytes = count * size / items / 1e6 if items else 0.0
    return Plan(name, count, requests, round(megabytes, 3), round(requests * each / 60, 3))


def _top(wanted: Window, one: Migration) -> int:
    """The last instant of a migration that a window can hold."""
    high = one.last
    if wanted.until is not None:
        high = min(high, wanted.until - 1)
    if wanted.end is not None and wanted.end.migration_id == one.migration_id:
        high = min(high, wanted.end.micros - 1)
    return high


class _Sample:
    """Pages at even distances in one migration; the rows follow from how dense they lie."""

    def __init__(self, scan: Scan, migration_id: int, low: int, high: int) -> None:
        self.rows = 0.0
        self.bytes = self.items = self.requests = 0
        self.seconds = 0.0
        width = (high - low + 1) / _SAMPLES
        for step in range(_SAMPLES):
            left = low + round(step * width)
            right = low + round((step + 1) * width)
            answer = _ask(scan, before(Cursor(migration_id, left)), _SAMPLE_SIZE)
            self.requests += 1
            self.bytes += answer.size
            self.items += len(answer.value)
            self.seconds += answer.seconds
            places = [place.micros for place in answer.value.glimpse.cursors if place.migration_id == migration_id]
            inside = sum(micros < right for micros in places)
            if inside < len(places) or len(places) < _SAMPLE_SIZE:
                self.rows += inside  # the whole stretch was seen
            else:
                self.rows += len(places) * (right - left) / max(places[-1] - left, 1)


def find_migrations(scan: Scan) -> list[Migration]:
    """The migrations in order, by probes of one item."""
    return [Migration(first.migration_id, first.micros, _last_of(scan, first)) for first in first_cursors(scan)]


def latest_migration(scan: Scan) -> int | None:
    """The newest migration id that the scan shows, by one request per migration."""
    return max((first.migration_id for first in first_cursors(scan)), default=None)


def first_cursors(scan: Scan) -> Iterator[Cursor]:
    """The first cursor of each migration, in order, by one request per migration and one more.

    Raises:
        PagingError: the server does not keep to the order of the history, or its migrations do not end.
    """
    place: Cursor | None = None
    for _ in range(_MIGRATIONS):
        first = _first_after(scan, place)
        if first is None:
            return
        yield first
        # Any higher migration id counts as later, so the rest of a migration is skipped in one request.
        place = Cursor(first.migration_id, LATEST)
    if (first := _first_after(scan, place)) is not None:
        raise _endless(first)


def _say(place: Cursor) -> str:
    return f"(migration {place.migration_id}, {format_timestamp(place.micros)})"


def _endless(first: Cursor) -> PagingError:
    return PagingError(
        f"POST /v2/updates: after {_MIGRATIONS} migrations the server shows one more at {_say(first)}; check scan_url="
    )


def _last_of(scan: Scan, first: Cursor) -> int:
    """The last record time of a migration: the distance doubles while there is more, then halves."""
    known, step = first.micros, 1_000_000
    while (place := _next(scan, first.migration_id, known + step)) is not None:
        # Doubling first, because the end may be a minute or years away.
        known, step = place, step * 2
    beyond = min(known + step, LATEST)
    while beyond > known:
        middle = (known + beyond) // 2
        place = _next(scan, first.migration_id, middle)
        if place is None:
            beyond = middle
        else:
            known = place
    return known


def _next(scan: Scan, migration_id: int, micros: int) -> int | None:
    """The first record time after an instant in one migration."""
    if micros >= LATEST:
        return None
    place = _first_after(scan, Cursor(migration_id, micros))
    return place.micros if place is not None and place.migration_id == migration_id else None


def _first_after(scan: Scan, place: Cursor | None) -> Cursor | None:
    cursors = _ask(scan, place, 1).value.glimpse.cursors
    if cursors and place is not None and cursors[0] <= place:
        raise PagingError(
            f"POST /v2/updates: asked for what follows {_say(place)}, the server sent an update of {_say(cursors[0])};"
            " a server that does not keep to the order cannot be searched"
        )
    return cursors[0] if cursors else None


def _ask(scan: Scan, place: Cursor | None, page_size: int) -> Any:
    return scan.send_page(scan.page_request(place, page_size), server=None, revise=None)


def _times(micros: list[int]) -> pd.Series:
    return pd.Series(np.asarray(micros, np.int64).view("datetime64[us]")).dt.tz_localize("UTC")
