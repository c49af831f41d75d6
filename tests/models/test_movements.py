"""`movements` add up: a party's to what it holds, those of all to what is minted and burned, and nothing is unknown."""

from __future__ import annotations

import random

import pytest

import ledgerframes as lf


@pytest.fixture(
    scope="module", params=[{"seed": 7, "updates": 2000}, {"days": 12, "reward_version": "switch"}], ids=str
)
def history(request):
    with lf.sandbox(**request.param) as net:
        yield lf.load_history(net, start="begin", as_="arrow", progress=False, decimals="exact")


def test_a_partys_entries_are_what_it_holds_at_every_time(history):
    entries = lf.movements(history)
    held = lf.balances_over_time(history, every="1h")

    for party, own in held.groupby("party_id"):
        mine = entries[entries.party == party]
        assert list(mine.balance_after) == list(mine.amount.cumsum())
        for time, coin, locked in zip(own.time, own.total_coin_holdings, own.total_locked_coin, strict=True):
            by_then = mine[mine.record_time <= time]
            assert (by_then.amount.sum(), by_then.locked_change.sum()) == (coin, locked)
    assert {*entries.party} <= {*held.party_id}


def test_all_entries_are_what_is_minted_and_burned_and_each_has_its_reason(history):
    entries, flows = lf.movements(history), lf.mint_burn(history).set_index("update_id")

    assert "unknown" not in set(entries.kind)
    assert {"lock", "unlock", "merge"} < set(entries.kind)
    found = entries.groupby("update_id").amount.sum().reindex(flows.index)
    assert (found == flows.net_change).all()
    sums = entries.groupby("kind").amount.sum()
    for kind in [name for name in flows if name.startswith(("minted_", "burned_"))]:
        sign = 1 if kind.startswith("minted") else -1
        assert sums.get(kind, 0) == sign * flows[kind].sum(), kind


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")
def test_ranges_add_up_to_what_they_mint_and_burn_and_have_no_balance(history):
    rng, updates = random.Random(5), history.events["update_id"].to_pylist()
    starts = [place for place, own in enumerate(updates) if not place or own != updates[place - 1]]
    for _ in range(4):
        first, last = sorted(rng.sample(starts, 2))
        part = history.events.slice(first, last - first).replace_schema_metadata(None)
        entries, flows = (function(part, decimals="exact") for function in (lf.movements, lf.mint_burn))

        for update, own in entries.groupby("update_id"):
            net = flows.net_change[flows.update_id == update].iloc[0]
            assert own.amount.isna().any() if net is None or net != net else own.amount.sum() == net
        assert entries.balance_after.isna().all()


def test_one_party_has_its_own_entries(history):
    entries = lf.movements(history)
    party = entries.party.mode()[0]

    alone = lf.movements(history, party=party)

    assert alone.equals(entries[entries.party == party].reset_index(drop=True))
