"""One simulated history: a world, its servers, a few syncs with trouble between and within them, and the end.

At the end all servers show all they have and are well; one sync must then make the stored rows the truth, and another
one must change nothing.
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from ledgerframes.errors import (
    BeginsLateWarning,
    DecodeError,
    InputError,
    LedgerframesError,
    PartialResultError,
    RequestError,
    StoreError,
)
from ledgerframes.paging.cursor import Window
from ledgerframes.store.checks.check import check
from ledgerframes.store.coverage import BEGINNING
from ledgerframes.store.lake import Lake
from ledgerframes.store.read.reading import Part, load_table
from ledgerframes.store.stored_tables import HISTORY, declared
from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.sync import run_sync
from ledgerframes.timestamps import LATEST, format_timestamp
from tests.simulation.choices import Choices
from tests.simulation.clock import SimClock
from tests.simulation.faults import Holds, holding
from tests.simulation.invariants import Watch, inside
from tests.simulation.net import Endless, Seen, SimNet, SimScan
from tests.simulation.objects import Bulk
from tests.simulation.rot import damage
from tests.simulation.scheduling import Deadlock, SeededScheduler
from tests.simulation.script import Outcome, Script
from tests.simulation.servers import Fleet, Server, largest_group
from tests.simulation.spool import Spool
from tests.simulation.storage import Disk, Killed, SimLake
from tests.simulation.world import BASE, OVERLAP, SETTLE, Item, U, network_of

#: A sync says so of a server that may be of another network.
_UNKNOWN: Final = "does not show yet whether it belongs to the store's network"


def run(script: Script, *, lake: Callable[[Disk], Lake] = SimLake) -> Outcome:
    """Let a history happen."""
    return _History(script, lake).run()


class _History:
    """One history while it happens."""

    def __init__(self, script: Script, lake: Callable[[Disk], Lake]) -> None:
        self.script = script
        self.faults = frozenset(script.faults)
        self.choices = Choices(script.seed, None if script.seed is not None else script.choices)
        self.disk = Disk()
        self.lake = lake(self.disk)
        self.stored_as = script.stored_as
        self.watch = Watch(self.disk, self.lake, stored_as=self.stored_as)
        everything = (*script.items, *script.branch)
        self.watch.kinds = {item.update_id: item.kind for item in everything}
        self.broken = any(item.kind == "broken" for item in everything)
        self.clock = SimClock(BASE)
        self.log: list[str] = []
        self.syncs: Counter[str] = Counter()
        self.requests = 0
        self.calm = True
        self.refused = self.left_out = False
        self.frames: dict[str, pa.Table] = {}
        self.largest: Counter[str] = Counter()  # by server, the most items that it has sent in a page
        self.heaviest: Counter[str] = Counter()  # by server, the most bytes of such a page
        self.spool = Spool() if script.objects else None
        self._set_up()
        self.disk.before, self.disk.after = self._before_write, self._after_write

    def _set_up(self) -> None:
        script, choices = self.script, self.choices
        group = largest_group(script.items)
        servers = [Server(f"https://scan{number}", script.items) for number in range(script.servers)]
        for server in servers:
            if "silent-cap" in self.faults:
                server.cap = group + 1 + choices.pick("setup", 3)
            if "low-maximum" in self.faults:
                server.maximum = group + 1 + choices.pick("setup", 3)
            if script.objects:
                server.bulk = Bulk.drawn(self.faults, choices)
        self.fleet = Fleet(servers, self.faults, choices)
        if "replicas" in self.faults:
            self.fleet.behind[servers[0].url] = [Server("replica", script.items)]
        if "other-network" in self.faults:
            servers[-1].items = script.branch
        for _ in range(choices.pick("moves", 45 if script.objects else 7)):
            self.fleet.move(0, 1)
            self.fleet.prune(15)
        self.calm = False

    def run(self) -> Outcome:
        """From the first sync to the end."""
        if self.spool is None:
            return self._run_all()
        with self.spool:
            return self._run_all()

    def _run_all(self) -> Outcome:
        try:
            for number in range(1 + self.choices.pick("plan", 3)):
                if number:
                    self._between()
                self._sync(number)
            self._end()
        except (Endless, Deadlock, RecursionError) as error:
            self.watch.say(Holds.ENDS, f"{type(error).__name__}: {error}")
        script = replace(self.script, choices=self.choices.plain(), seed=None)
        must = holding(self.faults)
        problems = [problem for problem in self.watch.problems if problem.holds in must]
        excused = [problem for problem in self.watch.problems if problem.holds not in must]
        return Outcome(problems, script, self.log, self.syncs, self.requests, excused)

    # syncs

    def _between(self) -> None:
        """What happens between two syncs."""
        self.fleet.move(20, 20, 20, 20, 20)
        self.fleet.prune(40)
        forked = [self.fleet.servers[-1]] if "fork" in self.faults else []
        forked = self.fleet.servers if "fork-all" in self.faults else forked
        if forked and self.choices.chance("fork", 60):
            for server in forked:
                server.restore(self.script.cut, self.script.branch)
            self.log.append(f"fork of {len(forked)} servers")
            self.fleet.move(20, 20, 20, 20, 20)
        if "stepping-back" in self.faults and self.choices.chance("step-back", 40):
            server = self.fleet.servers[0]
            server.restore(server.newest - self.choices.pick("step-back", 8) * U, server.items)

    def _order(self) -> Any:
        """What a caller asks of a sync."""
        choices = self.choices
        workers = 1 + (choices.weighted("sync", 40, 40, 20) if "workers" in self.faults else 0)
        settle = SETTLE + (choices.pick("sync", 4) * U if "long-settle" in self.faults else 0)
        start = end = None
        if "windows" in self.faults:
            start, end = self._window()
        return SyncRequest(
            tables=(self.stored_as.index,), start=start, end=end, workers=workers,
            settle=f"{settle // 1_000_000}s", now=format_timestamp(self.clock.micros),
            page_size=2 + choices.pick("sync", 3),
            commit_bytes=(1, 3000, 10**9)[choices.pick("sync", 3)],
            on_error="reject" if self.broken else "raise",
            progress=False, scheduler=SeededScheduler(choices), clock=self.clock,
            source=("auto", "objects", "pages", "auto")[choices.pick("source", 4)] if self.script.objects else "pages",
        )  # fmt: skip

    def _window(self) -> tuple[Any, Any]:
        choices = self.choices
        kind = choices.weighted("window", 40, 20, 20, 20)
        low = choices.pick("window", 10) * U
        high = low + (1 + choices.pick("window", 6)) * U
        start, end = (format_timestamp(BASE + low) if kind in {1, 3} else None), None
        if kind in {2, 3}:
            end = format_timestamp(BASE + high)
        # In every migration, or from or to a place in one of them.
        migration_id = choices.pick("window-migration", 5) - 2
        if migration_id < 0:
            return start, end
        return start and (migration_id, start), end and (migration_id, end)

    def _set_clock(self) -> None:
        newest = max((server.newest for server in self.fleet.servers), default=0)
        self.clock.micros = max(
            self.clock.micros, BASE + max(newest, 0) + (0, 1, SETTLE, 8 * U)[self._pick("clock", 4)]
        )
        if "wrong-clock" in self.faults:
            self.clock.micros = BASE + (-3, -1, 1, 3)[self._pick("clock", 4)] * 31_536_000_000_000

    def _pick(self, stream: str, count: int) -> int:
        return self.choices.pick(stream, count)

    def _sync(self, number: int) -> None:
        servers = list(self.fleet.servers)
        if "servers-change" in self.faults and len(servers) > 1:
            first = self._pick("servers", len(servers))
            servers = [*servers[first:], *servers[:first]][: 1 + self._pick("servers", len(servers))]
        self._set_clock()
        order = self._order()
        self.log.append(
            f"sync {number}: {len(servers)} servers, {order.workers} workers, pages of {order.page_size},"
            f" {order.window}, {order.source}"
        )
        held = self._held()
        scan, ending, records = self._run(servers, order)
        went = ending == "ended"
        if went and not (self.faults - {"workers"}) & {"windows"}:
            self._keep_frames()
        truth = None if {"fork", "fork-all", "other-network"} & self.faults else self.script.items
        # A sync that lists what it left, since the servers lag behind what is stored, does not claim to have read it.
        whole = went and order.workers == 1 and not self.left_out
        # Nothing is stored of a server that does not show of which network it is.
        ours = [one for one in scan.seen if not any(one.url in text and _UNKNOWN in text for text in records)]
        self.watch.after_run(truth, self._ever(), ours if whole else None)
        if "other-network" in self.faults and not {"fork", "fork-all"} & self.faults:
            self.watch.mixed(self.script.items, self.script.branch)
        if went and {"fork", "fork-all"} & self.faults:
            self.watch.unsaid_fork(
                held,
                scan.seen,
                [url for url in scan.servers if any(url in text for text in records)],
                settle=order.settle_micros,
            )

    def _run(self, servers: list[Server], order: Any, *, calm: bool = False) -> tuple[SimScan, str, list[str]]:
        """One sync, from its beginning to whatever ends it."""
        scan = SimScan(
            self.fleet, servers, self.disk, clock=self.clock, faults=self.faults, choices=self.choices, calm=calm
        )
        self.calm, self.refused, self.left_out = calm, False, False
        records: list[str] = []
        ending = "without an end"
        handler = _Keeping(records)
        logger = logging.getLogger("ledgerframes")
        logger.addHandler(handler)
        propagates, logger.propagate = logger.propagate, False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BeginsLateWarning)
                report = run_sync(self.lake, SimNet(scan), order)
            ending = "ended"
            self.log.append(f"  covered {'; '.join(report.covered)}; left {report.left}")
            self.left_out = bool(report.left)
        except Killed:
            ending = "killed"
        except KeyboardInterrupt:
            ending = "interrupted"
        except LedgerframesError as error:
            ending = type(error).__name__
            self.log.append(f"  {error}")
            if not self._expected(error, order, calm=calm):
                self.watch.say(Holds.NO_ALARM, f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 - anything else is a fault of ours
            ending = f"crash: {type(error).__name__}"
            self.watch.say(Holds.ENDS, f"a sync ended in {type(error).__name__}: {error}")
        finally:
            logger.removeHandler(handler)
            logger.propagate = propagates
            self.calm, self.disk.dead = True, False
            self.requests += scan.stats.requests
            self._tidy(ending, order.source)
            for seen in scan.seen:
                if not seen.damaged and len(seen.items) >= self.largest[seen.url]:
                    self.largest[seen.url] = len(seen.items)
                    self.heaviest[seen.url] = max(self.heaviest[seen.url], len(self.stored_as.body(seen.items)))
        self.log += [f"    {seen}" for seen in scan.seen]
        self.log.append(f"  {ending} after {scan.stats.requests} requests")
        self.syncs[ending] += 1
        return scan, ending, records

    def _tidy(self, ending: str, source: str) -> None:
        """Look at what a sync leaves in the folder for temporary files; one by pages leaves what is there."""
        if self.spool is None:
            return
        if ending == "killed":
            self.spool.clear()
        elif source != "pages" and (left := self.spool.files()):
            self.watch.say(Holds.TIDY, f"{', '.join(left)} are left")

    def _expected(self, error: LedgerframesError, order: Any, *, calm: bool) -> bool:
        """Whether a sync may end so under the faults of this history."""
        if calm:
            return False
        required = order.source == "objects"
        if isinstance(error, RequestError):
            return bool({"busy", "down", "damaged"} & self.faults) or (required and "busy-objects" in self.faults)
        if isinstance(error, InputError):
            return required and "no-objects" in self.faults
        if isinstance(error, PartialResultError):
            return len(self.fleet.servers) > 1 or "windows" in self.faults
        if isinstance(error, StoreError):
            return self.refused
        alone = len(self.fleet.servers) == 1 or bool({"servers-change", "down", "busy"} & self.faults)
        return isinstance(error, DecodeError) and "damaged" in self.faults and alone

    def _before_write(self, _name: str) -> None:
        if self.calm:
            return
        if "kill" in self.faults and self.choices.chance("kill-before", 5):
            self.log.append(f"  killed before a write to {_name}")
            self.disk.kill()
        if "full" in self.faults and self.choices.chance("full", 5):
            self.refused = True
            raise StoreError("memory://lake cannot be written: no space. The disk is full")

    def _after_write(self, name: str) -> None:
        self.watch.after_commit()
        if name in {*self.stored_as.order, HISTORY.index} and self.choices.chance("reader", 10):
            self.watch.read()
        if not self.calm and "kill" in self.faults and self.choices.chance("kill-after", 5):
            self.log.append(f"  killed after a write to {name}")
            self.disk.kill()

    def _left(self) -> list[Item]:
        """The items of the ledger that some server still has that shows to be of the store's network."""
        shown = set().union(*(server.shown for server in self.fleet.servers if not self._is_strange(server)))
        return [item for item in self.script.items if item in shown]

    def _is_strange(self, server: Server) -> bool:
        """Whether a server has pruned all that is stored, and its first page names nobody of the store's first page."""
        history = self.lake.history(self.stored_as.of)
        if not server.pruned or history.network is None:
            return False
        known = {history.network.partition("/")[2], *(row[0] for row in self.watch.stored(self.stored_as.index))}
        first = sorted(server.shown)[: min(server.cap, server.maximum)]
        named = {item.synchronizer for item in first if self.stored_as.has_row(item)}
        named |= {f"DSO::{network_of(item)}" for item in first if item.events}
        shown = {item.update_id for item in server.shown}
        return not shown & known and named.isdisjoint(history.known_by)

    def _pruned(self) -> bool:
        return any(server.pruned for server in self.fleet.servers)

    def _ever(self) -> set[Item]:
        behind = [server.ever for servers in self.fleet.behind.values() for server in servers]
        return self.fleet.ever().union(*behind)

    def _held(self) -> dict[str, Item]:
        """What is stored and settled before a sync."""
        if not {"fork", "fork-all"} & self.faults:
            return {}
        known = {item.update_id: item for item in self._ever()}
        return {row[0]: known[row[0]] for row in self.watch.stored(self.stored_as.index) if row[0] in known}

    # frames

    def _keep_frames(self) -> None:
        if self.choices.chance("frames", 20):
            sync_id = self.disk.state("syncs").rows["sync_id"][-1].as_py()
            self.frames[sync_id] = self._frame(sync_id)

    def _frame(self, sync_id: str) -> pa.Table:
        part = Part.of(self.lake.at(sync_id), self.stored_as.index, Window(), allow_partial=True)
        return load_table(
            part.dataset, ["update_id", "migration_id", "record_time"], None, declared(self.stored_as.index)
        )

    # the end

    def _end(self) -> None:
        for server in [*self.fleet.servers, *(one for many in self.fleet.behind.values() for one in many)]:
            server.show_all()
        self.clock.micros = max(self.clock.micros, BASE + 40 * U)
        lively = Holds.LIVE in holding(self.faults)
        self.log.append("all servers show all")
        order = self._last_order()
        self.log.append(f"  {order.workers} workers, pages of {order.page_size}")
        _, ending, _ = self._run(list(self.fleet.servers), order, calm=True)
        truth = self.script.items if lively else None
        self.watch.after_run(truth, self._ever(), None)
        if "other-network" in self.faults and not {"fork", "fork-all"} & self.faults:
            self.watch.mixed(self.script.items, self.script.branch)
        if lively:
            if ending != "ended":
                self.watch.say(Holds.LIVE, f"the last sync: {ending}")
            self.watch.everything(self._left(), rejects=self.broken and not self._pruned())
            if not self.choices.chance("quiet", 60):
                self._quiet()
        for sync_id, frame in self.frames.items():
            if not self._frame(sync_id).equals(frame):
                self.watch.say(Holds.FRAMES, f"as_of={sync_id} gives other rows than before")
        if self.choices.chance("check", 5):
            self._check()

    def _last_order(self) -> Any:
        faults, self.faults = self.faults, self.faults - {"windows", "long-settle"}
        order = self._order()
        self.faults = faults
        # At the end every sync has to go to its end, also where a server has no objects; and all read the same, as a
        # sync by pages alone leaves what only objects still have to the next one.
        return replace(order, source="auto") if self.script.objects else order

    def _quiet(self) -> None:
        """With no news a sync changes no table, and asks for little.

        Where objects were read, or one of several servers has pruned what others have, one sync may still settle what
        is proven by now, without adding a row.
        """
        rows = {name: self.watch.stored(name) for name in self.stored_as.order}
        before = self._versions()
        seen = self._repeat()
        late = self.script.objects or (self._pruned() and len(self.fleet.servers) > 1)
        if late and before != self._versions():
            if rows != {name: self.watch.stored(name) for name in self.stored_as.order}:
                self.watch.say(Holds.QUIET, "a sync without news changed rows")
            before = self._versions()
            seen = self._repeat()
        self._reached(seen)
        if before != self._versions():
            self.watch.say(Holds.QUIET, f"a sync without news made versions {self._versions()} of {before}")

    def _reached(self, seen: Sequence[Seen]) -> None:
        """What a sync was shown that is older than settle is settled, and nothing unsettled is left out.

        A page of a look shows no more than fits into it, and what is shown later proves nothing about it; so what is
        proven is told by the answers to those requests that are about the item's migration, not by the world.
        """
        for item in self._left():
            if self.watch.settles(item):
                continue
            begin = (item.migration - 1, LATEST)
            # Asked for what it has from the beginning, a server begins with the migration of its first item.
            answers = [
                one
                for one in seen
                if item in one.items and (one.after or (one.items[0].migration - 1, LATEST)) >= begin
            ]
            if not answers or any(item.at < one.newest - SETTLE for one in answers):
                self.watch.say(Holds.REACHED, f"{item} is not settled, though all servers have shown all")

    def _versions(self) -> dict[str, Any]:
        """The versions of tables and what is said of them, without the list of syncs and the commit that names it."""
        named = {"number", "before", "version", "tables"}
        said = {name: value for name, value in self.disk.document.items() if name not in named}
        tables = {name: len(states) for name, states in self.disk.versions.items()}
        rows = self.disk.state(HISTORY.index)
        return {**tables, "syncs": 0, HISTORY.index: len(rows.commits) if rows else 0, "said": said}

    def _repeat(self) -> list[Seen]:
        """A sync without news, and its price; gives the answers it got."""
        order = self._last_order()
        before, due = self._versions(), self._price(order.page_size)
        self.log.append(f"nothing new: {order.workers} workers, pages of {order.page_size}")
        scan, _, _ = self._run(list(self.fleet.servers), order, calm=True)
        sent = scan.stats.requests - scan.of_objects
        if due is not None and sent > due and before == self._versions():
            self.watch.say(Holds.CHEAP, f"a sync without news sent {sent} requests, {due} are due")
        return scan.seen

    def _price(self, page_size: int) -> int | None:
        """What a sync without news may cost: one per page of unsettled tail and per open migration, and per server.

        None where a server was never seen to send a page longer than a tail, so that a page with all of it proves
        nothing, and where a migration before the first one may still show its first item.
        """
        done = self.watch.settled
        pages = gaps = questions = 0
        servers = len(self.fleet.servers)
        migrations = sorted({item.migration for item in self.script.items})
        if not migrations:
            return servers
        for migration in migrations:
            between = sum(span.migration == migration for span in done) - 1
            # What was pruned between two parts stays a gap, also where nothing of them is final yet: each server is
            # asked by every sync what it has first now, as another one, or the same one, may have it after all.
            gaps += max(between, sum(span.migration == migration for span in self.watch.covered) - 1, 0)
            if between <= 0 and inside((migration, LATEST), done):
                if not all(self.watch.settles(item) for item in self._left() if item.migration == migration):
                    return None  # a part in the middle of it is settled already
                continue
            tail = self._tail(migration)
            # A server that has pruned what is not final yet is asked what it has first, as it may lack it otherwise.
            questions += sum(not server.pruned.isdisjoint(tail) for server in self.fleet.servers)
            size = min([page_size, *(min(server.cap, server.maximum) for server in self.fleet.servers)])
            if any(self.largest[server.url] <= 3 * len(tail) for server in self.fleet.servers) or migrations[0] > 0:
                return None
            weight = 2 * len(
                self.stored_as.body(tuple(tail))
            )  # pages are capped by bytes as well, so few items may be a full page
            if any(self.heaviest[server.url] < weight for server in self.fleet.servers):
                return None
            if largest_group(tail) >= size:  # a page that is one tie may have been cut
                return None
            pages += 1 if len(tail) < size else 1 + -(-len(tail) // max(1, size - largest_group(tail)))
        # A first item that is not final may not be the first: each server is asked what it has first.
        first = min(self._left(), default=None, key=lambda item: item.place)
        questions += servers * (first is not None and first in self._tail(first.migration))
        due = max(pages, 1) + servers - 1 if pages <= 1 else pages * servers  # every server is compared page by page
        # Where the newest migration shows nothing that could be stored, each server is recognised by its beginning.
        nameless = not any(self.stored_as.has_row(item) or item.kind == "broken" for item in self._tail(migrations[-1]))
        # A gap that syncs of parts left ends inside a page: one more to where it ends, and the servers confirm it.
        # What was pruned at a beginning that may still be shown costs the question what each server has first.
        due += servers * nameless + gaps * servers + servers * (gaps > 0 or self._begins_late()) + questions
        # What was pruned before it was final may still come from objects that are written later: every time it is read
        # again, and each server is asked what it has first.
        return 2 * due + servers if self.script.objects and self._pruned() else due

    def _begins_late(self) -> bool:
        """Whether a migration behind the first one that is stored is covered from somewhere in it alone.

        Or the first one is, and a server that has pruned it may still show more of it, since the day by which it may
        overlap the migration in which that server begins is not over.
        """
        begins: dict[int, int] = {}
        for span in self.watch.covered:
            begins.setdefault(span.migration, span.lo)
        if any(lo > BEGINNING for migration, lo in begins.items() if migration > min(begins)):
            return True
        if begins.get(min(begins, default=0), BEGINNING) == BEGINNING:
            return False
        shown = [[item for item in self.script.items if item not in server.pruned] for server in self.fleet.servers]
        first = min((item for items in shown for item in items), default=None)
        if first is None or first.migration <= min(begins):
            return False
        open_until = first.at + OVERLAP * first.migration
        return any(max((item.at for item in items), default=0) - SETTLE < open_until for items in shown)

    def _tail(self, migration: int) -> list[Item]:
        """What a sync looks at: all that is not settled, from the last stored update on if none of it is stored."""
        items = sorted(item for item in self.script.items if item.migration == migration)
        tail = [item for item in items if not self.watch.settles(item)]
        if any(map(self.stored_as.has_row, tail)):
            return tail
        anchor = max((item.at for item in items if self.stored_as.has_row(item)), default=0)
        return [item for item in items if item.at >= anchor]

    def _check(self) -> None:
        if not self.disk.versions:
            return
        found = check(SimLake(self.disk))
        if not found and Holds.LIVE in holding(self.faults):
            self.watch.say(Holds.SOUND, f"check() of a sound lake says: {'; '.join(map(str, found.findings))}")
        if self.script.verdicts:  # how many views a request has is not told by its verdict
            return
        rotten = self.disk.copy()
        what = damage(rotten, self.choices, self.watch.read())
        if what is None:
            return
        self.log.append(f"damage: {what}")
        with suppress(StoreError):  # a damage that a reader stumbles over is found as well
            if check(SimLake(rotten)):
                self.watch.say(Holds.ROTTEN, f"check() is true although {what}")


class _Keeping(logging.Handler):
    """Keeps warnings."""

    def __init__(self, records: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record.getMessage())
