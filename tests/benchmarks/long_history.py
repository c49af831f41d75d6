"""A history of any length: the sandbox's first updates over and over, each copy under ids of its own and days later.

Update i is computed from i alone, so a server pages through any length without holding it; `servers.py` serves it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import accumulate

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world import timestamps

#: Updates of a copy.
COPY = 2_000
MIGRATION = 0
#: What differs by copy: eight digits of each id that the copy's own updates make, and the days of all times.
_DIGITS = re.compile(rb'(?<=ca101220)[0-9a-f]{8}|(?<="unassign_id":"00)[0-9a-f]{8}')
_DAY = re.compile(rb"(20\d\d-\d\d-\d\d)(?=T\d\d:)")


@dataclass(frozen=True)
class Template:
    """The updates of which every copy is made.

    Attributes:
        texts: their JSON, to be formatted with the names that `_values` returns.
        times: their record times in microseconds; ties are in it, as updates of several synchronizers share a time.
        events: how many the updates up to each have.
        days: every day in their times.
        span: how many days later the next copy is.
    """

    texts: tuple[bytes, ...]
    times: tuple[int, ...]
    events: tuple[int, ...]
    days: frozenset[bytes]
    span: int


@lru_cache
def template() -> Template:
    """The sandbox's first updates."""
    updates = generate(7, COPY, migrations=1).updates
    times = tuple(update.record_time for update in updates)
    return Template(
        texts=tuple(_marked(update.rendered, update.update_id.encode()) for update in updates),
        times=times,
        events=tuple(accumulate((len(json.loads(one.rendered).get("events_by_id", ())) for one in updates), initial=0)),
        days=frozenset(day for update in updates for day in _DAY.findall(update.rendered)),
        span=times[-1] // timestamps.DAY - times[0] // timestamps.DAY + 1,
    )


def items(start: int, end: int) -> Iterator[bytes]:
    """The JSON of the updates from start (inclusive) to end (exclusive)."""
    texts = template().texts
    for index in range(start, end):
        copy, place = divmod(index, COPY)
        yield texts[place] % _values(copy)


def first_after(migration_id: int, record_time: int) -> int:
    """The first update after a cursor: a higher migration id, or the same one and a later record time."""
    if migration_id != MIGRATION:
        return 0 if migration_id < MIGRATION else 1 << 62
    times = template().times
    span = template().span * timestamps.DAY
    copy = max(0, (record_time - times[0]) // span)
    return copy * COPY + bisect_right(times, record_time - copy * span)


def events_in(updates: int) -> int:
    """The events in the first updates, counted without making them."""
    copies, rest = divmod(updates, COPY)
    return copies * template().events[-1] + template().events[rest]


def _marked(text: bytes, update_id: bytes) -> bytes:
    """An update's JSON with names for what differs by copy."""
    text = text.replace(b"%", b"%%").replace(update_id, update_id[:-8] + b"%(copy)b")
    return _DAY.sub(rb"%(\1)b", _DIGITS.sub(b"%(copy)b", text))


@lru_cache(maxsize=4)
def _values(copy: int) -> dict[bytes, bytes]:
    later = timedelta(days=copy * template().span)
    days = {day: (date.fromisoformat(day.decode()) + later).isoformat().encode() for day in template().days}
    return {b"copy": b"%08x" % copy, **days}
