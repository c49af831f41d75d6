"""The economy inside a hostile ledger: oddly spelled and dated, and its books balance all the same."""

from __future__ import annotations

import pytest

from tests.hostile.generate import generate_hostile
from tests.sandbox.economy_books import Books

PACKAGES = {
    "splice-amulet", "splice-dso-governance", "splice-amulet-name-service", "splice-wallet", "splice-wallet-payments",
    "harbor-token", "iou-app",
}  # fmt: skip


def of_the_economy(items):
    """The transactions all of whose events are of known packages; the others mean nothing."""
    for item in items:
        events = item.get("events_by_id", {}).values()
        if events and all(event.get("package_name") in PACKAGES for event in events):
            yield item


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_the_books_of_a_hostile_ledger_balance(seed):
    world = generate_hostile(seed, 6_000)
    items = list(of_the_economy(world.items()))

    books = Books(dated=False).read(items)

    assert len(items) > 500
    assert books.supply * 10**10 == world.coins.units
    assert {"claimed", "expired"} == set(books.outcomes.values())
    assert len({item["migration_id"] for item in items}) == 7


def test_the_books_of_a_hostile_ledger_balance_as_it_grows():
    world = generate_hostile(1, 300)
    world.advance(400)

    assert Books(dated=False).read(of_the_economy(world.items())).supply * 10**10 == world.coins.units > 0
