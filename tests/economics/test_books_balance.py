"""The tables hold on a whole economy: every check that they carry is kept, by each kind of world."""

import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.rigs.servers import simulated

WORLDS = {"small": "exact_history", "twelve days": "switched_history", "hostile": None}
#: A hostile ledger has coins that end without a create, and choices that no model knows.
LACKS = pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=LACKS if name == "hostile" else ()) for name in WORLDS], ids=WORLDS
)
def world(request):
    """A kind of world, and its history for several tables."""
    if WORLDS[request.param]:
        history = request.getfixturevalue(WORLDS[request.param])
    else:
        with simulated(seed=9, updates=1500, hostile=True) as net:
            history = lf.load_history(net, start="begin", as_="arrow", progress=False, decimals="exact")
    with together(history) as inputs:
        yield request.param, inputs


def test_coin_and_rounds_add_up(world):
    """What a hostile ledger's coins change is null where they cannot be read, and never 0."""
    name, history = world
    flows, coins, rounds = lf.mint_burn(history), lf.coin_history(history), lf.supply_per_round(history)
    (supply,) = lf.supply(history).itertuples()

    unexplained = flows.attrs["unexplained"]
    assert unexplained["other"] == 0 < unexplained["zero"]
    there = coins[coins.ended_at.isna()].amount.sum()
    assert flows.net_change.sum() == there
    known = rounds[rounds.net_change.notna()]
    assert (known.net_change == known.minted - known.burned).all()
    assert (known.unexplained == 0).all()
    if name == "hostile":
        assert supply.total is None
    else:
        assert unexplained["unknown"] == rounds.net_change.isna().sum() == 0
        assert supply.total == supply.unlocked + supply.locked == there
    checks = lf.round_history(history).attrs["checks"]["issuance_per_sv"]
    assert checks["different"] == 0 < checks["equal"]


def test_coupons_end_as_the_ledger_says(world):
    name, history = world
    rewards = lf.rewards(history)
    checks = rewards.attrs["checks"]

    assert checks["unclaimed_rewards"]["different"] == checks["claims"]["different"] == 0
    if name == "hostile":
        return
    assert min(checks["unclaimed_rewards"]["equal"], checks["claims"]["equal"]) > 0
    assert set(rewards.outcome) >= {"claimed", "expired", "open"}
    assert rewards.attrs["not_understood"] == {}
    kinds = ["app", "validator", "validator_faucet", "sv"]
    if name == "twelve days":
        assert (rewards.outcome == "shared").any()
        fund = rewards[rewards.kind == "development_fund"]
        assert set(fund.outcome) >= {"claimed", "expired", "withdrawn"}
        assert (fund.amount == fund.weight).all()
        kinds.append("development_fund")
    flows = lf.mint_burn(history)
    assert flows.attrs["not_understood"] == {}
    claimed = rewards[rewards.outcome == "claimed"].groupby("kind").amount.sum()
    for kind in kinds:
        assert claimed[kind] == flows[f"minted_{kind}"].sum(), kind
