"""The origin of a frame: the values of `df.attrs`, all JSON-serialisable and free of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import format_timestamp
from ledgerframes.version import __version__


@dataclass(frozen=True)
class Provenance:
    """The origin of a loaded frame.

    Attributes:
        sources: scheme, host and path of the servers that answered.
        range: the requested range, in words.
        cursor: the last place read.
        complete: whether everything asked for is there. False if an error cut the result short and the caller allowed
            it, or if no server has an update at or after the `end` asked for, so that more may come before it.
        from_beginning: whether the result begins at ledger begin; None if unknown.
        begins_late: the first available place, if later than ledger begin and the result was to reach back to it.
        settled: of a store, the cursor up to which rows are final; between later ones more may appear.
        personal: whether the caller's settings keep personal data: `expand` and exports then do so too.
        left_out: members that were removed because they hold personal data.
        ends_early: no server has passed the `end` asked for, so what is missing may still come; `known_to` is then
            the last cursor.
        counted_from: the instant that the caller's `last` counts back from.
        bounds: where the range begins and ends, as in `Window.bounds`.
        decimals: how the caller wants amounts to be held; tables computed from the frame follow it.
    """

    sources: tuple[str, ...]
    range: str
    cursor: Cursor | None
    complete: bool
    from_beginning: bool | None = False
    begins_late: Cursor | None = None
    settled: Cursor | None = None
    personal: bool = False
    left_out: tuple[str, ...] = ()
    ends_early: bool = False
    counted_from: int | None = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    decimals: str = "float"

    def attrs(self) -> dict[str, Any]:
        """The values for `df.attrs`."""
        return {
            "source": ", ".join(self.sources),
            "range": self.range,
            **self.bounds,
            "cursor": _said(self.cursor),
            "complete": self.complete,
            "from_beginning": self.from_beginning,
            "begins_late": None if self.begins_late is None else format_timestamp(self.begins_late.micros),
            **({} if self.counted_from is None else {"counted_from": format_timestamp(self.counted_from)}),
            **({"known_to": _said(self.cursor)} if self.ends_early else {}),
            # Only if it is known: a load is a single read and proves nothing final.
            **({} if self.settled is None else {"settled": _said(self.settled)}),
            "version": __version__,
            **({} if self.decimals == "float" else {"decimals": self.decimals}),
            **({"personal": True} if self.personal else {}),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }


def _said(place: Cursor | None) -> list[Any] | None:
    return None if place is None else [place.migration_id, format_timestamp(place.micros)]
