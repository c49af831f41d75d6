"""A distributed ledger's four HTTP interfaces as pandas DataFrames, a Parquet lake and pictures.

Start with `net = lf.sandbox()` or `net = lf.connect(scan_url=...)`, then `lf.load_history(net, limit=1000)`.
"""

# Folders that share their name with a public function are imported first, so that the function stays on top.
import ledgerframes.sandbox
import ledgerframes.tables  # noqa: F401
from ledgerframes.errors import (
    ConfigurationError,
    ConflictError,
    DecodeError,
    InputError,
    LedgerframesError,
    NoAnswerError,
    NotAuthorizedError,
    NotFoundError,
    PagingError,
    PartialResultError,
    RateLimitedError,
    RequestError,
    ServerError,
    StatusError,
    StoreError,
)
from ledgerframes.export.exporting import export_tables
from ledgerframes.export.formulas import restore_text
from ledgerframes.export.report import ExportReport
from ledgerframes.loaders.contracts import (
    load_licenses,
    load_name_rules,
    load_transfer_offers,
    load_transfer_preapprovals,
)
from ledgerframes.loaders.descriptions import describe, tables
from ledgerframes.loaders.history import (
    History,
    load_events,
    load_history,
    load_reassignments,
    load_update,
    load_update_by_hash,
    load_updates,
    rebuild_items,
)
from ledgerframes.loaders.holdings import load_holdings_summary
from ledgerframes.loaders.ledger import LedgerTransaction, load_ledger_transaction
from ledgerframes.loaders.probes import Plan, migrations, plan
from ledgerframes.loaders.rounds import earliest_reward_round
from ledgerframes.loaders.snapshots import load_instruments, load_name_entries, load_users
from ledgerframes.network import Network, connect, sandbox
from ledgerframes.store.report import SyncReport
from ledgerframes.store.store import Store, open_store
from ledgerframes.version import __version__ as __version__

__all__ = [
    "ConfigurationError",
    "ConflictError",
    "DecodeError",
    "ExportReport",
    "History",
    "InputError",
    "LedgerTransaction",
    "LedgerframesError",
    "Network",
    "NoAnswerError",
    "NotAuthorizedError",
    "NotFoundError",
    "PagingError",
    "PartialResultError",
    "Plan",
    "RateLimitedError",
    "RequestError",
    "ServerError",
    "StatusError",
    "Store",
    "StoreError",
    "SyncReport",
    "connect",
    "describe",
    "earliest_reward_round",
    "export_tables",
    "load_events",
    "load_history",
    "load_holdings_summary",
    "load_instruments",
    "load_ledger_transaction",
    "load_licenses",
    "load_name_entries",
    "load_name_rules",
    "load_reassignments",
    "load_transfer_offers",
    "load_transfer_preapprovals",
    "load_update",
    "load_update_by_hash",
    "load_updates",
    "load_users",
    "migrations",
    "open_store",
    "plan",
    "rebuild_items",
    "restore_text",
    "sandbox",
    "tables",
]
