"""The usual economy inside a hostile history: its transactions, spelled and dated as nastily as everything else."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.world.contracts import Contract
from ledgerframes.sandbox.world.templates import COIN, LOCKED_COIN
from ledgerframes.sandbox.world.timestamps import Cursor
from ledgerframes.sandbox.world.world import World

_READ_BACK: Final = {template.entity: template for template in (COIN, LOCKED_COIN)}


class HostileEconomy:
    """A plausible ledger whose transactions a hostile one takes over, one after the other.

    Args:
        seed: of the plausible ledger.
        updates: how many the hostile ledger is going to take about.
        world: the hostile ledger, whose coins are kept.
    """

    def __init__(self, seed: int, updates: int, world: World) -> None:
        self._source = generate(seed, updates, synchronizers=1, migrations=1)
        self._world = world
        self._taken = 0

    def next_item(self, at: Cursor, synchronizer_id: str, record_time: str) -> dict[str, Any]:
        """The next transaction, as of a place in the hostile history."""
        while True:
            if self._taken == len(self._source.updates):
                self._source.advance(20)
            item: dict[str, Any] = msgspec.json.decode(self._source.updates[self._taken].rendered)
            self._taken += 1
            if "events_by_id" in item:
                break
        item |= {"migration_id": at[0], "record_time": record_time, "synchronizer_id": synchronizer_id}
        self._keep(item)
        return item

    def _keep(self, item: dict[str, Any]) -> None:
        """Enter the coins of a transaction into the hostile world."""
        events, coins = item["events_by_id"].values(), self._world.coins
        for event in events:
            entity = event["template_id"].partition(":")[2]
            if "create_arguments" in event and entity in _READ_BACK:
                coins.create(_contract(event, entity, item["synchronizer_id"]))
        for event in events:
            if event.get("consuming"):
                coins.end(event["contract_id"])


def _contract(event: dict[str, Any], entity: str, synchronizer_id: str) -> Contract:
    return Contract(
        contract_id=event["contract_id"],
        template=_READ_BACK[entity],
        template_id=event["template_id"],
        payload=event["create_arguments"],
        created_at=event["created_at"],
        signatories=tuple(event["signatories"]),
        observers=tuple(event["observers"]),
        owner="",
        row=0,
        synchronizer_id=synchronizer_id,
    )
