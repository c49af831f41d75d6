"""A checked request for a part of the history; `load_history` and its like make it, `history_reading` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
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


@dataclass(frozen=True)
class HistoryRequest:
    """One load of a history; its values are those of the loader's keywords, checked before anything is sent.

    Args:
        net: the network.
        history: the history to read.
        tables: the tables to load.
        start: inclusive, in UTC; a time for every migration from there, a pair (migration id, time), or `"begin"`
            for ledger begin. Without it, from the first item there: `attrs["begins_late"]` says where, if that is
            later.
        end: exclusive; a time or a pair. If no server has an item at or after it yet, `attrs["complete"]` is
            False, and `attrs["known_to"]` is the last place read.
        last: `"1h"`, `"7 days"` or a timedelta, back from the newest update there; instead of `start`.
        limit: load at most this many updates, or verdicts. If it ends the result, `attrs["limit"]` says so.
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
        counted_from: the instant that `last` counts back from, in microseconds, once it is known.

    Attributes:
        window: the requested part of the history.
        columns_of: the columns to keep of each table to load.

    Raises:
        InputError: an argument breaks a rule.
    """

    net: Network
    history: PagedHistory = UPDATE_HISTORY
    tables: tuple[str, ...] = NAMES
    _: KW_ONLY
    start: Bound | None = None
    end: Bound | None = None
    last: Duration | None = None
    limit: int | None = None
    columns: Iterable[str] | None = None
    page_size: int = MAXIMUM
    as_: As = "pandas"
    decimals: Decimals | None = None
    lists: Lists = "tuple"
    allow_partial: bool = False
    progress: bool | None = None
    source: Source = "pages"
    only: EventChoice | None = None
    counted_from: int | None = None
    window: Window = field(init=False)
    columns_of: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        decimals, tables = self.net.settings.decimals if self.decimals is None else self.decimals, self.tables
        check_shape(self.as_, decimals, self.lists)
        checked = {
            "decimals": decimals,
            "window": wanted_window(self.start, self.end, self.last, now=self.counted_from or 0),
            "columns_of": _columns_of(tables, {tables[0]: self.columns} if len(tables) == 1 else self.columns),
            "limit": None if self.limit is None else whole_number(self.limit, "limit", least=1),
            "page_size": whole_number(self.page_size, "page_size", least=1, most=MAXIMUM),
            "allow_partial": flag(self.allow_partial, "allow_partial"),
            "progress": None if self.progress is None else flag(self.progress, "progress"),
            "source": choice(self.source, "source", SOURCES),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


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
