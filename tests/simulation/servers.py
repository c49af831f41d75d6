"""Simulated scan servers: each shows a growing part of a ledger, in whatever order its synchronizers arrive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from tests.simulation.choices import Choices
from tests.simulation.objects import Bulk
from tests.simulation.world import SETTLE, Item

LONG_AGO = -(2**62)


@dataclass
class Server:
    """One scan.

    Attributes:
        url: its base URL.
        items: the ledger that it will show in the end.
        shown: what it shows now.
        cap: it sends no more items than this, silently.
        maximum: it refuses to be asked for more than this.
        ever: everything that it has shown at any time.
        bulk: its objects.
        begin: it has pruned what lies before this place; None while it keeps everything.
        pruned: what it had shown there.
        knows_the_route: of objects, if it has none; None until it is asked.
    """

    url: str
    items: tuple[Item, ...]
    shown: set[Item] = field(default_factory=set)
    cap: int = 1000
    maximum: int = 1000
    ever: set[Item] = field(default_factory=set)
    bulk: Bulk | None = None
    begin: tuple[int, int] | None = None
    pruned: set[Item] = field(default_factory=set)
    knows_the_route: bool | None = None

    @property
    def newest(self) -> int:
        """The latest record time that it shows."""
        return max((item.at for item in self.shown), default=LONG_AGO)

    def options(self, faults: Collection[str]) -> list[Item]:
        """What may appear next; each synchronizer shows the items of a migration in order."""
        hidden = [item for item in self.items if item not in self.shown and item not in self.pruned]
        if "late" not in faults:
            return sorted(hidden, key=lambda item: (item.at, item))[:1]
        heads: dict[tuple[int, str], Item] = {}
        for item in hidden:  # in order
            heads.setdefault((item.migration, item.synchronizer), item)
        if "too-late" in faults:
            return sorted(heads.values())
        slack = 1 if "edge" in faults else 0  # an item exactly at the edge may still be hidden; the rules allow for it
        newest = self.newest
        return sorted(
            head
            for head in heads.values()
            if all(other is head or other.at > max(newest, head.at) - SETTLE - slack for other in hidden)
        )

    def show(self, item: Item) -> None:
        """Show one more item."""
        self.shown.add(item)
        self.ever.add(item)
        if self.bulk is not None:
            self.bulk.write(self.shown | self.pruned)

    def show_all(self) -> None:
        """Show everything."""
        self.pruned = {item for item in self.items if self.begin is not None and item.place < self.begin}
        self.shown = set(self.items) - self.pruned
        self.ever |= self.shown
        if self.bulk is not None:  # its objects hold what it has pruned
            self.ever |= self.pruned
            self.bulk.write(self.shown | self.pruned, all_of_it=True)

    def prune(self, kept: int) -> None:
        """Keep so many items at least, and whatever may still be followed by a late one before it."""
        shown = sorted(self.shown)
        old = list(takewhile(lambda item: item.at < self.newest - SETTLE, shown[:-kept]))
        begin = shown[len(old)].place if old else None
        hidden = [item for item in self.items if item not in self.shown | self.pruned]
        if old and begin > old[-1].place and all(item.place >= begin for item in hidden):
            self.begin = begin
            self.pruned |= set(old)
            self.shown -= set(old)

    def restore(self, cut: int, items: tuple[Item, ...]) -> None:
        """Forget what is later than a record time, and go on with these items."""
        self.items = items
        self.shown = {item for item in self.shown if item.at <= cut and item in items}

    def page(self, after: tuple[int, int] | None, size: int) -> tuple[Item, ...]:
        """The items after a place, in order."""
        return tuple(self.beyond(after)[: min(size, self.cap)])

    def beyond(self, after: tuple[int, int] | None) -> list[Item]:
        """All items after a place, in order."""
        return sorted(item for item in self.shown if after is None or item.place > after)


@dataclass
class Fleet:
    """All servers of a history, and what moves them.

    Attributes:
        servers: all of them.
        faults: of the history.
        choices: of the history.
        behind: by URL, further servers that answer there.
        maxima: the largest page that each server has named; the connection remembers it from sync to sync.
    """

    servers: list[Server]
    faults: Collection[str]
    choices: Choices
    behind: dict[str, list[Server]] = field(default_factory=dict)
    maxima: dict[str, int] = field(default_factory=dict)

    def move(self, *weights: int) -> None:
        """Let some servers show some more."""
        for _ in range(self.choices.weighted("moves", *weights)):
            chosen = self.servers
            if "lagging" in self.faults and len(self.servers) > 1:
                chosen = [self.servers[self.choices.pick("moves", len(self.servers))]]
            options = chosen[0].options(self.faults)
            if options:
                item = options[self.choices.pick("moves", len(options)) if len(options) > 1 else 0]
                for server in chosen:
                    if item in server.items:
                        server.show(item)

    def prune(self, percent: int) -> None:
        """Let some servers prune, each as it likes."""
        if "pruned" in self.faults and self.choices.chance("prune", percent):
            server = self.servers[self.choices.pick("prune", len(self.servers))]
            server.prune(1 + self.choices.pick("prune", 5))

    def ever(self) -> set[Item]:
        """What any server has shown at any time."""
        return set().union(*(server.ever for server in self.servers))


def largest_group(items: Sequence[Item]) -> int:
    """How many updates share a place at the most."""
    places = [item.place for item in items]
    return max((places.count(place) for place in places), default=1)
