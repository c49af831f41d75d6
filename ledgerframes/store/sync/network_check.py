"""`check_network`: whether servers contradict a store; `doctor` calls it."""

from __future__ import annotations

from ledgerframes.interfaces.history_pages import PageSource
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval
from ledgerframes.store.history_tables import HistoryTables
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.servers import AgreedServers


def check_network(source: PageSource, history: HistoryTables, settle: int) -> None:
    """Refuse servers that contradict a store.

    Raises:
        StoreError: a server belongs to another network, or none agrees with the store.
        RequestError: no server answered.
    """
    newest = max(interval.migration_id for interval in history.coverage.common)
    settled = (interval.hi for interval in history.coverage.settled if interval.migration_id == newest)
    end = max(settled, default=BEGINNING)
    Agreement(AgreedServers(source), history, Proofs(settle), MAXIMUM).compare(
        Interval(newest, end, CLOSED), every=True
    )
