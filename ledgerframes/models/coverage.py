"""Whether frames cover what an analysis needs: a whole history, or the same part of one; analyses call it first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ledgerframes.errors import IncompleteFiguresWarning, InputError, PartialResultError, warn
from ledgerframes.loaders.opening import Loader, begin_of, cursor_of, end_of, line_for, stop_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import LATEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.models.inputs import Inputs

_OPENING: Final = (
    'give the whole history (start="begin"; sync a lake that begins later from there first), or {} with what was active'
    ' before it, or opening="nothing" if you know that there was nothing'
)


def has_gap(attrs: Mapping[str, Any]) -> bool:
    """Whether a part of a loaded range is missing, by its provenance; with `known_to` only its end is open."""
    return not attrs.get("complete", True) and "known_to" not in attrs


def check_whole(
    attrs: Mapping[str, Any],
    *,
    name: str = "events",
    opening: Any,
    advice: str | None = None,
    opened_by: Loader = "load_opening",
) -> None:
    """Refuse a history with a gap, or one that begins after ledger begin without a statement of the earlier contracts.

    Args:
        attrs: the provenance of events or reassignments.
        name: their name in error messages.
        opening: what the caller states about the earlier contracts.
        advice: what to do without it, if no opening helps.
        opened_by: the loader of an opening to suggest.

    Raises:
        InputError: `opening` is another text than "nothing".
        PartialResultError: it is incomplete, begins later, or does not state its start.
    """
    if isinstance(opening, str) and opening != "nothing":
        raise InputError(f'opening={opening!r}: give a frame of contracts, or "nothing"')
    if has_gap(attrs):
        other = "" if advice is None else f", or {advice}"
        why = "its load ended early, or its lake has a hole"
        raise PartialResultError(f"{name} has a gap: {why}; load or sync that part{other}")
    if opening is not None:
        return
    advice = _OPENING.format(line_for(attrs, opened_by)) if advice is None else advice
    if "selected_of" in attrs:
        raise PartialResultError(
            f"{name} no longer has the {attrs['selected_of']:,} rows that were loaded, so it does not show where it"
            f" begins or that nothing is missing; {advice}"
        )
    if "from_beginning" not in attrs:
        # Frames lose their attrs in many pandas operations, and files may have none: an absent proof is not a proof.
        raise PartialResultError(f"{name} does not say where it begins (it has no attrs of a load); {advice}")
    # None: nothing shows whether the ledger began earlier, as on one without a DSO.
    if attrs["from_beginning"] is False:
        raise PartialResultError(f"{name} does not begin at ledger begin (it is {attrs.get('range')!r}); {advice}")


def check_same_end(
    one: Mapping[str, Any], two: Mapping[str, Any], name: str = "reassignments", *, starts: bool = False
) -> None:
    """Refuse events and another table of a history whose provenance says that they end at different places.

    Args:
        one: the provenance of the events; what it lacks is not compared.
        two: that of another table.
        name: that table.
        starts: whether they have to begin at the same place, too.

    Raises:
        InputError: they do, or they come from different states of a store.
    """
    # Frames that both begin at ledger begin may word their start differently.
    whole = all(attrs.get("from_beginning", False) is not False for attrs in (one, two))
    low = [starts and not whole and (attrs.get("start") or attrs.get("begins_late")) for attrs in (one, two)]
    high = [attrs.get("end") for attrs in (one, two)]
    if high == [None, None] and one.get("cursor") is two.get("cursor") is None:  # of lakes: where what was stored ended
        high = [str(attrs.get("range")).rpartition(" to ")[2] for attrs in (one, two)]
    for key, differ in (
        ("range", low[0] != low[1] or high[0] != high[1]),
        ("as_of", one.get("as_of") != two.get("as_of")),
    ):
        if key in one and key in two and differ:
            raise InputError(
                f"events and {name} differ in {key}: {one[key]!r} and {two[key]!r}; load both for the same"
                " range, for example with one lf.load_history, or give the store itself"
            )


def check_same_range(one: Mapping[str, Any], other: Mapping[str, Any], at: Cursor | int | None) -> None:
    """Refuse events and reassignments whose provenance names different parts of the history.

    Args:
        one: the provenance of the events; what it lacks is not compared.
        other: that of the reassignments.
        at: the requested time; both may reach up to it.

    Raises:
        InputError: their ranges differ, one reaches further, or they come from different states of a store.
    """
    check_same_end(one, other, starts=True)
    ends = [None if attrs.get("cursor") is None else cursor_of(attrs["cursor"]) for attrs in (one, other)]
    # Of a lake and a network, whose ranges word their ends differently.
    stops = [str(attrs.get("range")).rpartition(" to ")[2].partition(" ")[0] for attrs in (one, other)]
    if at is None and ends.count(None) == 1 and "range" in one and "range" in other and stops[0] != stops[1]:
        raise InputError(
            f"events reach to {stops[0]}, reassignments to {stops[1]}: load both from one source, for the same range"
        )
    if ends[0] == ends[1] or None in ends:
        return
    first, last = sorted(end for end in ends if end is not None)
    if isinstance(at, Cursor) and at <= first:
        return
    if isinstance(at, int) and at <= min(first.micros, last.micros) and first.migration_id == last.migration_id:
        return
    raise InputError(
        f"events reach to {one['cursor']}, reassignments to {other['cursor']}; load both at once with lf.load_history,"
        f" or give at=({first.migration_id}, '{format_timestamp(first.micros)}'), which both cover"
    )


def check_reached(inputs: Inputs, at: Cursor | int) -> None:
    """Refuse a time before the events and their opening, or after a range that was asked for or what a store covers.

    A range up to the newest update ends wherever that was, and a snapshot may be taken later. The end of a range
    excludes its last microsecond; who asks for that very time is taken to mean the range.

    Raises:
        PartialResultError: the time lies before or after it.
    """
    begin: Cursor | int | None = None if inputs.opening is None else inputs.opening.cursor
    if begin is None and (stated := begin_of(inputs.attrs)) is not None:
        begin = stated[1] if stated[0] is None else Cursor(stated[0], stated[1])
    if begin is not None and _lies_before(at, begin):
        raise PartialResultError(
            f"the state before {_in_words(begin)} is not known, and at={_in_words(at)} is earlier; begin the load or"
            " the sync before that, or give a later at="
        )
    end = _stop(inputs)
    if end is not None and _lies_before(end, at):
        raise PartialResultError(
            f"events reach up to {_in_words(end)}, and at={_in_words(at)} is later; load or sync what is between, or"
            " give an earlier at="
        )
    newest = end_of(inputs.attrs)
    if end is None and newest is not None and _lies_before(newest, at):
        warn(
            f"events reach up to {newest}, the newest update when they were loaded, and at={_in_words(at)} is later:"
            " what happened between is not in the figures",
            IncompleteFiguresWarning,
        )


def _stop(inputs: Inputs) -> Cursor | int | None:
    """Where a range that was asked for or a limit ends, exclusive, or what a store covers; None if neither says."""
    if inputs.store is None:
        return stop_of(inputs.attrs) if {"end", "limit"} & {*inputs.attrs} else None
    covered = inputs.store.coverage()
    # A migration that is covered to its end has no last time.
    times = covered["up_to"].astype("int64").where(~covered["to_end"], LATEST - 1)
    places = zip(covered["migration_id"], times, strict=True)
    return max((Cursor(int(migration_id), int(micros) + 1) for migration_id, micros in places), default=None)


def _lies_before(one: Cursor | int, other: Cursor | int) -> bool:
    """Whether a place is before another; a time stands for every migration."""
    if isinstance(one, Cursor) and isinstance(other, Cursor):
        return one < other
    first, second = (place.micros if isinstance(place, Cursor) else place for place in (one, other))
    return first < second


def _in_words(place: Cursor | int) -> str:
    return str(place) if isinstance(place, Cursor) else format_timestamp(place)


def nothing_before(inputs: Inputs, arguments: Mapping[str, Any]) -> bool:
    """Whether nothing existed before the events, by their provenance or the caller's statement."""
    return inputs.attrs.get("from_beginning") is True or isinstance(arguments.get("opening"), str)


def from_begin(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, bool]:
    """Whether sums from ledger begin are known; then nothing of the history may be missing."""
    begun = nothing_before(inputs, arguments)
    if begun:
        check_whole(inputs.attrs, opening=arguments["opening"])
    return {"begun": begun}


def begun(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, bool]:
    """Whether the earlier state is known; then nothing of the history may be missing."""
    begun = arguments["opening"] is not None or inputs.attrs.get("from_beginning", False) is not False
    if begun:
        check_whole(inputs.attrs, opening=arguments["opening"])
    return {"begun": begun}
