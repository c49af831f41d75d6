"""Holdings summaries against the books of the history, which know nothing of the sandbox's own bookkeeping."""

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.http.snapshots import fee
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import timestamps
from ledgerframes.sandbox.world.views import PERIODS, instants
from tests.economics.books import Books
from tests.rigs.servers import replica
from tests.sandbox.asking import call
from tests.sandbox.economy_books import COIN, LOCKED

HELD = ("party_id", "total_unlocked_coin", "total_locked_coin", "total_coin_holdings")


@pytest.fixture(scope="module")
def parties(sandbox):
    """Everybody who can have coin, with a user or without."""
    known = sandbox.world.simulation.parties
    return sorted((*known.people, *known.validators, *known.sponsors))


def summary(sandbox, *, version="v0", **body):
    return call(sandbox, "validator", f"/{version}/scan-proxy/holdings/summary", body, user="alice")


def books_at(world, migration_id=2**63, record_time="9999-12-31T00:00:00Z"):
    """The books of everything up to a place in the history."""
    place = (migration_id, timestamps.parse(record_time))
    return Books(
        item
        for item in world.items()
        if (item.get("event", item)["migration_id"], timestamps.parse(item["record_time"])) <= place
    )


def expected(books, as_of_round):
    """The summaries by party."""
    fees = (f"accumulated_holding_fees_{which}" for which in ("unlocked", "locked", "total"))
    names = (*HELD[1:], *fees, "total_available_coin")
    told = {}
    for party, (free, locked, cost, locked_cost) in books.holdings(as_of_round).items():
        sums = (free, locked, free + locked, cost, locked_cost, cost + locked_cost, free - cost)
        amounts = {name: f"{amount:.10f}" for name, amount in zip(names, sums, strict=True)}
        told[party] = {"party_id": party, **amounts}
    return told


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("migration_id", "as_of_round"), [(1, 40), (2, None), (0, 0), (2, 10**15)])
def test_a_summary_is_what_the_books_of_the_history_say_of_those_who_hold_any_in_the_servers_order(
    sandbox, parties, net_books, migration_id, as_of_round
):
    record_time = sandbox.snapshots(migration_id)[-2]
    books = books_at(sandbox.world, migration_id, record_time)
    chosen = net_books.earliest_round() if as_of_round is None else as_of_round
    place = {"migration_id": migration_id, "record_time": record_time}

    asked = [*parties, "nobody::1220", parties[0]]
    found = summary(sandbox, **place, owner_party_ids=asked, as_of_round=as_of_round).json
    newer = summary(sandbox, **place, owner_party_ids=parties[::-1], version="v1").json

    told = found.pop("summaries")
    assert found == {**place, "computed_as_of_round": chosen}
    assert {one["party_id"]: one for one in told} == expected(books, chosen)
    assert len(told) == len({one["party_id"] for one in told}) > 0
    assert [one["party_id"] for one in told] != sorted(one["party_id"] for one in told)
    assert newer == {**place, "summaries": [{name: one[name] for name in HELD} for one in told]}


def test_past_snapshots_get_the_fees_of_the_round_that_is_open_when_asked(parties):
    with start(seed=7, updates=600) as growing:
        asked = {"migration_id": 0, "record_time": growing.snapshots(0)[1], "owner_party_ids": parties}
        then = books_at(growing.world, 0, asked["record_time"]).earliest_round()
        before = summary(growing, **asked).json
        growing.advance(updates=600)
        after = summary(growing, **asked).json

    now = books_at(growing.world).earliest_round()
    assert then < before["computed_as_of_round"] < after["computed_as_of_round"] == now
    assert [one["total_coin_holdings"] for one in before["summaries"]] == [
        one["total_coin_holdings"] for one in after["summaries"]
    ]


@pytest.mark.parametrize(
    ("units", "rounds", "rate", "units_of_fee"),
    [
        (10**10, 3, "0.00000000005", 2),
        (10**10, 5, "0.00000000005", 2),
        (7, 10**18, "0.0000158548", 7),
        (10**10, -1, "0.0000158548", -158_548),
    ],
    ids=["1.5 to 2", "2.5 to 2", "at most the amount", "negative"],
)
def test_a_fee_is_rounded_half_even_to_ten_places_and_capped_above_only(units, rounds, rate, units_of_fee):
    assert fee(units, rounds, rate) == units_of_fee


def test_exact_takes_a_snapshot_s_instant_and_at_or_before_the_last_one_up_to_it(sandbox, parties):
    snapshots = sandbox.snapshots(1)

    def found(record_time, match="at_or_before", **more):
        asked = {"migration_id": 1, "record_time_match": match, "owner_party_ids": parties, **more}
        answer = summary(sandbox, record_time=record_time, **asked)
        return answer.json["summaries"] if answer.status == 200 else answer.status

    def moved(text, micros):
        return timestamps.exact(timestamps.parse(text) + micros)

    exact = [found(one, None) for one in snapshots]
    middle = next(n for n in range(1, len(exact) - 1) if exact[n + 1] != exact[n] != exact[n - 1])
    at = snapshots[middle]
    assert found(at) == found(at, "exact") == found(moved(at, 1)) == exact[middle]
    assert found(moved(at, 1), None) == found(moved(at, -1), "exact") == 404
    assert found(moved(at, -1)) == exact[middle - 1]
    assert found("9999-12-31T23:59:59.999999Z") == exact[-1]
    assert found(moved(snapshots[0], -1)) == found("0001-01-01T00:00:00Z") == 404
    for migration_id in (-1, 3):
        assert {found(snapshots[4], one, migration_id=migration_id) for one in ("exact", "at_or_before")} == {404}
    odd = {"migration_id": 1, "record_time": "9999-12-31T23:59:59+00:00", "record_time_match": "at_or_before"}
    assert summary(sandbox, **odd, owner_party_ids=["a"]).json["record_time"] == odd["record_time"], "as it was sent"


def test_as_many_holdings_as_the_limit_are_answered_and_one_more_is_refused(sandbox, parties):
    place = {"migration_id": 2, "record_time": sandbox.snapshots(2)[-1]}
    held = [one for one in books_at(sandbox.world, *place.values()).active().values() if one.entity in (COIN, LOCKED)]
    for limit, status in ((len(held), 200), (len(held) - 1, 400)):
        with replica(sandbox, holdings_limit=limit) as server:
            assert summary(server, **place, owner_party_ids=parties).status == status


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("updates", "migrations"), [(600, 3), (2_000, 3), (6_000, 2), (2_000, 1)])
def test_every_migration_has_its_snapshots_on_one_grid_and_they_stay_while_the_ledger_grows(updates, migrations):
    world = generate(7, updates, migrations=migrations)
    assert world.snapshot_period in PERIODS

    for migration_id in range(migrations):
        times = [update.record_time for update in world.updates if update.migration_id == migration_id]
        grid = list(instants(world, migration_id))
        assert len(grid) >= 8
        assert all(one % world.snapshot_period == 0 for one in grid)
        assert min(times) <= grid[0] < min(times) + world.snapshot_period
        assert max(times) - world.snapshot_period < grid[-1] <= max(times)
    world.advance(updates)
    later = list(instants(world, migrations - 1))
    assert later[: len(grid)] == grid
    assert len(later) > len(grid)
