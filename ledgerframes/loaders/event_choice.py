"""Which events a load keeps of each page; `load_events` makes it, `history_reading` applies it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import names, refuse

#: Who takes part in an event.
_PARTIES: Final = ("acting_parties", "signatories", "observers")


@dataclass(frozen=True)
class EventChoice:
    """The events that a caller wants, of any of the names where one is given; all three have to hold.

    Attributes:
        template: templates as Module:Entity.
        party: who acts, signs or observes.
        choice: what was exercised.
    """

    template: tuple[str, ...] | None = None
    party: tuple[str, ...] | None = None
    choice: tuple[str, ...] | None = None

    @classmethod
    def of(cls, **wanted: str | Iterable[str] | None) -> EventChoice | None:
        """Read the caller's keywords; None if there is none.

        Raises:
            InputError: one of them is neither a text nor several.
        """
        several = {key: [value] if isinstance(value, str) else value for key, value in wanted.items()}
        given = {key: values for key, values in several.items() if values is not None}
        read = {key: names(value, key) for key, value in given.items()}
        for key, values in read.items():
            if not values:
                refuse(key, wanted[key], "give one text or several, or leave it out for all events")
        return cls(**read) if read else None

    @property
    def attrs(self) -> dict[str, Any]:
        """What the provenance says of it."""
        given = {"template": self.template, "party": self.party, "choice": self.choice}
        return {"only": {key: list(value) for key, value in given.items() if value is not None}}

    def kept(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The events of a page that are wanted."""
        mask = pa.array([True]).take(pa.array([0] * len(events), pa.int64()))
        for column, wanted in (("template_name", self.template), ("choice", self.choice)):
            if wanted is not None:
                mask = pc.and_(mask, pc.is_in(events[column], value_set=pa.array(wanted, pa.string())))
        return events.filter(mask if self.party is None else pc.and_(mask, self._with_party(events)))

    def _with_party(self, events: pa.RecordBatch) -> pa.BooleanArray:
        rows: set[int] = set()
        for column in _PARTIES:
            parties = events[column]
            there = pc.is_in(parties.flatten(), value_set=pa.array(self.party, pa.string()))
            rows.update(pc.list_parent_indices(parties).filter(there).to_pylist())
        return pa.array([place in rows for place in range(len(events))], pa.bool_())
