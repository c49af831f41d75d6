"""`Opening`: the contracts active where a range begins, and proof of which they are; computed tables take it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of
from ledgerframes.paging.cursor import Cursor
from ledgerframes.timestamps import format_timestamp, parse_timestamp

_KEYS: Final = ("cursor", "templates", "parties", "rows", "digest")
#: The loader of the opening that a table needs: of some templates at any place, or of every template at a snapshot.
Loader = Literal["load_opening", "load_active_contracts"]


@dataclass(frozen=True, repr=False)
class Opening:
    """The contracts that were active at a place of the history, and which part of them these are.

    Attributes:
        contracts: an Arrow table of one row per contract, with the columns of `active_contracts`.
        cursor: the last place that they reach to; None if it is the one before the first event, whichever that is.
        templates: if they are all contracts of some templates, these as `Module:Entity`; None for every template.
        parties: if they are all contracts of some parties, these; None for every party.
        snapshot: whether updates recorded at the cursor itself may be included, as releases of scan differ.
    """

    contracts: pa.Table
    cursor: Cursor | None = None
    templates: tuple[str, ...] | None = None
    parties: tuple[str, ...] | None = None
    snapshot: bool = False

    @property
    def rows(self) -> int:
        """The number of contracts."""
        return int(self.contracts.num_rows)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the contract ids in the order of their text, one a line."""
        return digest_of(self.contracts["contract_id"])

    def __repr__(self) -> str:
        kinds = "every template" if self.templates is None else f"{len(self.templates)} templates"
        place = "the first event" if self.cursor is None else _as_text(_after(self))
        return f"<Opening: {self.rows:,} contracts of {kinds}, before {place}>"


def digest_of(ids: pa.ChunkedArray) -> str:
    """The SHA-256 of contract ids in the order of their text, one a line."""
    found = hashlib.sha256()
    for chunk in ids.take(pc.sort_indices(ids)).chunks:
        found.update("".join(f"{name}\n" for name in chunk.to_pylist()).encode())
    return found.hexdigest()


def proof(
    contracts: pa.Table, *, templates: Iterable[str] | None, parties: Iterable[str] | None, snapshot: bool = False
) -> dict[str, Any]:
    """The provenance of contracts, besides their cursor, by which they can be an opening.

    Args:
        contracts: with the column contract_id; without it they cannot be one.
        templates: the requested templates, as `Module:Entity` or with their package's name.
        parties: the requested parties.
        snapshot: see `Opening`.
    """
    known = "contract_id" in contracts.column_names
    return {
        "templates": None if templates is None else sorted({_bare(name) for name in templates}),
        "parties": None if parties is None else sorted(parties),
        "rows": contracts.num_rows,
        "digest": digest_of(contracts["contract_id"]) if known else None,
        **({"snapshot": True} if snapshot else {}),
    }


def opening_of(stated: Any, events: Mapping[str, Any], by: Loader = "load_opening") -> Opening | None:
    """Read the caller's opening, if it is proven to belong to the events.

    Args:
        stated: an `Opening`, a frame with equivalent attrs, `"nothing"`, or None.
        events: the provenance of the events.
        by: the loader to suggest in the error.

    Raises:
        InputError: it is none of these, contradicts its description, or does not end where the events begin.
    """
    if stated is None or (isinstance(stated, str) and stated == "nothing"):
        return None
    opening = stated if isinstance(stated, Opening) else _of_frame(stated, line_for(events, by))
    _check_place(opening, events, by)
    return opening


def _of_frame(frame: Any, line: str) -> Opening:
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None or "contract_id" not in list(names):
        problem = f"={frame!r}: give" if isinstance(frame, str) else f"={shown(frame)} is not valid: give"
        raise InputError(f'opening{problem} {line}, or "nothing"')
    attrs = attrs_of(frame)
    if not all(key in attrs for key in _KEYS) or attrs["cursor"] is None:
        raise InputError(
            "opening= is a frame without a record of its contracts, as those of polars, of a merge or of"
            f" another table are; give {line}"
        )
    if attrs.get("two_places"):
        raise InputError(f"opening= is of {attrs['at']}, when two migrations run, so it ends at no place; give {line}")
    contracts = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    if not attrs.get("complete", True) or "limit" in attrs:
        raise InputError(f"opening= has only a part of the contracts; give {line}")
    if contracts.num_rows != attrs["rows"] or digest_of(contracts["contract_id"].cast(pa.string())) != attrs["digest"]:
        raise InputError(
            f"opening= has {contracts.num_rows:,} contracts, and they are not the {attrs['rows']:,} that were loaded;"
            f" give {line}"
        )
    listed = {name: None if attrs[name] is None else tuple(attrs[name]) for name in ("templates", "parties")}
    return Opening(contracts, cursor_of(attrs["cursor"]), **listed, snapshot=bool(attrs.get("snapshot")))


