"""The tables that `ledgerframes.models` computes, in the order in which `tables()` lists them."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.coin_flows import MINT_BURN, MOVEMENTS, TOKEN_TRANSFERS, TRAFFIC_PURCHASES, TRANSFERS
from ledgerframes.tables.coin_stocks import (
    BALANCES_OVER_TIME,
    COIN_HISTORY,
    SUPPLY,
    SUPPLY_BY_PURPOSE,
    SUPPLY_PER_ROUND,
)
from ledgerframes.tables.from_snapshots import (
    HOLDING_FEES,
    INSTRUMENT_SUPPLY,
    LICENSE_ACTIVITY,
    LICENSE_GROWTH,
    LICENSE_VERSIONS,
)
from ledgerframes.tables.governance import (
    CONFIG_CHANGES,
    FEATURED_APP_HISTORY,
    PRICE_VOTES,
    SV_WEIGHTS,
    VOTE_CASTS,
    VOTES,
)
from ledgerframes.tables.network_activity import (
    ACTIVE_PARTIES,
    APP_DAILY,
    NETWORK_DAILY,
    RETENTION,
    TEMPLATE_ACTIVITY,
    TEMPLATE_CATALOGUE,
    VALIDATOR_DAILY,
    VALIDATOR_LIVENESS,
    WALLETS_DAILY,
)
from ledgerframes.tables.reassignments import (
    CONTRACT_JOURNEYS,
    FLOW_MATRIX,
    REASSIGNMENT_ANOMALIES,
    REASSIGNMENT_FLOWS,
)
from ledgerframes.tables.replayed import HOLDINGS_FROM_EVENTS
from ledgerframes.tables.rounds_and_rewards import ISSUANCE, REWARD_FLOWS, REWARDS, ROUND_HISTORY, SV_REWARDS
from ledgerframes.tables.table import Table

#: Those of events alone. Each is returned by the function of its name; `rounds` and `coins` are loaded tables.
DERIVED: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        *(ROUND_HISTORY, ISSUANCE, REWARDS, REWARD_FLOWS, SV_REWARDS),
        *(TRANSFERS, TOKEN_TRANSFERS, TRAFFIC_PURCHASES, MINT_BURN, MOVEMENTS),
        *(COIN_HISTORY, SUPPLY, SUPPLY_PER_ROUND, SUPPLY_BY_PURPOSE, BALANCES_OVER_TIME),
        *(VOTES, VOTE_CASTS, PRICE_VOTES, CONFIG_CHANGES, SV_WEIGHTS, FEATURED_APP_HISTORY),
        *(ACTIVE_PARTIES, TEMPLATE_ACTIVITY, VALIDATOR_LIVENESS),
        *(NETWORK_DAILY, APP_DAILY, VALIDATOR_DAILY, WALLETS_DAILY, RETENTION),
    )
}
#: All: those of other tables too.
COMPUTED: Final[dict[str, Table]] = DERIVED | {
    table.name: table
    for table in (
        *(HOLDINGS_FROM_EVENTS, REASSIGNMENT_FLOWS, FLOW_MATRIX, CONTRACT_JOURNEYS, REASSIGNMENT_ANOMALIES),
        *(TEMPLATE_CATALOGUE, LICENSE_GROWTH, LICENSE_ACTIVITY, LICENSE_VERSIONS, INSTRUMENT_SUPPLY, HOLDING_FEES),
    )
}
