"""Every fault that a simulated history can have: what it does, which documented assumption it breaks, what holds still.

A history runs with a random subset of these. Those that break no assumption leave every invariant in force. For the
others the table says which are left: what is stored is always something that a server has sent, once, whole, and
every sync ends.

To add one: declare it here, act on its name in `world`, `servers`, `storage` or `history`, and give it a script in
`test_scripts.py` that shows it at work.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Holds(Enum):
    """The invariants, checked by `invariants`."""

    SETTLED = "settled rows are the truth"
    FINAL = "rows at a settled place are never added or taken away"
    BEGINS = "a lake begins where the ledger does only if it says so, and late only if there was something older"
    SHOWN = "between settled and covered is everything that the last read of it was shown"
    TRUE = "nothing is stored that no server has sent"
    ONCE = "nothing is stored twice"
    WHOLE = "a visible update has all its events, and a visible event its update"
    RISING = "coverage and its settled part never fall"
    FRAMES = "as_of frames stay what they were"
    LIVE = "once all servers show all, one sync ends without an error and makes stored rows the truth"
    REACHED = "once all servers show all, what is older than settle gets settled"
    QUIET = "with no news no table changes"
    CHEAP = "with no news a sync asks for little"
    SOUND = "check() is true"
    ROTTEN = "check() is false after any damage to what readers see"
    ENDS = "every run ends within a bounded number of requests, by a report or an error of ours"
    TIDY = "a sync that reads objects and is not killed leaves no temporary file"
    NO_ALARM = "no sync ends in a PagingError, DecodeError or StoreError"
    MIXED = "the rows of two networks are never mixed"
    FORKS = "a fork that an answer shows is said"


ALL: Final = frozenset(Holds)
#: What no server can break.
ALWAYS: Final = frozenset(
    {
        Holds.TRUE,
        Holds.ONCE,
        Holds.WHOLE,
        Holds.FINAL,
        Holds.RISING,
        Holds.FRAMES,
        Holds.ROTTEN,
        Holds.ENDS,
        Holds.FORKS,
        Holds.MIXED,
    }
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One kind of trouble.

    Attributes:
        what: what happens.
        breaks: the assumption that no longer holds; empty if all do.
        holds: the invariants that are left.
        weight: how many of a hundred histories have it.
    """

    what: str
    breaks: str = ""
    holds: frozenset[Holds] = ALL
    weight: int = 40


FAULTS: Final[dict[str, Fault]] = {
    # worlds
    "ties": Fault("updates of several synchronizers share a record time"),
    "offbeat": Fault("record times a microsecond beside those of others, and beside the edge of settle"),
    "migrations": Fault("one to three migrations", weight=60),
    "overlap": Fault("record times of migrations overlap, by up to the documented day", weight=60),
    "broken-item": Fault("an item that cannot be decoded; syncs reject such items", weight=8),
    # servers, within the assumptions
    "late": Fault("items appear up to settle after newer ones, the very first one too", weight=70),
    "edge": Fault("items appear exactly settle after newer ones: the microsecond of the rule", weight=30),
    "lagging": Fault("servers show different amounts of the same history", weight=70),
    "catching-up": Fault("servers show more between two requests of a sync", weight=70),
    "servers-change": Fault("syncs name different servers", weight=30),
    "low-maximum": Fault("a server refuses pages above a maximum that it names", weight=20),
    "silent-cap": Fault("a server sends fewer items than asked for, saying nothing", weight=20),
    "busy": Fault("503, 413 and time-outs", weight=20),
    "down": Fault("a server gives no answer for a whole sync", weight=10),
    "damaged": Fault("an answer arrives cut off", weight=10),
    "genesis": Fault("the first update shows that the ledger begins with it", weight=50),
    "pruned": Fault("servers prune, each by itself: before, between and during syncs", weight=40),
    # the client
    "workers": Fault("several workers, the number changes between syncs", weight=50),
    "wrong-clock": Fault("the client's clock is wrong by years", weight=10),
    "long-settle": Fault("syncs ask for more settle than the servers need", weight=15),
    # An answer to a sync of a part shows what that sync was not asked to store.
    "windows": Fault(
        "syncs ask for a part of the history",
        "a sync stores all that an answer shows it",
        ALL - {Holds.SHOWN}, weight=20,
    ),
    "interrupt": Fault("a sync is interrupted at a request, and may save what is whole", weight=10),
    "kill": Fault("the machine ends before, between or after any two writes", weight=60),
    "full": Fault("the storage refuses a write", weight=10),
    # beyond the assumptions
    "too-late": Fault(
        "items appear longer than settle after newer ones",
        "items appear less than settle after the newest one",
        ALWAYS, weight=4,
    ),
    "late-migration": Fault(
        "updates of a migration later than the first of the next plus a day",
        "no update of a migration is later than the first of the next plus 24 h",
        ALWAYS, weight=3,
    ),
    "stepping-back": Fault(
        "a server is restored from a backup, and then goes the same way again",
        "one URL is one server that never shows less",
        ALWAYS, weight=6,
    ),
    "fork": Fault(
        "one server is restored from a backup, and goes another way",
        "one URL is one server that never shows less",
        ALWAYS, weight=6,
    ),
    "fork-all": Fault(
        "every server is restored from a backup, and all go another way",
        "one URL is one server that never shows less",
        ALWAYS, weight=3,
    ),
    "replicas": Fault(
        "two servers that differ stand behind one URL",
        "one URL is one server that never shows less",
        ALWAYS - {Holds.FORKS, Holds.MIXED}, weight=6,  # nothing tells machines of two networks behind one URL apart
    ),
    "contradiction": Fault(
        "a page is out of order, or repeats an item, or begins with what was asked to be skipped",
        "pages are in order and after the place asked for",
        ALWAYS - {Holds.FORKS}, weight=4,
    ),
    "ignores-after": Fault(
        "a server gives its first page, whatever is asked",
        "pages are in order and after the place asked for",
        ALWAYS - {Holds.FORKS}, weight=3,
    ),
    "never-ending": Fault(
        "a server always has another update of another migration",
        "a history ends",
        frozenset({Holds.TRUE, Holds.ONCE, Holds.WHOLE, Holds.ENDS}), weight=3,
    ),
    "other-network": Fault(
        "a server belongs to another network",
        "all servers belong to one network",
        ALWAYS - {Holds.FORKS}, weight=3,
    ),
}  # fmt: skip


#: Of histories with objects, beside the others.
OBJECT_FAULTS: Final[dict[str, Fault]] = {
    "objects-lag": Fault("objects are written long after their segment has passed, or appear later", weight=25),
    "damaged-objects": Fault(
        "an object is gone (404), cut off, out of order, or not the one whose digest is listed", weight=40
    ),
    "overlapping-objects": Fault("lists name segments of two lengths over the same history", weight=30),
    "other-encodings": Fault("lists name objects in other encodings", weight=20),
    "no-objects": Fault("a server has no objects: 501 or 404", weight=15),
    "busy-objects": Fault("503, time-outs and cut answers to lists and downloads", weight=30),
    "ties-missing-in-an-object": Fault(
        "a writer goes on after the time of the last item that it has read, so an object lacks the rest of a tie",
        "a listed object holds every update of its segment that lies more than settle before the segment's end",
        ALWAYS, weight=0,
    ),
}  # fmt: skip


def holding(faults: Collection[str]) -> frozenset[Holds]:
    """The invariants that hold under some faults together."""
    return frozenset.intersection(ALL, *((FAULTS | OBJECT_FAULTS)[name].holds for name in faults))
