"""Whether two frames cover the same part of a history; analyses that join events and reassignments call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.analysis.frames import attrs_of
from ledgerframes.errors import InputError
from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import format_instant, parse_instant


def check_same_range(events: Any, reassignments: Any, at: Cursor | int | None) -> None:
    """Refuse events and reassignments that say that they cover different parts of the history.

    Args:
        events: a frame with or without attrs; what it does not say is not compared.
        reassignments: likewise.
        at: the moment that is asked for; up to there both may reach.

    Raises:
        InputError: their ranges differ, one reaches further, or they are of different states of a store.
    """
    one, other = attrs_of(events), attrs_of(reassignments)
    if not one or not other:
        return
    _check_words(one, other)
    ends = [_cursor(attrs) for attrs in (one, other)]
    if ends[0] == ends[1] or None in ends:
        return
    low, high = sorted(end for end in ends if end is not None)
    if isinstance(at, Cursor) and at <= low:
        return
    if isinstance(at, int) and at <= min(low.micros, high.micros) and low.migration_id == high.migration_id:
        return
    raise InputError(
        f"events reach to {one['cursor']}, reassignments to {other['cursor']}; load both at once with lf.load_history,"
        f" or give at=({low.migration_id}, '{format_instant(low.micros)}'), which both cover"
    )


def _check_words(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    whole = bool(one.get("from_beginning") and other.get("from_beginning"))
    for name in ("range", "as_of"):
        said = [attrs.get(name) for attrs in (one, other)]
        compared = [str(text).rpartition(" to ")[2] if name == "range" and whole else text for text in said]
        if compared[0] != compared[1] and (name in one and name in other):
            raise InputError(
                f"events and reassignments differ in {name}: {said[0]!r} and {said[1]!r}; load both for the same"
                " range, for example with one lf.load_history"
            )


def _cursor(attrs: Mapping[str, Any]) -> Cursor | None:
    place = attrs.get("cursor")
    return None if place is None else Cursor(int(place[0]), parse_instant(str(place[1]))[0])
