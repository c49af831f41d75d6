"""A distributed ledger's four HTTP interfaces as pandas DataFrames, a Parquet lake and pictures.

Start with `net = lf.sandbox()` or `net = lf.connect(scan_url=...)`, then `lf.load_history(net, limit=1000)`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Folders that share their name with a public function are imported first, so that the function stays on top.
import ledgerframes.sandbox
import ledgerframes.tables  # noqa: F401
from ledgerframes import commands
from ledgerframes.analysis.anomalies import reassignment_anomalies
from ledgerframes.analysis.contracts import active_contracts
from ledgerframes.analysis.expanding import expand, template_catalogue
from ledgerframes.analysis.flows import contract_journeys, flow_matrix, reassignment_flows
from ledgerframes.analysis.holdings import holding_fees, holdings_from_events, reconcile_holdings
from ledgerframes.analysis.licenses import license_activity, license_growth, license_versions, supply_over_time
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
    StoppedError,
    StoreError,
)
from ledgerframes.loaders.active_contracts import load_active_contracts, load_coins
from ledgerframes.loaders.contracts import (
    load_licenses,
    load_name_rules,
    load_transfer_offers,
    load_transfer_preapprovals,
)
from ledgerframes.loaders.cross_check import CrossCheck, cross_check
from ledgerframes.loaders.history import History, load_history, load_update, load_update_by_hash, rebuild_items
from ledgerframes.loaders.history_tables import load_events, load_reassignments, load_updates
from ledgerframes.loaders.holdings import load_holdings_summary
from ledgerframes.loaders.ledger import LedgerTransaction, load_ledger_transaction
from ledgerframes.loaders.members import load_traffic, load_validator_faucets
from ledgerframes.loaders.network_names import load_names
from ledgerframes.loaders.network_now import load_featured_apps, load_rounds, load_scans, load_super_validators
from ledgerframes.loaders.planning import Plan, migrations, plan
from ledgerframes.loaders.rounds import earliest_reward_round
from ledgerframes.loaders.snapshot_times import snapshot_times
from ledgerframes.loaders.snapshots import load_instruments, load_name_entries, load_users
from ledgerframes.network import Network, connect, sandbox
from ledgerframes.recording import record, replay
from ledgerframes.tables.descriptions import describe, tables
from ledgerframes.version import __version__ as __version__

if TYPE_CHECKING:  # imported when first asked for, by `__getattr__`
    from ledgerframes.apps.doctor.diagnosis import Diagnosis
    from ledgerframes.apps.doctor.examine import doctor
    from ledgerframes.apps.html_report.report import report
    from ledgerframes.export.exporting import export_tables
    from ledgerframes.export.formulas import restore_text
    from ledgerframes.export.report import ExportReport
    from ledgerframes.plots.fees import plot_holding_fees
    from ledgerframes.plots.fees_over_time import plot_holding_fees_over_time
    from ledgerframes.plots.flows import plot_reassignment_flows
    from ledgerframes.plots.growth import plot_license_growth
    from ledgerframes.plots.in_flight import plot_reassignment_in_flight
    from ledgerframes.plots.matrix import plot_reassignment_matrix
    from ledgerframes.plots.style import style
    from ledgerframes.plots.supply import plot_supply
    from ledgerframes.plots.timeline import plot_reassignment_timeline
    from ledgerframes.plots.updates import plot_update_rate
    from ledgerframes.store.opening import open_store
    from ledgerframes.store.store import Store
    from ledgerframes.store.sync.report import SyncReport

__all__ = [
    "ConfigurationError",
    "ConflictError",
    "CrossCheck",
    "DecodeError",
    "Diagnosis",
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
    "StoppedError",
    "Store",
    "StoreError",
    "SyncReport",
    "active_contracts",
    "commands",
    "connect",
    "contract_journeys",
    "cross_check",
    "describe",
    "doctor",
    "earliest_reward_round",
    "expand",
    "export_tables",
    "flow_matrix",
    "holding_fees",
    "holdings_from_events",
    "license_activity",
    "license_growth",
    "license_versions",
    "load_active_contracts",
    "load_coins",
    "load_events",
    "load_featured_apps",
    "load_history",
    "load_holdings_summary",
    "load_instruments",
    "load_ledger_transaction",
    "load_licenses",
    "load_name_entries",
    "load_name_rules",
    "load_names",
    "load_reassignments",
    "load_rounds",
    "load_scans",
    "load_super_validators",
    "load_traffic",
    "load_transfer_offers",
    "load_transfer_preapprovals",
    "load_update",
    "load_update_by_hash",
    "load_updates",
    "load_users",
    "load_validator_faucets",
    "migrations",
    "open_store",
    "plan",
    "plot_holding_fees",
    "plot_holding_fees_over_time",
    "plot_license_growth",
    "plot_reassignment_flows",
    "plot_reassignment_in_flight",
    "plot_reassignment_matrix",
    "plot_reassignment_timeline",
    "plot_supply",
    "plot_update_rate",
    "reassignment_anomalies",
    "reassignment_flows",
    "rebuild_items",
    "reconcile_holdings",
    "record",
    "replay",
    "report",
    "restore_text",
    "sandbox",
    "snapshot_times",
    "style",
    "supply_over_time",
    "tables",
    "template_catalogue",
]

_MODULES = {
    "Diagnosis": "ledgerframes.apps.doctor.diagnosis",
    "ExportReport": "ledgerframes.export.report",
    "Store": "ledgerframes.store.store",
    "SyncReport": "ledgerframes.store.sync.report",
    "doctor": "ledgerframes.apps.doctor.examine",
    "export_tables": "ledgerframes.export.exporting",
    "open_store": "ledgerframes.store.opening",
    "plot_holding_fees": "ledgerframes.plots.fees",
    "plot_holding_fees_over_time": "ledgerframes.plots.fees_over_time",
    "plot_license_growth": "ledgerframes.plots.growth",
    "plot_reassignment_flows": "ledgerframes.plots.flows",
    "plot_reassignment_in_flight": "ledgerframes.plots.in_flight",
    "plot_reassignment_matrix": "ledgerframes.plots.matrix",
    "plot_reassignment_timeline": "ledgerframes.plots.timeline",
    "plot_supply": "ledgerframes.plots.supply",
    "plot_update_rate": "ledgerframes.plots.updates",
    "report": "ledgerframes.apps.html_report.report",
    "restore_text": "ledgerframes.export.formulas",
    "style": "ledgerframes.plots.style",
}


def __getattr__(name: str) -> Any:
    """Import what a session may never need when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    """The public names, and nothing that is there by the way."""
    return list(__all__)
