"""`provenance`: the origin of a frame, the values of `df.attrs`, all JSON-serialisable and free of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import format_timestamp
from ledgerframes.version import __version__


def provenance(
    *,
    sources: Sequence[str],
    range: str,  # noqa: A002 - the attribute's name
    cursor: Cursor | None,
    complete: bool,
    from_beginning: bool | None = False,
    begins_late: Cursor | None = None,
    settled: Cursor | None = None,
    personal: bool = False,
    left_out: Sequence[str] = (),
    ends_early: bool = False,
    counted_from: int | None = None,
    bounds: Mapping[str, Any] | None = None,
    decimals: str = "float",
) -> dict[str, Any]:
    """The values for the `df.attrs` of a loaded frame.

    Args:
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
    place = None if cursor is None else [cursor.migration_id, format_timestamp(cursor.micros)]
    final = None if settled is None else [settled.migration_id, format_timestamp(settled.micros)]
    return {
        "source": ", ".join(sources),
        "range": range,
        **(bounds or {}),
        "cursor": place,
        "complete": complete,
        "from_beginning": from_beginning,
        "begins_late": None if begins_late is None else format_timestamp(begins_late.micros),
        **({} if counted_from is None else {"counted_from": format_timestamp(counted_from)}),
        **({"known_to": place} if ends_early else {}),
        # Only if it is known: a load is a single read and proves nothing final.
        **({} if final is None else {"settled": final}),
        "version": __version__,
        **({} if decimals == "float" else {"decimals": decimals}),
        **({"personal": True} if personal else {}),
        **({"left_out": list(left_out)} if left_out else {}),
    }
