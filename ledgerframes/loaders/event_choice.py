"""`EventChoice`: which of the loaded events to keep; `load_events` makes it, `history_reading` applies it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import entity, names, refuse

#: The columns of an event's participants.
_PARTIES: Final = ("acting_parties", "signatories", "observers")


@dataclass(frozen=True)
class EventChoice:
    """The requested events, of any of the given names; all three conditions must hold.

    Attributes:
        template: templates as Module:Entity.
        party: acts, signs or observes.
        choice: the exercised choice.
    """

    template: tuple[str, ...] | None = None
    party: tuple[str, ...] | None = None
    choice: tuple[str, ...] | None = None

    @classmethod
    def of(cls, **wanted: str | Iterable[str] | None) -> EventChoice | None:
        """Read the caller's keywords; None if there is none.

        Raises:
            InputError: one of them is neither a text nor a list of texts.
        """
        several = {key: [value] if isinstance(value, str) else value for key, value in wanted.items()}
        chosen = {key: values for key, values in several.items() if values is not None}
        read = {key: names(value, key) for key, value in chosen.items()}
        for key, values in read.items():
            if not values:
                refuse(key, wanted[key], "give one text or several, or leave it out for all events")
        for template in read.get("template", ()):
            entity(template, "template")
        for party in read.get("party", ()):
            if "::" not in party:
                refuse("party", party, "give a whole party id, such as 'alice::1220…'")
        return cls(**read) if read else None

    @property
    def attrs(self) -> dict[str, Any]:
        """The conditions, for provenance."""
        chosen = {"template": self.template, "party": self.party, "choice": self.choice}
        return {"only": {key: list(value) for key, value in chosen.items() if value is not None}}

    def selected(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The requested events of a page."""
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
