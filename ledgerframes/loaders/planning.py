"""Learning about a history by few small requests: its migrations, and what reading a range would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from ledgerframes.arguments import suggesting
from ledgerframes.config.settings import is_loopback
from ledgerframes.errors import PartialResultError
from ledgerframes.loaders.extent import (
    EVERYTHING,
    Extent,
    extent_of,
    first_cursors,
    frame_of,
    furthest,
    having,
    newest_of,
    nothing_shown,
    sample_size,
    within,
)
from ledgerframes.paging.cursor import Bound, Cursor, Duration, Window, before, wanted_window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.modes import PageQuery
from ledgerframes.results import Result, html_pairs
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import ScanPages
    from ledgerframes.interfaces.paged_histories import HistoryPage
    from ledgerframes.network import Network
    from ledgerframes.transport import Answer

# A few pages show bursts that a single sample would miss.
_SAMPLES: Final = 5
#: Each sample lies by this share of its stretch, the golden section, after the last, and thus at another time of day.
_LATER: Final = 0.618
#: Requests that prove the end of an open range: its last updates once more, an empty page, and the first page again.
_OF_END: Final = 3
#: Requests by which a sync finds out where what fills a page or more ends, to cut it for its workers, by what ends it.
_OF_CUTTING: Final = {"the newest update": 14, "the next migration": 7, "a time": 3}
#: And more of them where an end has to be searched for behind more than two pages.
_OF_SEARCHING: Final = 8
#: Requests by which a sync that commits more than once settles the end of what it has read, besides one per migration.
_OF_SETTLING: Final = 3
_WORKERS: Final = 4


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """An estimate, from small samples, of the cost of reading a range of the history.

    Attributes:
        range: the range in words.
        rows: updates, about.
        requests: requests of `load_history`, from one server that sends pages of 1,000 items, about: those that it
            looks around by and those that prove its end are counted too.
        sync_requests: requests of `store.sync` of the same into a new lake, which also proves that nothing is missing.
        megabytes: size of the answers, uncompressed.
        minutes: time of the load at the configured rate (loopback has none) and the sampled answer time.
        begins_late: where the available history begins, if later than ledger begin and the range reaches back to it.
    """

    range: str
    rows: int
    requests: int
    sync_requests: int
    megabytes: float
    minutes: float
    begins_late: str | None = None

    def lines(self) -> list[tuple[str, str]]:
        """The lines of a printed plan, as pairs of a name and a text."""
        minutes = f"{self.minutes:,.1f} minutes" if self.minutes >= 1 else "under a minute"
        load = f"about {self.requests:,} requests by load_history, in {minutes}"
        return [
            ("range", self.range),
            ("size", f"about {self.rows:,} updates, {self.megabytes:,.1f} MB"),
            ("cost", f"{load}; about {self.sync_requests:,} by store.sync"),
            *([("begins", f"late, at {self.begins_late}")] if self.begins_late else []),
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name:<8} {text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        return html_pairs(self.lines())


@suggesting
def migrations(net: Network) -> pd.DataFrame:
    """List the network's migrations with their first and last record time.

    Found by a few requests of 60 items per migration.

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
    pages = having(net.scan.update_pages, EVERYTHING)
    # All beginnings first: a server of ever more migrations is refused before the end of any is looked for.
    known = [(first, newest_of(net.scan, pages, first)) for first in list(first_cursors(pages))]
    places = [(first.migration_id, first.micros, last.micros) for first, last in known]
    frame = frame_of(places, "first_record_time", "last_record_time")
    frame.attrs["source"] = ", ".join(net.scan.servers)
    return frame


