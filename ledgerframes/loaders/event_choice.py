"""`EventChoice`: which of the loaded events to keep; `load_events` makes it, `history_reading` applies it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import entity, names, refuse
from ledgerframes.errors import warn

#: The columns of an event's participants.
_PARTIES: Final = ("acting_parties", "signatories", "observers")
#: The keywords that name something, and the columns with the names that there are.
NAMED: Final = {"template": "template_name", "choice": "choice"}


def slip_of(name: object, there: Iterable[str]) -> str:
    """The end of a message with the name that another one is a slip of, by a letter or its case; empty without one.

    Templates resemble each other, and a name is no slip of another version of it.
    """
    folded = {word.casefold(): word for word in there}
    plain = name.casefold() if isinstance(name, str) else ""
    for near in get_close_matches(plain, folded, n=1, cutoff=0.95):
        if near == plain or re.sub(r"v\d+\b", "", near) != re.sub(r"v\d+\b", "", plain):
            return f"; did you mean {folded[near]!r}?"
    return ""


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
        chosen = {key: value for key, value in wanted.items() if value is not None}
        read = {key: names([value] if isinstance(value, str) else value, key) for key, value in chosen.items()}
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
        return {"only": {key: list(value) for key, value in vars(self).items() if value is not None}}

    def selected(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The requested events of a page."""
        for key, column in NAMED.items():
            if (wanted := getattr(self, key)) is not None:
                events = events.filter(pc.is_in(events[column], value_set=pa.array(wanted, pa.string())))
        return events if self.party is None else events.filter(self._with_party(events))

    def warn(self, seen: Mapping[str, Collection[str]]) -> None:
        """Warn of names that no event had, if others are like them: most likely they are misspelt.

        Args:
            seen: by keyword, the names of all events.
        """
        for key in NAMED:
            for name in getattr(self, key) or ():
                near = "" if name in seen[key] else slip_of(name, seen[key])
                if near:
                    warn(f"{key}={name!r}: no event of this range has it{near}", UserWarning)

    def _with_party(self, events: pa.RecordBatch) -> pa.BooleanArray:
        rows: set[int] = set()
        for column in _PARTIES:
            parties = events[column]
            there = pc.is_in(parties.flatten(), value_set=pa.array(self.party, pa.string()))
            rows.update(pc.list_parent_indices(parties).filter(there).to_pylist())
        return pa.array([place in rows for place in range(len(events))], pa.bool_())
