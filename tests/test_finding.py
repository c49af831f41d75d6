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