@suggesting
def plan(net: Network, start: Bound | None = None, end: Bound | None = None, *, last: Duration | None = None) -> Plan:
    """Estimate what loading or syncing a range of the history takes, before doing it, by about ten small requests.

    Args:
        net: the network.
        start: inclusive; a time, or a pair (migration id, time); `"begin"` is ledger begin; without it, from the first
            update there is.
        end: exclusive; without it, up to the newest update.
        last: `"7d"`, `"1h 30min"` or a timedelta, back from the newest update; instead of `start`.

    Returns:
        A `Plan`: updates, requests, megabytes and minutes, approximately.

    Raises:
        InputError: a bound is not valid, or the end is not after the start.
        RequestError: the scan gave no answer.
        PagingError: the scan does not keep to the order of the history, or its migrations do not end.
        PartialResultError: `last` is given, and the scan shows no update; or all that it shows are before `start`.

    Example:
        >>> import ledgerframes as lf
        >>> with lf.sandbox(updates=50) as net:
        ...     lf.plan(net).rows
        50
    """
    # Refuses invalid arguments before any request; `last` then reaches back to the beginning.
    wanted = wanted_window(start, end, last, now=0)
    began = net.stats.snapshot().requests
    extent = extent_of(net.scan, having(net.scan.update_pages, wanted))
    if last is not None and extent is not None:
        extent = furthest(net.scan, extent)
    spent = net.stats.snapshot().requests - began
    if extent is None and last is not None:
        raise PartialResultError(f"{nothing_shown(net.scan)}, so last= has nothing to count back from")
    resolved = wanted_window(start, end, last, now=0 if extent is None else extent.newest.micros)
    if extent is not None and resolved.begins_after(extent.newest):
        raise PartialResultError(
            f"the network ends at {extent.newest}, and {resolved} is asked for. Give an earlier start= or leave it out"
        )
    return _planned(net, extent, [resolved], spent=spent, again=0 if last is None else spent)


def plan_windows(net: Network, windows: Sequence[Window], name: str = "") -> tuple[Plan, Cursor | None]:
    """Estimate what reading several windows takes, and return it with the newest update that is there.

    Args:
        net: the network.
        windows: the windows.
        name: describes them in words.
    """
    began = net.stats.snapshot().requests
    extent = extent_of(net.scan, having(net.scan.update_pages, EVERYTHING))
    planned = _planned(net, extent, windows, name, spent=net.stats.snapshot().requests - began)
    return planned, None if extent is None else extent.newest


def plan_missing(net: Network, wanted: Window, missing: Sequence[Window]) -> Plan:
    """Estimate what reading those parts of a window takes that a lake does not have."""
    planned, _ = plan_windows(net, missing, f"not in the lake yet: {wanted}")
    if planned.rows:
        return planned
    # A sync that finds no news asks once for each part that is still open.
    return replace(planned, range=f"all that there is of it is in the lake: {wanted}", sync_requests=len(missing))