def _check_place(opening: Opening, events: Mapping[str, Any], by: Loader) -> None:
    """Refuse an opening that does not end where the events begin, according to their provenance."""
    if opening.cursor is None or not events:
        return
    begin = begin_of(events)
    if begin is None and events.get("from_beginning") is True:
        raise InputError(
            f"opening= is of {_as_text(_after(opening))}, and the events begin at ledger begin, before which there was"
            f" nothing: leave opening= out, or load the events with start={_start(_after(opening))}"
        )
    if begin is None:
        return
    migration_id, micros = begin
    # A snapshot's own instant has to be in the events, since it may not be in the snapshot.
    ends = opening.cursor.micros if opening.snapshot else opening.cursor.micros + 1
    if micros == ends and migration_id in {None, opening.cursor.migration_id}:
        return
    raise InputError(
        f"opening= is of {_as_text(_after(opening))}, and the events begin at {_as_text(begin)}: give"
        f" {line_for(events, by, else_from=_start(_after(opening)))}"
    )


def check_rows(opening: Opening, first: Cursor | None, by: Loader) -> None:
    """Refuse an opening that reaches into the events, if their provenance states no place where they begin.

    Args:
        opening: of the caller.
        first: the place of the first event; None if there is none.
        by: the loader to suggest in the error.

    Raises:
        InputError: it does.
    """
    end = opening.cursor
    if first is None or end is None or first > end or (opening.snapshot and first == end):
        return
    begin = {"start": [first.migration_id, format_timestamp(first.micros)]}
    raise InputError(
        f"opening= is of {_as_text(_after(opening))}, and the first event is of {_as_text(first)}: give"
        f" {line_for(begin, by, else_from=_start(_after(opening)))}"
    )


def check_contents(opening: Opening, needed: Iterable[str], table: str, line: str) -> None:
    """Refuse an opening that lacks contracts that a table needs.

    Args:
        opening: of the caller.
        needed: templates as `Module:Entity`.
        table: its name.
        line: what to type for another one.

    Raises:
        InputError: it does.
    """
    lacking = [] if opening.templates is None else sorted({*needed} - {*opening.templates})
    if lacking:
        raise InputError(f"opening= has no contracts of {', '.join(lacking)}, which {table} needs; give {line}")
    if opening.parties is not None:
        raise InputError(f"opening= has the contracts of some parties alone; give {line}")


def begin_of(attrs: Mapping[str, Any]) -> tuple[int | None, int] | None:
    """Where a loaded range begins, by its provenance: a migration, or None for every one, and microseconds.

    None if it is not stated, or is ledger begin.
    """
    start = attrs.get("start") or attrs.get("begins_late")
    if isinstance(start, str):
        return None, parse_timestamp(start)[0]
    return None if start is None else cursor_of(start)


def stop_of(attrs: Mapping[str, Any]) -> Cursor | int | None:
    """The place at which a loaded range ends, exclusive; a time where its provenance names no migration."""
    place, end = attrs.get("cursor"), attrs.get("end")
    last = None if place is None else cursor_of(place)
    if end is None or "known_to" in attrs:
        return None if last is None else Cursor(last.migration_id, last.micros + 1)
    if isinstance(end, str):
        micros = parse_timestamp(end)[0]
        return micros if last is None else Cursor(last.migration_id, micros)
    return cursor_of(end)


def end_of(attrs: Mapping[str, Any]) -> Cursor | None:
    """The last place of a loaded range, by its provenance."""
    stop = stop_of(attrs)
    return Cursor(stop.migration_id, stop.micros - 1) if isinstance(stop, Cursor) else None


def line_for(events: Mapping[str, Any], by: Loader = "load_opening", *, else_from: str | None = None) -> str:
    """The line to type for the opening of some events, and from where to load these instead.

    Args:
        events: their provenance.
        by: the loader of the opening; a snapshot exists only for some times, so there is always an alternative.
        else_from: the place that another opening belongs to.
    """
    begin = begin_of(events)
    place = "(migration, time) at which the events begin" if begin is None else _start(begin)
    line = f"opening=lf.{by}(net, at={place})"
    if by == "load_opening" and "as_of" in events:  # they come from a lake
        line += " (net may be a store that begins with the ledger)"
    if by == "load_active_contracts":
        line += ", if lf.snapshot_times(net) lists that time"
        else_from = else_from or "a time that it lists"
    return line if else_from is None else f"{line}, or load the events with start={else_from}"


def _after(opening: Opening) -> Cursor:
    """The first place that the events of an opening may begin at."""
    assert opening.cursor is not None, "openings without one belong to any events"
    later = 0 if opening.snapshot else 1
    return Cursor(opening.cursor.migration_id, opening.cursor.micros + later)


def _start(place: tuple[int | None, int]) -> str:
    migration_id, micros = place
    time = repr(format_timestamp(micros))
    return time if migration_id is None else f"({migration_id}, {time})"


def _as_text(place: tuple[int | None, int]) -> str:
    migration_id, micros = place
    return format_timestamp(micros) if migration_id is None else str(Cursor(migration_id, micros))


def cursor_of(place: Any) -> Cursor:
    """A place of the history as provenance has it."""
    migration_id, time = place
    return Cursor(int(migration_id), parse_timestamp(str(time))[0])


def _bare(template: str) -> str:
    """A template's Module:Entity, without its package's name."""
    return ":".join(template.split(":")[-2:])
