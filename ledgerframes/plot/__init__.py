"""Charts: `lf.plot.rewards(history)` and others, each from the frame it draws, a History or a Store.

Every chart takes `backend="matplotlib" | "plotly"`, `ax=` and `title=`, and returns the Axes or the figure; nothing is
shown or saved. Ids are drawn by their aliases or hints, in colours that are derived from the id.
"""

from ledgerframes.plot.activity import price_votes as price_votes
from ledgerframes.plot.activity import transfers as transfers
from ledgerframes.plot.activity import updates as updates
from ledgerframes.plot.activity import votes as votes
from ledgerframes.plot.coin import burn as burn
from ledgerframes.plot.coin import coin_supply as coin_supply
from ledgerframes.plot.coin import instrument_supply as instrument_supply
from ledgerframes.plot.coin import rewards as rewards
from ledgerframes.plot.key_figures import app_shares as app_shares
from ledgerframes.plot.key_figures import license_growth as license_growth
from ledgerframes.plot.key_figures import retention as retention
from ledgerframes.plot.key_figures import validator_scorecard as validator_scorecard
from ledgerframes.plot.key_figures import validators as validators
from ledgerframes.plot.palette import style as style
from ledgerframes.plot.reassignments import in_flight as in_flight
from ledgerframes.plot.reassignments import reassignment_flows as reassignment_flows
from ledgerframes.plot.reassignments import reassignment_matrix as reassignment_matrix
from ledgerframes.plot.reassignments import reassignment_timeline as reassignment_timeline
from ledgerframes.plot.supply import balances as balances
from ledgerframes.plot.supply import holding_fees as holding_fees
from ledgerframes.plot.supply import holdings as holdings
from ledgerframes.plot.supply import issuance as issuance
from ledgerframes.plot.supply import supply_by_purpose as supply_by_purpose

__all__ = [
    "app_shares", "balances", "burn", "coin_supply", "holding_fees", "holdings", "in_flight", "instrument_supply",
    "issuance", "license_growth", "price_votes", "reassignment_flows", "reassignment_matrix", "reassignment_timeline",
    "retention", "rewards", "style", "supply_by_purpose", "transfers", "updates", "validator_scorecard", "validators",
    "votes",
]  # fmt: skip
