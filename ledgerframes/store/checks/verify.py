"""`Store.verify`: reads parts of a store again from a server, and compares."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import suggesting, whole_number
from ledgerframes.decoding.personal import strip_text
from ledgerframes.loaders.cross_check import CrossCheck, begins_now, compare, served_updates
from ledgerframes.loaders.extent import WHOLE, beginning_of, first_after, first_cursors, having
from ledgerframes.loaders.normalized import Canonical, canonical_updates
from ledgerframes.number_format import plural
from ledgerframes.paging.cursor import Bound, Duration, Window, before
from ledgerframes.store.coverage import Interval, merged, missing, wanted_in, window_of
from ledgerframes.store.delta.data_files import windows
from ledgerframes.store.history_tables import ORDER
from ledgerframes.store.read.reading import Part, folders_of
from ledgerframes.store.read.windows import lake_window
from ledgerframes.store.root import Root
from ledgerframes.store.stored_tables import declared

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import ScanPages
    from ledgerframes.network import Network
    from ledgerframes.store.store import Store

_UPDATES_PER_SAMPLE: Final = 50
#: Stored updates in memory at once; more if they share a record time.
_TOGETHER: Final = 2_000


@suggesting
def verify(
    self: Store,
    net: Network,
    *,
    start: Bound | None = None,
    end: Bound | None = None,
    last: Duration | None = None,
    sample: int | None = 20,
    seed: int = 0,
    differences: int = 20,
) -> CrossCheck:
    """Read parts of the stored history again from the network and compare; see `cross_check`. Nothing is changed.

    Args:
        self: the store.
        net: the network.
        start: see `load`, as for `end` and `last`.
        end: exclusive.
        last: counts back from the end of the stored history.
        sample: how many samples of about 50 updates to draw at random; None compares everything.
        seed: the same seed draws the same samples.
        differences: how many differences to keep at most.

    Returns:
        Counts and the first differences; `a` is the store, `b` the network. True if they agree and the store lacks
        nothing before its end that the network shows. `lacks` lists the missing parts, and the pruned ones, which
        are not compared; nor is what the store has beyond a network that lags (`beyond`).

    Raises:
        RequestError: a server did not answer.

    Example:
        >>> import tempfile, ledgerframes as lf
        >>> with tempfile.TemporaryDirectory() as folder, lf.sandbox(updates=50) as net:
        ...     store = lf.open_store(folder)
        ...     report = store.sync(net)
        ...     bool(store.verify(net, sample=2))
        True
    """
    lake = self._lake
    samples = None if sample is None else whole_number(sample, "sample", least=1)
    drawn_by, most = whole_number(seed, "seed"), whole_number(differences, "differences", least=0)
    root = lake.existing()
    part = lake_window(root, "updates", start, end, last).wanted
    pages = having(net.scan.update_pages, part)  # among several scans, those that reach back furthest
    begin = beginning_of(pages)
    lacking = ", ".join(map(str, _lacking(pages, root, part)))
    lacks = [f"{lake.url} lacks {lacking}"] if lacking else []
    if begin is None:
        lacks.append("the network shows no update: it is empty, or has pruned all of them; nothing is compared")
    elif root.coverage.common and begin.at > root.coverage.common[0].first:
        lacks.append(f"the network begins at {begin.first}, and lacks what the store has before: it is not compared")
        part = replace(part, start=max(part.start or begin.first, begin.first))
    chosen = map(window_of, root.coverage.within(part)) if samples is None else _drawn(root, part, samples, drawn_by)
    windows = [] if begin is None else list(chosen)
    checks: list[CrossCheck] = []
    stripped = not lake.keeps_personal()
    names = [lake.url, ", ".join(net.scan.servers)]
    for window in windows:
        remaining = most - sum(len(check.differences) for check in checks)
        ours, theirs = _stored(root, window), served_updates(pages, window)
        if stripped:
            # Both sides are stripped, because the store alone lacks the contact points.
            ours, theirs = map(_impersonal, ours), map(_impersonal, theirs)
        checks.append(
            compare(
                ours, theirs, names=names, part=str(window), most=max(remaining, 0),
                whole=cache(partial(_follows, pages, window)),
                begins=lambda: (WHOLE, begins_now(pages)),
            )
        )  # fmt: skip
    return CrossCheck(
        names[0], names[1], str(part) if samples is None else f"{plural(samples, 'sample')} from {part}",
        sum(check.compared for check in checks), sum(check.differing for check in checks),
        tuple(difference for check in checks for difference in check.differences),
        max((check.up_to for check in checks if check.up_to is not None), default=None),
        next((check.beyond for check in checks if check.beyond), ""),
        lacks="; ".join(lacks), whole=not lacking, pruned=sum(check.pruned for check in checks),
    )  # fmt: skip


def _lacking(pages: ScanPages, root: Root, part: Window) -> Iterator[Interval]:
    """The intervals before the end of the store that the network shows and the store does not cover."""
    covered = root.coverage.common
    for first in first_cursors(pages) if covered else ():
        migration_id = first.migration_id
        wanted = wanted_in(part, migration_id)
        if wanted is None or migration_id > covered[-1].migration_id:
            continue
        for gap in missing(wanted, covered):
            newest = migration_id == covered[-1].migration_id and gap.lo >= covered[-1].hi
            shown = None if newest else first_after(pages, gap.after)
            if shown is not None and shown <= (migration_id, gap.hi):
                yield gap._replace(lo=shown.micros - 1)


def _follows(pages: ScanPages, window: Window) -> bool:
    """Whether the network shows an update after a window; one that shows none may lag behind the store in it."""
    return window.end is None or first_after(pages, before(window.end)) is not None


def _impersonal(update: Canonical) -> Canonical:
    """An update in the form of a lake without personal data."""
    return replace(update, members=json.loads(strip_text(json.dumps(update.members).encode())))


def _drawn(root: Root, part: Window, sample: int, seed: int) -> Iterator[Window]:
    """Windows drawn at random, each from one stored update to the 50th after it; overlapping ones are joined."""
    read = Part.of(root, "updates", part, allow_partial=True)
    cursors = read.load(["migration_id", "record_time"])
    if not cursors.num_rows:
        return
    rng = random.Random(seed)  # noqa: S311 - a sample, no secret
    drawn: list[Interval] = []
    for _ in range(sample):
        first = rng.randrange(cursors.num_rows)
        rows = cursors.slice(first, _UPDATES_PER_SAMPLE)
        # A window by cursors of two migrations would also hold whatever lies between them.
        rows = rows.filter(pc.equal(rows["migration_id"], rows["migration_id"][0]))
        migration_id, times = rows["migration_id"][0].as_py(), rows["record_time"].cast(pa.int64())
        drawn.append(Interval(migration_id, times[0].as_py() - 1, times[-1].as_py()))
    # Overlapping samples are joined, so that each update is read and counted once.
    yield from map(window_of, merged(drawn))


def _stored(root: Root, window: Window) -> Iterator[Canonical]:
    """The stored updates of a window, a few at a time."""
    for covered in root.coverage.within(window):
        parts = {name: Part.of(root, name, window_of(covered), allow_partial=True) for name in ORDER}
        updates = parts["updates"]
        for folder in folders_of(updates.data, updates.rows):
            for rows in windows(folder, updates.rows, _TOGETHER):
                yield from canonical_updates(
                    {name: part.load(declared(name).names, rows) for name, part in parts.items()}
                )
