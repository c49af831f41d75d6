"""A scan whose window moves between two pages: what tests of pruned scans read from."""

from __future__ import annotations

from collections.abc import Callable

from ledgerframes.network import Network
from ledgerframes.sandbox.world import timestamps
from tests.asking import forwarded
from tests.transport.hostile_server import Heard, HostileServer, Reply


def place(net: Network, number: int) -> tuple[int, str]:
    """Migration id and record time of an update of a sandbox's ledger."""
    update = net.sandbox.world.updates[number]
    return update.migration_id, timestamps.exact(update.record_time)


class MovingWindow(HostileServer):
    """A sandbox behind another URL; `move` is called with the number of each page, from 1, before it is answered."""

    def __init__(self, net: Network, move: Callable[[int], object]) -> None:
        self.pages = 0

        def forward(heard: Heard) -> Reply:
            if heard.target.endswith(("/v2/updates", "/v0/events")):
                self.pages += 1
                move(self.pages)
            return forwarded(net.sandbox.url, heard)

        super().__init__(forward)
