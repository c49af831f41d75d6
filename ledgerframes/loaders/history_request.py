"""A checked request for a part of the history; `load_history` and its like make it, `history_reading` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.arguments import choice, did_you_mean, entity, flag, names, refuse, shown, whole_number
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, Lists, check_shape
from ledgerframes.paging.cursor import Bound, Duration, Window, wanted_window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.tables.catalogue import CATALOGUE

if TYPE_CHECKING:
    from ledgerframes.network import Network

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


#: The sources of a history.
Source = Literal["pages", "objects"]
SOURCES: Final = ("pages", "objects")
NAMES: Final = ("updates", "events", "reassignments")
#: Columns to keep, by table name.
ByTable = Mapping[str, Iterable[str]] | None


#: The keywords of every loader of a history.
KEYWORDS: Final = (
    *("start", "end", "last", "limit", "columns", "page_size", "as_", "decimals", "lists", "allow_partial", "progress"),
)


@dataclass(frozen=True, kw_only=True)
class HistoryRequest:
    """One load of a history, checked.

    Attributes:
        history: the history to read.
        only: which events to keep; all by default.
        bounds: `start`, `end` and `last` as the caller gave them.
        window: the part of the history that they name; `last` counts back from the instant given to `counting_from`.
        counted_from: that instant, in microseconds.
        columns_of: the columns to keep of each table to load.
    """

    history: PagedHistory
    only: EventChoice | None
    bounds: tuple[Bound | None, Bound | None, Duration | None]
    window: Window
    counted_from: int | None = None
    columns_of: Mapping[str, tuple[str, ...]]
    limit: int | None
    page_size: int
    as_: As
    decimals: Decimals
    lists: Lists
    allow_partial: bool
    progress: bool | None
    source: str

    @classmethod
    def of(
        cls,
        net: Network,
        history: PagedHistory = UPDATE_HISTORY,
        tables: tuple[str, ...] = NAMES,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        last: Duration | None = None,
        limit: int | None = None,
        columns: Iterable[str] | None = None,
        page_size: int = MAXIMUM,
        as_: As = "pandas",
        decimals: Decimals | None = None,
        lists: Lists = "tuple",
        allow_partial: bool = False,
        progress: bool | None = None,
        source: Source = "pages",
        only: EventChoice | None = None,
    ) -> HistoryRequest:
        """Check the keywords that loaders of a history take, before anything is sent.

        Args:
            net: the network.
            history: the history.
            tables: the tables to load.
            start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`
                for ledger begin. Without it, from the first item there: `attrs["begins_late"]` says where, if that is
                later.
            end: exclusive; a time or a pair. If no server has an item at or after it yet, `attrs["complete"]` is
                False, and `attrs["known_to"]` is the last place read.
            last: `"1h"`, `"7 days"` or a timedelta, back from the newest update there; instead of `start`.
            limit: load at most this many updates, or verdicts.
            columns: the columns to keep, in this order; all by default. Where several tables are loaded, by table
                name.
            page_size: items per request; reduced if a server allows fewer.
            as_: `"pandas"`, `"arrow"` or `"polars"`.
            decimals: how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as
                the network's `connect(decimals=)` says, else `"float"`.
            lists: how pandas holds lists: `"tuple"`, or `"arrow"`, which is quicker and can do less.
            allow_partial: when an error ends the load early, return what was loaded, with `attrs["complete"]` False.
            progress: True shows a bar, False nothing, None a bar on a terminal or in a notebook.
            source: `"pages"`, or `"objects"` for the compressed files that newer scans write about once a day (young,
                and not on every scan). Objects have nothing of the last day or two (`attrs["range"]` says where they
                end), and members of payloads are in the order of their names; `page_size` is then how many items are
                decoded at once.
            only: which events to keep; all by default.

        Raises:
            InputError: an argument breaks a rule.
        """
        effective = net.settings.decimals if decimals is None else decimals
        check_shape(as_, effective, lists)
        return cls(
            history=history,
            only=only,
            bounds=(start, end, last),
            window=wanted_window(start, end, last, now=0),
            columns_of=_columns_of(tables, {tables[0]: columns} if len(tables) == 1 else columns),
            limit=None if limit is None else whole_number(limit, "limit", least=1),
            page_size=whole_number(page_size, "page_size", least=1, most=MAXIMUM),
            as_=as_,
            decimals=effective,
            lists=lists,
            allow_partial=flag(allow_partial, "allow_partial"),
            progress=None if progress is None else flag(progress, "progress"),
            source=choice(source, "source", SOURCES),
        )

    def counting_from(self, now: int) -> HistoryRequest:
        """The same request, its `last` counted back from an instant."""
        return replace(self, window=wanted_window(*self.bounds, now=now), counted_from=now)


def _columns_of(tables: tuple[str, ...], columns: object) -> dict[str, tuple[str, ...]]:
    """The columns to keep of each table: those that the caller names, else all.

    Raises:
        InputError: a table or a column does not exist.
    """
    if columns is None:
        columns = {}
    if not isinstance(columns, Mapping):
        refuse("columns", columns, f'give names by table, for example {{"{tables[0]}": ["update_id"]}}')
    for name in columns:
        if name not in tables:
            hint = did_you_mean(name, tables) or f"; there are {', '.join(tables)}"
            raise InputError(f"columns: {shown(name)} is not a table of the history{hint}")
    return {name: CATALOGUE[name].pick(columns.get(name)) for name in tables}
