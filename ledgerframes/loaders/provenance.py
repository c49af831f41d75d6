"""Where a frame came from: the values of `df.attrs`, all JSON-serialisable and free of secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledgerframes.decoding.peek import Cursor
from ledgerframes.instants import format_instant
from ledgerframes.version import __version__


@dataclass(frozen=True)
class Provenance:
    """What a loaded frame says about its origin.

    Attributes:
        sources: scheme, host and path of the servers that answered.
        range: what was asked for, in words.
        cursor: the last place read.
        complete: False if a fault cut the result short and the caller allowed it.
        from_beginning: whether the result begins where the ledger does.
        personal: whether the caller's settings keep personal data: `expand` and exports then do so too.
        left_out: members that were taken out, for they hold personal data.
    """

    sources: tuple[str, ...]
    range: str
    cursor: Cursor | None
    complete: bool
    from_beginning: bool = False
    personal: bool = False
    left_out: tuple[str, ...] = ()

    def attrs(self) -> dict[str, Any]:
        """The values for `df.attrs`."""
        place = self.cursor
        return {
            "source": ", ".join(self.sources),
            "range": self.range,
            "cursor": None if place is None else [place.migration_id, format_instant(place.micros)],
            "complete": self.complete,
            "from_beginning": self.from_beginning,
            "version": __version__,
            **({"personal": True} if self.personal else {}),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }
