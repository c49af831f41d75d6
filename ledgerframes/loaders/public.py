"""The loaders as `lf.NAME`; type checkers read the generated stub next to this file, which has what `as_` returns."""

# ruff: noqa: F401 - only names are kept here

from ledgerframes.loaders.active_contracts import (
    load_active_contracts,
    load_coins,
)
from ledgerframes.loaders.history import (
    load_events,
    load_history,
    load_reassignments,
    load_update,
    load_updates,
    load_verdicts,
)
from ledgerframes.loaders.holdings import load_holdings_summary
from ledgerframes.loaders.ledger import load_ledger_history, load_ledger_transaction
from ledgerframes.loaders.ledger_contracts import load_ledger_contracts
from ledgerframes.loaders.network_now import (
    load_featured_apps,
    load_names,
    load_rounds,
    load_scans,
    load_super_validators,
    load_traffic,
    load_validator_faucets,
)
from ledgerframes.loaders.snapshots import (
    load_instruments,
    load_licenses,
    load_name_entries,
    load_name_rules,
    load_transfer_offers,
    load_transfer_preapprovals,
    load_users,
)
