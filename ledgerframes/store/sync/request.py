"""`SyncRequest`: the arguments of `Store.sync` and `Store.follow`, checked when it is made; every stage reads it.

It is passed on whole, so that an argument is declared in the public signatures and here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from ledgerframes.arguments import choice, duration, flag, names, whole_number
from ledgerframes.errors import InputError
from ledgerframes.interfaces.rules import PartyId, distinct
from ledgerframes.loaders.extent import newest_time
from ledgerframes.paging.cursor import Bound, Duration, When, Window, wanted_window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import OVERLAP
from ledgerframes.store.derive.tables import derivable
from ledgerframes.store.stored_tables import HISTORY, SETS, SNAPSHOTS, TableSet, declared
from ledgerframes.store.sync.scheduling import Scheduler, ThreadScheduler
from ledgerframes.timestamps import format_timestamp, to_micros
from ledgerframes.transport import Clock, SystemClock

if TYPE_CHECKING:
    from ledgerframes.network import Network

#: The sources of the update history.
SOURCES: Final = ("auto", "pages", "objects")
#: The snapshots that are read party by party.
BY_PARTY: Final = frozenset({"holdings_summary", "transfer_preapprovals"})


@dataclass(frozen=True, kw_only=True)
class SyncRequest:
    """The arguments of one sync; a field without a description is the keyword of the same name of `Store.sync`.

    `dataclasses.replace(request)` returns the same request as of now: `now` and `last` are evaluated again.

    Attributes:
        overlap: how long after the first item of a migration the one before may get more, in microseconds.
        scheduler: runs workers and commits.
        clock: the time of the report and of commits.
        now_micros: the end of the history by the clock, in microseconds, where servers are probed first.
        window: the part of the history that `start`, `end` and `last` name.
        counted_from: the instant that `last` counts back from, if it is the network's newest update.
        settle_micros: `settle` in microseconds.

    Raises:
        InputError: an argument breaks a rule.
    """

    start: Bound | None = None
    end: Bound | None = None
    last: Duration | None = None
    workers: int = 4
    tables: Iterable[str] | None = None
    parties: Iterable[str] | None = None
    settle: Duration = "60s"
    now: When | None = None
    page_size: int = MAXIMUM
    commit_bytes: int | None = None
    on_error: str = "raise"
    progress: bool | None = None
    engine: Any = None
    derive: Iterable[str] | None = None
    source: str = "pages"
    overlap: int = OVERLAP
    scheduler: Scheduler = field(default_factory=ThreadScheduler)
    clock: Clock = field(default_factory=SystemClock)
    now_micros: int = field(init=False)
    window: Window = field(init=False)
    counted_from: str = field(init=False, default="")
    settle_micros: int = field(init=False)

    def __post_init__(self) -> None:
        now = int(self.clock.now() * 1_000_000) if self.now is None else to_micros(self.now, "now")
        checked = {
            "now_micros": now,
            "window": wanted_window(self.start, self.end, self.last, now=now),
            "settle_micros": duration(self.settle, "settle", zero=True),
            "workers": whole_number(self.workers, "workers", least=1, most=256),
            "tables": _table_names(self.tables),
            "parties": None if self.parties is None else tuple(distinct(self.parties, "parties", PartyId)),
            "page_size": whole_number(self.page_size, "page_size", least=1, most=MAXIMUM),
            "commit_bytes": self.commit_bytes
            if self.commit_bytes is None
            else whole_number(self.commit_bytes, "commit_bytes", least=1, most=2**40),
            "on_error": choice(self.on_error, "on_error", ("raise", "reject")),
            "progress": None if self.progress is None else flag(self.progress, "progress"),
            "source": choice(self.source, "source", SOURCES),
            "derive": None if self.derive is None else derivable(self.derive, "derive"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _check_snapshots(self.snapshots, self.owners)
        if self.source == "objects" and HISTORY not in self.sets:
            wanted = ", ".join(cast("tuple[str, ...]", self.tables))
            raise InputError(
                f"source='objects' is for the update history, and tables= names {wanted}; leave source= out, or add"
                " 'updates'"
            )
        if self.engine is not None:
            self._check_engine()

    def counting_back(self, net: Network) -> SyncRequest:
        """The same request; its `last` counts back from the newest record time of a network, or from `now`."""
        if self.last is None or self.now is not None:
            return self
        made = copy(self)
        newest = newest_time(net.scan)
        window = wanted_window(self.start, self.end, self.last, now=newest)
        object.__setattr__(made, "window", window)
        object.__setattr__(made, "counted_from", format_timestamp(newest))
        return made

    @property
    def sets(self) -> tuple[TableSet, ...]:
        """The histories to sync, each with all its tables."""
        return tuple(of for of in SETS if not set(cast("tuple[str, ...]", self.tables)).isdisjoint(of.order))

    @property
    def snapshots(self) -> tuple[str, ...]:
        """The snapshot tables to append to."""
        return tuple(name for name in cast("tuple[str, ...]", self.tables) if name in SNAPSHOTS)

    @property
    def owners(self) -> tuple[str, ...]:
        """The parties whose holdings or preapprovals are wanted."""
        return cast("tuple[str, ...]", self.parties or ())

    @property
    def reject(self) -> bool:
        """Whether the sync keeps broken items in `rejects` and continues."""
        return self.on_error == "reject"

    def _check_engine(self) -> None:
        if not all(hasattr(self.engine, name) for name in ("submit", "scheduler_info", "cancel")):
            raise InputError(
                f"engine={type(self.engine).__name__} is not a dask.distributed Client; make one with Client(address)"
            )
        if self.reject:
            raise InputError("on_error='reject' and engine= do not go together; leave one of them out")


def _table_names(tables: Iterable[str] | None) -> tuple[str, ...]:
    """The tables to sync; the history if none are named."""
    if tables is None:
        return HISTORY.order
    wanted = names(tables, "tables")
    syncable = (*(name for of in SETS for name in of.order), *SNAPSHOTS)
    for name in wanted:
        declared(name)
        if name not in syncable:
            raise InputError(f"tables: {name!r} cannot be synced; {', '.join(syncable)} can")
    if not wanted:
        raise InputError("tables=[] names nothing to sync; leave it out for the history")
    return tuple(dict.fromkeys(wanted))


def _check_snapshots(names: Sequence[str], parties: Sequence[str] | None) -> None:
    """Refuse tables that cannot be loaded, before anything is sent.

    Raises:
        InputError: parties are needed and missing, or given and not used.
    """
    needing = [name for name in names if name in BY_PARTY]
    if needing and not parties:
        raise InputError(f"tables={needing}: these are read party by party; give parties=[...]")
    if parties and not needing:
        raise InputError(
            f"parties= is for {' and '.join(sorted(BY_PARTY))}, which are read party by party, and tables= names"
            " none of them; other tables are synced whole, so leave parties= out"
        )
