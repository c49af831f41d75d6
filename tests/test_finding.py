"""`find`: what a newcomer looks for is among the first three things that it lists, by the words of other dashboards."""

import pytest

import ledgerframes as lf

#: What is wanted, and words that somebody says who does not know its name.
WANTED = {
    "votes": ("votes", "governance", "proposals", "who voted"),
    "vote_casts": ("who voted", "voted how", "votes cast"),
    "config_changes": ("configuration", "parameters", "what changed"),
    "price_votes": ("price vote", "median price", "coin price"),
    "featured_app_history": ("featured apps", "app rights", "granted", "withdrawn"),
    "sv_weights": ("super validator weights", "weights", "offboarding", "beneficiaries"),
    "movements": ("statement", "account", "accounting", "credit", "debit", "counterparty"),
    "supply_by_purpose": ("circulating supply", "locked supply", "supply", "unclaimed", "vesting"),
    "issuance": ("issuance curve", "inflation", "emission", "halving", "schedule", "minted"),
    "network_daily": ("active users", "transactions per day", "key figures", "KPI", "fees", "dashboard"),
    "validator_daily": ("validator scorecard", "validator rewards", "missed rounds", "liveness", "profit"),
    "app_daily": ("applications", "app share", "users", "app rewards", "app activity"),
    "retention": ("retention", "cohorts", "returning", "churn", "came back"),
    "wallets_daily": ("wallets", "new wallets", "preapprovals", "external party"),
    "labels": ("label", "names of parties", "own labels", "names and roles"),
    "join_prices": ("market price", "join prices"),
    "events_from_pqs": ("PQS", "participant query store", "postgres"),
    "plot.votes": ("votes", "governance timeline", "votes chart"),
    "plot.price_votes": ("price votes", "median price"),
    "plot.supply_by_purpose": ("circulating supply", "locked supply"),
    "plot.issuance": ("issuance", "inflation", "emission chart"),
    "plot.app_shares": ("app shares", "application share", "concentration"),
    "plot.validator_scorecard": ("validator scorecard", "scorecard"),
    "plot.retention": ("retention", "cohort", "heat map"),
    "transfers": ("who paid whom",),
    "reward_flows": ("who earns most",),
    "Store": ("Power BI", "Tableau", "is the lake complete"),
}  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_a_newcomer_finds_it_among_the_first_three(name):
    for words in WANTED[name]:
        found = [one if one.startswith("plot.") else one.partition(".")[0] for one in lf.find(words).name]
        assert name in [*dict.fromkeys(found)][:3], words


def test_a_word_finds_functions_charts_tables_and_columns_each_by_what_one_writes():
    found = lf.find("holdings")

    assert {"load_holdings_summary", "holdings_from_events"} <= set(found.name[found.kind == "function"])
    assert {"plot.holdings", "plot.holding_fees"} <= set(lf.find("holding").query("kind == 'chart'").name)
    assert "holdings_summary" in set(found.name[found.kind == "table"])
    assert "holdings_summary.total_coin_holdings" in set(found.name[found.kind == "column"])
    assert "balances_over_time" in set(lf.find("Balance").name)
    assert lf.find("xyzzy").empty
    assert "..." not in str(found)


def test_every_chart_is_found_and_what_only_sets_their_look_is_no_chart():
    found = lf.find("chart").query("kind == 'chart'")

    assert {*found.name} == {f"plot.{name}" for name in lf.plot.__all__} - {"plot.style"}
