"""The classes of functions' results, for annotations and `isinstance`: `lf.types.History` and others."""

from ledgerframes.apps.doctor.diagnosis import Diagnosis, Finding
from ledgerframes.export.report import ExportReport
from ledgerframes.loaders.cross_check import CrossCheck
from ledgerframes.loaders.history import History, Verdicts
from ledgerframes.loaders.ledger import LedgerHistory
from ledgerframes.loaders.opening import Opening
from ledgerframes.loaders.planning import Plan
from ledgerframes.network import Network
from ledgerframes.store.store import Store
from ledgerframes.store.sync.report import SyncReport

__all__ = [
    "CrossCheck", "Diagnosis", "ExportReport", "Finding", "History", "LedgerHistory", "Network",
    "Opening", "Plan", "Store", "SyncReport", "Verdicts",
]  # fmt: skip
