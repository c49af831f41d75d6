"""The tables hold on a whole economy: every check that they carry is kept, by each kind of world."""

import pytest

import ledgerframes as lf
from ledgerframes.models.computing import together
from tests.rigs.servers import simulated

WORLDS = {
    "small": {"seed": 23, "updates": 2000},
    "twelve days": None,
    "hostile": {"seed": 9, "updates": 1500, "hostile": True},
}


#: A hostile ledger has coins that end without a create, and choices that no model knows.
LACKS = pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=LACKS if name == "hostile" else ()) for name in WORLDS], ids=WORLDS
)
def world(request):
    """A kind of world, and its history for several tables."""
    options = WORLDS[request.param]
    if options is None:
        history = request.getfixturevalue("switched_history")
    else:
        with simulated(**options) as net:
            history = lf.load_history(net, start="begin", as_="arrow", progress=False, decimals="exact")
    with together(history) as inputs:
        yield request.param, inputs


def test_every_change_of_coin_is_explained(world):
    name, history = world
    flows = lf.mint_burn(history)

    assert flows.attrs["unexplained"]["zero"] > 0
    assert flows.attrs["unexplained"]["other"] == 0
    # Only a hostile ledger has coins that cannot be read; what they change is null there, and never 0.
    assert name == "hostile" or flows.attrs["unexplained"]["unknown"] == 0
    known = flows[flows.unexplained.notna()]
    assert (known.net_change == known.unexplained + _sum(known, "minted_") - _sum(known, "burned_")).all()


def test_minted_less_burned_is_the_coin_that_is_there(world):
    name, history = world
    flows, coins = lf.mint_burn(history), lf.coin_history(history)
    (supply,) = lf.supply(history).itertuples()

    there = coins[coins.ended_at.isna()].amount.sum()
    assert flows.net_change.sum() == there
    # What cannot be read of a hostile ledger's coins is not 0 either.
    if name == "hostile":
        assert supply.total is None
    else:
        assert supply.total == supply.unlocked + supply.locked == there


def test_rounds_add_up_to_the_whole(world):
    name, history = world
    rounds = lf.supply_per_round(history)
    known = rounds[rounds.net_change.notna()]

    assert name == "hostile" or len(known) == len(rounds) > 0
    rounds = known
    assert (rounds.net_change == rounds.minted - rounds.burned).all()
    assert (rounds.unexplained == 0).all()


def test_what_rounds_issue_is_what_their_configuration_says(world):
    _, history = world
    checks = lf.round_history(history).attrs["checks"]["issuance_per_sv"]

    assert checks["different"] == 0
    assert checks["equal"] > 0


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


def _sum(flows, prefix):
    return flows[[name for name in flows.columns if name.startswith(prefix)]].sum(axis=1)