def _planned(
    net: Network, extent: Extent | None, windows: Sequence[Window], name: str = "", *, spent: int = 0, again: int = 0
) -> Plan:
    """The plan; `spent` requests found the extent, and reading sends `again` of them once more."""
    if extent is None:
        return Plan(name or f"{windows[0]}, where no update is shown", 0, 1, 1, 0.0, 0.0)
    parts = []
    # Each migration ends approximately where the next one begins.
    for first, following in zip(extent.firsts, [*extent.firsts[1:], extent.newest], strict=True):
        named = [_part(wanted, first, max(first.micros, following.micros)) for wanted in windows]
        parts += [part for part in named if part is not None]
    total = sum(part.high - part.low + 1 for part in parts)
    answers: list[Answer[HistoryPage]] = []
    samples = [max(1, _SAMPLES * (part.high - part.low + 1) // total) for part in parts]
    rows = [_rows_of(extent.pages, part, count, answers) for part, count in zip(parts, samples, strict=True)]
    count = round(sum(rows))
    requests = again + (_requests_of_load(windows[0], extent, count, spent + len(answers)) if windows else 0)
    # Loopback has no rate limit.
    rate = net.settings.rate if not is_loopback(net.scan.servers[0]) else 0.0
    # Whichever is slower decides, the server or the limit.
    each = max(sum(one.seconds for one in answers) / max(len(answers), 1), 1 / rate if rate else 0.0)
    items = sum(len(one.value) for one in answers)
    megabytes = count * sum(one.size for one in answers) / items / 1e6 if items else 0.0
    reaches = any(wanted.wants_before(extent.beginning.first) for wanted in windows)
    late = extent.beginning.late if reaches else None
    newest = f"{format_timestamp(extent.newest.micros)} (the newest update there)"
    return Plan(
        name or windows[0].in_words(str(extent.beginning) if reaches else "", newest), count, requests,
        again + _requests_of_sync(windows, extent, rows, parts), round(megabytes, 3),
        round(requests * each / 60, 3), None if late is None else format_timestamp(late.micros),
    )  # fmt: skip


def _requests_of_load(wanted: Window, extent: Extent, rows: int, planning: int) -> int:
    """Requests of a load; one of the whole history sends those of a plan, too, if its first page is full."""
    pages = -(-rows // MAXIMUM)
    ends = _migrations_in(wanted, extent) + 1 if wanted.has_end else _OF_END + (not pages)
    looks = wanted.since is not None or (wanted.start is not None and wanted.start >= extent.firsts[0])
    return pages + ends + looks + (planning if wanted.whole and rows >= MAXIMUM else 0)


def _requests_of_sync(windows: Sequence[Window], extent: Extent, rows: list[float], parts: list[_Part]) -> int:
    """Requests of a sync: the servers and their migrations, then each migration separately."""
    requests = 2 + len(extent.firsts)
    newest, begins = extent.firsts[-1], {(first.migration_id, first.micros) for first in extent.firsts}
    # A page that reaches from the start to the newest update settles all; otherwise the ends are read again.
    on_a_page = sum(rows) <= MAXIMUM and begins.issuperset((part.migration_id, part.low) for part in parts[1:])
    for wanted in windows:
        reached = _migrations_in(wanted, extent)
        settled = on_a_page and len(parts) == reached
        again = reached > 1 and not settled and (wanted.until is None or wanted.until > newest.micros)
        requests += reached * (1 + again) + (0 if wanted.has_end else 2 + again * _OF_SETTLING)
    for part, count in zip(parts, rows, strict=True):
        pages = -(-round(count) // MAXIMUM)
        if count < MAXIMUM:
            continue
        shards = min(4 * _WORKERS, pages // _WORKERS)
        whole = "the next migration" if part.migration_id < newest.migration_id else "the newest update"
        ends_at = whole if part.whole_end else "a time"
        requests += pages - 1 + _OF_CUTTING[ends_at] + (shards if shards > 1 else 0)
        requests += _OF_SEARCHING if pages > 2 and ends_at != "a time" else 0
    return requests


def _migrations_in(wanted: Window, extent: Extent) -> int:
    """The number of migrations that a window reaches into; one of bare times looks into each."""
    ranges = [within(wanted, first.migration_id) for first in extent.firsts]
    return sum(low < high for low, high in ranges)


@dataclass(frozen=True)
class _Part:
    """The part of a migration that a window names; `whole_end`: up to the end of the migration, wherever it lies."""

    migration_id: int
    low: int
    high: int
    whole_end: bool


def _part(wanted: Window, first: Cursor, last: int) -> _Part | None:
    """The part that a window names of the migration from its first place to its last instant."""
    low, high = within(wanted, first.migration_id)
    low, high = max(low, first.micros), min(high - 1, last)
    return _Part(first.migration_id, low, high, high == last) if low <= high else None


def _rows_of(pages: ScanPages, part: _Part, samples: int, answers: list[Answer[HistoryPage]]) -> float:
    """The rows of a part of a migration, by how dense they lie on pages of as many stretches, which it adds."""
    rows, width, dense = 0.0, (part.high - part.low + 1) / samples, False
    for step in range(samples):
        left = part.low + round(step * width)
        right = part.low + round((step + 1) * width)
        at = left + round(step * _LATER % 1 * (right - left)) if dense else left
        page = pages.send_page(PageQuery(before(Cursor(part.migration_id, at)), sample_size(pages)))
        answers.append(page)
        times = [place.micros for place in page.value.page_index.cursors if place.migration_id == part.migration_id]
        passed = len(times) < len(page.value) or len(times) < sample_size(pages)  # the end of the migration
        inside = sum(micros < right for micros in times)
        seen = right
        if passed and part.whole_end and step == samples - 1:
            inside = len(times)
        elif not passed and inside == len(times):
            seen, dense = times[-1], True
        rows += inside * (right - left) / max(seen - at, 1)
    return rows
