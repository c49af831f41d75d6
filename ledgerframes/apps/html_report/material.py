"""`Material`: the frames that a report is made of; every section reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ledgerframes.loaders.history import History
from ledgerframes.store.store import Store


@dataclass(frozen=True)
class Material:
    """What a report is made of.

    Attributes:
        updates: the frame, as a store or a loader gives it; likewise `events` and `reassignments`.
        store: the store, where there is one: it knows coverage and snapshots.
        as_of: the state it is read in.
    """

    updates: pd.DataFrame
    events: pd.DataFrame
    reassignments: pd.DataFrame
    store: Store | None = None
    as_of: Any = None

    @property
    def history(self) -> History[Any]:
        """The frames as one history, from which tables are computed."""
        return History(self.updates, self.events, self.reassignments)

    def snapshot(self, name: str) -> pd.DataFrame | None:
        """A snapshot table's rows, or None where there are none."""
        if self.store is None:
            return None
        rows: pd.DataFrame = self.store.load(name, as_of=self.as_of)
        return rows if len(rows) else None
