"""Reads the events that a table is computed from, in any form: only the rows and columns concerned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.contracts import ACTIVE
from ledgerframes.arguments import shown
from ledgerframes.errors import InputError
from ledgerframes.frames import attrs_of, to_arrow
from ledgerframes.loaders.history import History
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS

_KIND: Final = ("event_type", "template_name", "choice")
#: What an opening has to have; `load_active_contracts` and `active_contracts` give more.
_OPENING: Final = ("contract_id", "template_name", "created_at", "payload")
Mask = np.ndarray[Any, np.dtype[np.bool_]]
_GIVER: Final = "give the events of lf.load_events, lf.load_history or a store, or the History or the Store itself"


@dataclass(frozen=True)
class _Coded:
    """A column of texts as numbers of its distinct values; the last number is null."""

    numbers: np.ndarray[Any, np.dtype[np.int64]]
    values: pa.Array

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> _Coded:
        coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
        numbers = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy(zero_copy_only=False)
        return cls(numbers.astype(np.int64), coded.dictionary)

    def among(self, wanted: list[str]) -> Mask:
        known = pc.is_in(self.values, pa.array(wanted, pa.string())).to_numpy(zero_copy_only=False)
        mask: Mask = np.append(known, False)[self.numbers]
        return mask


@dataclass
class Source:
    """The events of a caller, in whatever form they came.

    Attributes:
        frame: a frame of pandas, Arrow or polars; None where a store is read.
        store: the store, read column by column.
        legs: the reassignments, where the caller gave them too.
        attrs: the provenance of the events.
        proof: a frame with that provenance.
        light: the columns that rows are chosen by, once they were needed.
        coded: those of them that are coded.
    """

    frame: Any
    store: Any = None
    legs: Any = None
    attrs: dict[str, Any] = field(default_factory=dict)
    proof: Any = None
    light: pa.Table | None = None
    coded: dict[str, _Coded] = field(default_factory=dict)

    def creates(self, templates: Iterable[str], columns: Sequence[str]) -> pa.Table:
        """The creates of some templates."""
        return self._rows(columns, templates=list(templates), created=True)

    def exercises(
        self, columns: Sequence[str], *, choices: Iterable[str] | None = None, templates: Iterable[str] | None = None
    ) -> pa.Table:
        """The exercises of some choices, or on some templates; all of them where neither is given."""
        return self._rows(
            columns,
            choices=None if choices is None else list(choices),
            templates=None if templates is None else list(templates),
            created=False,
        )

    def all_rows(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all events."""
        if self.store is not None:
            return self.store.load("events", columns=list(columns), as_="arrow").cast(_schema(columns))
        return to_arrow(self.frame, EVENTS, columns, name="events")

    def _rows(
        self,
        columns: Sequence[str],
        *,
        created: bool,
        templates: list[str] | None = None,
        choices: list[str] | None = None,
    ) -> pa.Table:
        if self.store is not None:
            where = _wanted(templates, choices, created=created)
            rows = self.store.load("events", columns=list(columns), where=where, as_="arrow")
            return rows.cast(_schema(columns))
        masks = [self._kind("template_name").among(templates)] if templates is not None else []
        masks += [self._kind("choice").among(choices)] if choices is not None else []
        if created or choices is None:
            masks.append(self._created() if created else self._exercised())
        return to_arrow(_filtered(self.frame, columns, np.logical_and.reduce(masks)), EVENTS, columns, name="events")

    def _kind(self, name: str) -> _Coded:
        """A column that rows are chosen by, coded once for all choices."""
        if name not in self.coded:
            self.coded[name] = _Coded.of(self._light()[name])
        return self.coded[name]

    def _created(self) -> Mask:
        created = pc.fill_null(pc.equal(self._light()["event_type"], "created_event"), False)  # noqa: FBT003
        mask: Mask = created.to_numpy()
        return mask

    def _exercised(self) -> Mask:
        mask: Mask = pc.is_valid(self._light()["choice"]).to_numpy()
        return mask

    def _light(self) -> pa.Table:
        if self.light is None:
            self.light = to_arrow(self.frame, EVENTS, _KIND, name="events")
        return self.light


def _schema(columns: Sequence[str]) -> pa.Schema:
    return pa.schema([pa.field(name, EVENTS.schema.field(name).type) for name in columns])


def _wanted(templates: list[str] | None, choices: list[str] | None, *, created: bool) -> pc.Expression:
    """Which rows of a store are wanted."""
    asked = pc.field("event_type") == "created_event" if created else pc.field("choice").is_valid()
    for name, values in (("template_name", templates), ("choice", choices)):
        if values is not None:
            asked = asked & pc.field(name).isin(pa.array(values, pa.string()))
    return asked


def _filtered(frame: Any, columns: Sequence[str], mask: Mask) -> Any:
    """The rows of a frame where the mask is true, in its own form; what is left out is never converted."""
    names = list(columns)
    if isinstance(frame, pa.Table):
        return frame.select([name for name in names if name in frame.column_names]).filter(pa.array(mask))
    if isinstance(frame, pd.DataFrame):
        return frame.loc[mask, [name for name in names if name in frame.columns]]
    return frame.select([name for name in names if name in frame.columns]).filter(mask)


def source_of_events(events: Any) -> Source:
    """Read a caller's `events`.

    Args:
        events: a frame of events, a `History`, or a `Store`.

    Raises:
        InputError: it is none of them.
    """
    if isinstance(events, History):
        return Source(events.events, legs=events.reassignments, attrs=attrs_of(events.events), proof=events.events)
    if hasattr(events, "load") and hasattr(events, "coverage"):
        return _stored(events)
    if not hasattr(events, "column_names") and not hasattr(events, "columns"):
        raise InputError(f"events={shown(events)} is not valid: {_GIVER}")
    return Source(events, attrs=attrs_of(events), proof=events)


def _stored(store: Any) -> Source:
    few = store.load("events", columns=["update_id"], as_="arrow")
    legs = store.load("reassignments", as_="arrow")
    return Source(None, store=store, legs=legs, attrs=attrs_of(few), proof=few)


def opening_rows(opening: Any, templates: Iterable[str]) -> pa.Table:
    """The contracts of some templates that were active before the events, in the columns that tables need.

    Args:
        opening: a frame as `active_contracts` or `load_active_contracts` returns it, `"nothing"`, or None.
        templates: the templates.

    Raises:
        InputError: it is another text, not a frame, or lacks columns.
    """
    if isinstance(opening, str) and opening != "nothing":
        raise InputError(f'opening={opening!r}: give a frame of contracts, or "nothing"')
    if opening is None or isinstance(opening, str):
        return pa.schema([ACTIVE.schema.field(name) for name in _OPENING]).empty_table()
    rows = to_arrow(opening, ACTIVE, _OPENING, name="opening")
    return rows.filter(pc.is_in(rows["template_name"], pa.array(list(templates), pa.string())))


def assigned_rows(source: Source, templates: Iterable[str]) -> pa.Table:
    """The contracts of some templates that an assignment shows, in the form of `opening_rows` with its place."""
    columns = (*_OPENING, "migration_id", "record_time")
    if source.legs is None:
        return pa.schema([REASSIGNMENTS.schema.field(name) for name in columns]).empty_table()
    rows = to_arrow(source.legs, REASSIGNMENTS, (*columns, "kind"), name="reassignments")
    known = pa.array(list(templates), pa.string())
    shown_by = pc.and_(pc.equal(rows["kind"], "assignment"), pc.is_in(rows["template_name"], known))
    return rows.filter(pc.fill_null(shown_by, False)).select(list(columns))  # noqa: FBT003
