"""Tables of models as `lf.NAME`; type checkers read the generated stub next to this file for what `as_` returns."""

# ruff: noqa: F401 - only names are kept here

from ledgerframes.models.coin_flows import mint_burn, movements, token_transfers, traffic_purchases, transfers
from ledgerframes.models.coin_stocks import (
    balances_over_time,
    coin_history,
    supply,
    supply_by_purpose,
    supply_per_round,
)
from ledgerframes.models.contracts import active_contracts
from ledgerframes.models.governance import (
    config_changes,
    featured_app_history,
    price_votes,
    sv_weights,
    vote_casts,
    votes,
)
from ledgerframes.models.loaded_votes import load_votes
from ledgerframes.models.network_activity import (
    active_parties,
    app_daily,
    network_daily,
    retention,
    template_activity,
    validator_daily,
    validator_liveness,
    wallets_daily,
)
from ledgerframes.models.reassignments import reassignment_flows
from ledgerframes.models.rounds_and_rewards import issuance, reward_flows, rewards, round_history, sv_rewards
