"""Holdings summaries against the books of the history, which know nothing of the sandbox's own bookkeeping."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ledgerframes.sandbox.generator.generate import generate
from ledgerframes.sandbox.http.snapshots import fee
from ledgerframes.sandbox.server import start
from ledgerframes.sandbox.world import templates, timestamps
from ledgerframes.sandbox.world.amounts import decimal
from ledgerframes.sandbox.world.views import PERIODS, instants
from tests.economics.books import Books
from tests.rigs.servers import replica
from tests.sandbox.asking import ask
from tests.sandbox.economy_books import COIN, LOCKED

FEES = {
    "accumulated_holding_fees_unlocked",
    "accumulated_holding_fees_locked",
    "accumulated_holding_fees_total",
    "total_available_coin",
}


@pytest.fixture(scope="module")
def parties(sandbox):
    """Everybody who can have coin, with a user or without."""
    known = sandbox.world.simulation.parties
    return sorted((*known.people, *known.validators, *known.sponsors))


def summary(sandbox, *, version="v0", user="alice", **body):
    url = f"{sandbox.validator_url}/{version}/scan-proxy/holdings/summary"
    return ask(url, body, token=sandbox.token(user))


def books_at(world, migration_id=2**63, record_time="9999-12-31T00:00:00Z"):
    """The books of everything up to a place in the history."""
    place = (migration_id, timestamps.parse(record_time))
    return Books(
        item
        for item in world.items()
        if (item.get("event", item)["migration_id"], timestamps.parse(item["record_time"])) <= place
    )


def coins_of(books):
    return [life for life in books.active().values() if life.entity in (COIN, LOCKED)]


def expected(books, as_of_round):
    """The summaries by party."""
    return {
        party: {
            "party_id": party,
            "total_unlocked_coin": f"{free:.10f}",
            "total_locked_coin": f"{locked:.10f}",
            "total_coin_holdings": f"{free + locked:.10f}",
            "accumulated_holding_fees_unlocked": f"{cost:.10f}",
            "accumulated_holding_fees_locked": f"{locked_cost:.10f}",
            "accumulated_holding_fees_total": f"{cost + locked_cost:.10f}",
            "total_available_coin": f"{free - cost:.10f}",
        }
        for party, (free, locked, cost, locked_cost) in books.holdings(as_of_round).items()
    }


@pytest.mark.parametrize(
    ("migration_id", "as_of_round"),
    [(2, None), (0, 0), (1, 40), (2, 10**15)],
    ids=["default", "first round", "later one", "one never to come"],
)
def test_a_summary_is_what_the_books_of_the_history_say(sandbox, parties, net_books, migration_id, as_of_round):
    record_time = sandbox.snapshots(migration_id)[-2]
    books = books_at(sandbox.world, migration_id, record_time)
    chosen = net_books.earliest_round() if as_of_round is None else as_of_round

    asked = {"migration_id": migration_id, "record_time": record_time, "owner_party_ids": parties}
    found = summary(sandbox, **asked, as_of_round=as_of_round).json

    assert {name: found[name] for name in ("record_time", "migration_id", "computed_as_of_round")} == {
        "record_time": record_time,
        "migration_id": migration_id,
        "computed_as_of_round": chosen,
    }
    assert {one["party_id"]: one for one in found["summaries"]} == expected(books, chosen)
    assert migration_id == 0 or any(coin.entity == LOCKED for coin in coins_of(books))


def test_the_newer_answer_has_no_fees_no_round_and_no_available_amount(sandbox, parties):
    asked = {"migration_id": 2, "record_time": sandbox.snapshots(2)[3], "owner_party_ids": parties}

    older, newer = summary(sandbox, **asked).json, summary(sandbox, version="v1", **asked).json

    assert newer.keys() == {"record_time", "migration_id", "summaries"}
    assert newer["summaries"] == [
        {name: value for name, value in one.items() if name not in FEES} for one in older["summaries"]
    ]


def test_fees_can_be_negative_before_creation_and_never_exceed_the_amount(sandbox, parties):
    asked = {"migration_id": 2, "record_time": sandbox.snapshots(2)[-1], "owner_party_ids": parties}

    first, never = (summary(sandbox, **asked, as_of_round=round_).json["summaries"] for round_ in (0, 2**63 - 1))

    assert any(Decimal(one["accumulated_holding_fees_unlocked"]) < 0 for one in first)
    assert {one["total_available_coin"] for one in never} == {"0.0000000000"}


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
        (10**10, 3, "0.0000158548", 475_644),
        (10**10, 3, "0.00000000005", 2),
        (10**10, 5, "0.00000000005", 2),
        (7, 10**18, "0.0000158548", 7),
        (10**10, -1, "0.0000158548", -158_548),
    ],
    ids=["plain", "1.5 to 2", "2.5 to 2", "at most the amount", "negative"],
)
def test_a_fee_is_rounded_half_even_to_ten_places_and_capped_above_only(units, rounds, rate, units_of_fee):
    assert fee(units, rounds, rate) == units_of_fee


@pytest.mark.parametrize(
    ("units", "text"), [(0, "0.0000000000"), (-1, "-0.0000000001"), (10**38, "1" + "0" * 28 + ".0000000000")]
)
def test_amounts_are_exact_text_with_ten_places(units, text):
    assert decimal(units) == text


def test_parties_without_holdings_are_missing_and_the_order_is_the_server_s(sandbox, parties):
    holders = {*books_at(sandbox.world, 0, sandbox.snapshots(0)[-1]).holdings(0)}
    asked = {"migration_id": 0, "record_time": sandbox.snapshots(0)[-1]}

    found = summary(sandbox, **asked, owner_party_ids=[*parties, "nobody::1220", parties[0]]).json["summaries"]
    again = summary(sandbox, **asked, owner_party_ids=parties[::-1]).json["summaries"]

    assert {one["party_id"] for one in found} == holders & set(parties)
    assert len(holders & set(parties)) == len(found) < len(parties)
    assert found == again
    assert [one["party_id"] for one in found] != sorted(holders)
    assert summary(sandbox, **asked, owner_party_ids=["nobody::1220"]).json["summaries"] == []


def test_exact_takes_a_snapshot_s_instant_only(sandbox, parties):
    instant = timestamps.parse(sandbox.snapshots(1)[4])

    def status(micros, **more):
        asked = {"migration_id": 1, "record_time": timestamps.exact(micros), "owner_party_ids": parties}
        return summary(sandbox, **asked, **more).status

    assert status(instant) == status(instant, record_time_match="exact") == 200
    assert status(instant + 1) == status(instant - 1, record_time_match="exact") == 404
    assert summary(
        sandbox, migration_id=1, record_time=timestamps.exact(instant + 1), owner_party_ids=["a"]
    ).json.keys() == {"error"}


def test_at_or_before_takes_the_last_snapshot_up_to_the_instant(sandbox, parties):
    snapshots = sandbox.snapshots(1)
    of_one = {"migration_id": 1, "owner_party_ids": parties}

    def found(record_time):
        answer = summary(sandbox, **of_one, record_time=record_time, record_time_match="at_or_before")
        return answer.json.get("summaries", answer.status)

    exact = [summary(sandbox, **of_one, record_time=one).json["summaries"] for one in snapshots]
    middle = next(n for n in range(1, len(exact) - 1) if exact[n + 1] != exact[n] != exact[n - 1])
    assert found(snapshots[middle]) == exact[middle]
    assert found(timestamps.exact(timestamps.parse(snapshots[middle]) + 1)) == exact[middle]
    assert found(timestamps.exact(timestamps.parse(snapshots[middle]) - 1)) == exact[middle - 1]
    assert found("9999-12-31T23:59:59.999999Z") == exact[-1]
    odd = {"record_time": "9999-12-31T23:59:59+00:00"}
    told = summary(sandbox, **of_one, **odd, record_time_match="at_or_before").json
    assert told["record_time"] == odd["record_time"], "as it was sent"
    assert found(timestamps.exact(timestamps.parse(snapshots[0]) - 1)) == 404
    assert found("0001-01-01T00:00:00Z") == 404
    for migration_id in (-1, 3):
        asked = {"migration_id": migration_id, "record_time": snapshots[4], "owner_party_ids": parties}
        assert {summary(sandbox, **asked, record_time_match=one).status for one in ("exact", "at_or_before")} == {404}
        assert sandbox.snapshots(migration_id) == []


def test_too_many_holdings_in_all_are_refused_and_fewer_parties_go_through(sandbox, parties):
    record_time = sandbox.snapshots(2)[-1]
    coins = coins_of(books_at(sandbox.world, 2, record_time))
    asked = {"migration_id": 2, "record_time": record_time}
    with replica(sandbox, holdings_limit=len(coins)) as enough, replica(sandbox, holdings_limit=len(coins) - 1) as few:
        assert summary(enough, **asked, owner_party_ids=parties).status == 200
        refused = summary(few, **asked, owner_party_ids=parties)
        halves = [
            summary(few, **asked, owner_party_ids=part).json["summaries"] for part in (parties[:20], parties[20:])
        ]
        whole = summary(enough, **asked, owner_party_ids=parties).json["summaries"]

    assert refused.status == 400
    assert "exceeded the limit" in refused.json["error"]
    assert sorted(one["party_id"] for half in halves for one in half) == sorted(one["party_id"] for one in whole)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("updates", "migrations"), [(300, 3), (2_000, 3), (6_000, 2), (2_000, 1)])
def test_every_migration_has_its_snapshots_on_one_grid_between_its_record_times(updates, migrations):
    world = generate(7, updates, migrations=migrations)
    assert world.snapshot_period in PERIODS

    for migration_id in range(migrations):
        times = [update.record_time for update in world.updates if update.migration_id == migration_id]
        grid = list(instants(world, migration_id))
        assert len(grid) >= 8
        assert all(one % world.snapshot_period == 0 for one in grid)
        assert min(times) <= grid[0] < min(times) + world.snapshot_period
        assert max(times) - world.snapshot_period < grid[-1] <= max(times)


def test_a_snapshot_stays_one_while_the_ledger_grows():
    world = generate(7, 600)
    before = list(instants(world, 2))

    world.advance(600)

    assert list(instants(world, 2))[: len(before)] == before
    assert len(instants(world, 2)) > len(before)


def test_coins_that_move_between_synchronizers_count_all_the_way(sandbox, net_books):
    moved = [item["event"]["contract_id"] for item in sandbox.world.items() if "contract_id" in item.get("event", {})]
    coins = {one.contract_id for one in sandbox.world.contracts.of(templates.COIN)}

    assert coins & set(moved)
    assert decimal(sandbox.world.coins.units) == f"{net_books.supply:.10f}"
