"""A sync that compares a server with the store over several pages goes by what each page proves, not by the last."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from ledgerframes.store.sync.request import SyncRequest
from ledgerframes.store.sync.sync import run_sync
from ledgerframes.timestamps import format_timestamp
from tests.simulation.choices import Choices
from tests.simulation.clock import SimClock
from tests.simulation.invariants import Watch
from tests.simulation.net import SimNet, SimScan
from tests.simulation.scheduling import SeededScheduler
from tests.simulation.servers import Fleet, Server
from tests.simulation.storage import Disk, SimLake
from tests.simulation.world import BASE, U, ledger

LEDGER = ledger("j 0/1U A, a 0/5U A, z 0/6U C, b 0/7U A, c 0/11U A")


@dataclass
class Catching(Fleet):
    """Servers, the second of which shows the rest of the ledger before it answers a given request."""

    before_request: int = 0
    requests: int = field(default=0, init=False)

    def move(self, *_weights: int) -> None:
        """Show the rest when its request has come."""
        self.requests += 1
        if self.requests == self.before_request:
            self.servers[1].show_all()


def sync(lake: SimLake, fleet: Fleet, server: Server, settle: int, **options: Any) -> Any:
    """One sync from one server."""
    choices = Choices(script={})
    scan = SimScan(fleet, [server], lake.disk, clock=SimClock(BASE), faults={"catching-up"}, choices=choices)
    request = SyncRequest(
        settle=f"{settle // 1_000_000}s", now=format_timestamp(BASE + 12 * U), progress=False,
        scheduler=SeededScheduler(choices), clock=SimClock(BASE + 12 * U), **options,
    )  # fmt: skip
    return run_sync(lake, SimNet(scan), request)


@pytest.mark.parametrize("before_request", [1, 2, 3])
def test_a_server_that_catches_up_between_two_pages_of_a_look_has_not_forked(before_request: int) -> None:
    disk = Disk()
    lake = SimLake(disk)
    full, behind = Server("https://scan0", LEDGER), Server("https://scan1", LEDGER)
    full.show_all()
    for item in (LEDGER[0], LEDGER[1], LEDGER[3]):
        behind.show(item)
    fleet = Catching([full, behind], ("catching-up",), Choices(script={}))
    sync(lake, fleet, full, 8 * U)

    fleet.requests, fleet.before_request = 0, before_request
    sync(lake, fleet, behind, 4 * U, page_size=2)  # a false alarm of a fork was a StoreError here

    sync(lake, fleet, behind, 4 * U)
    stored = {row[0] for row in Watch(disk, lake).stored("updates")}
    assert stored == {item.update_id for item in LEDGER}
