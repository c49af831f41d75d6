"""What the history says, worked out anew: every contract with its place and counter, and all coin; tests compare it."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from tests.sandbox.economy_books import COIN, LOCKED, coin_payload, entity_of, preorder


class Standing(NamedTuple):
    """Where a contract is, None while it is under way, and its reassignment counter."""

    place: str | None
    counter: int


class Book(NamedTuple):
    """The contracts that are left, and what their coin is worth."""

    contracts: dict[str, Standing]
    coin: Decimal


def replay(items) -> Book:
    """Go through the items of scan's pages in order, and through each tree from its roots."""
    standing, worth, told_early, clocks = {}, {}, set(), {}
    for item in items:
        _tick(item, clocks)
        if "event" in item:
            _move(item["event"], standing, told_early)
        else:
            _transact(item, standing, worth)
    return Book(standing, sum((worth[one] for one in standing), Decimal(0)))


def _tick(item, clocks):
    """Record time rises strictly within a migration and synchronizer."""
    inner = item.get("event", item)
    side = "target" if "created_event" in inner else "source"
    place = inner["migration_id"], inner.get("synchronizer_id") or inner[f"{side}_synchronizer"]
    assert item["record_time"] > clocks.get(place, "")
    clocks[place] = item["record_time"]


def _move(event, standing, told_early):
    if "contract_id" in event:
        if event["unassign_id"] not in told_early:
            contract_id = event["contract_id"]
            assert standing[contract_id].place == event["source_synchronizer"]
            assert event["reassignment_counter"] == standing[contract_id].counter + 1
            standing[contract_id] = Standing(None, event["reassignment_counter"])
        return
    contract_id = event["created_event"]["contract_id"]
    if standing[contract_id].place is None:
        assert event["reassignment_counter"] == standing[contract_id].counter
    else:
        assert standing[contract_id].place == event["source_synchronizer"]
        assert event["reassignment_counter"] == standing[contract_id].counter + 1
        told_early.add(event["unassign_id"])
    standing[contract_id] = Standing(event["target_synchronizer"], event["reassignment_counter"])


def _transact(item, standing, worth):
    for event in preorder(item):
        contract_id = event["contract_id"]
        if event["event_type"] == "created_event":
            assert contract_id not in worth
            standing[contract_id], worth[contract_id] = Standing(item["synchronizer_id"], 0), _worth(event)
            continue
        assert standing[contract_id].place == item["synchronizer_id"]
        if event["consuming"]:
            del standing[contract_id]


def _worth(event):
    entity = entity_of(event)
    if entity not in (COIN, LOCKED):
        return Decimal(0)
    return Decimal(coin_payload(entity, event["create_arguments"])["amount"]["initialAmount"])
