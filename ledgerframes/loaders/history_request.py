"""A checked request for a part of the history; `load_history` and its like make it, `history_reading` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import InitVar, dataclass, field
from typing import Final, Literal, TypedDict

from ledgerframes.arguments import choice, did_you_mean, flag, refuse, shown, whole_number
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, Lists, check_shape
from ledgerframes.loaders.event_choice import EventChoice
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration, Window, wanted_window
from ledgerframes.tables.catalogue import table_named

#: Where a history is read from.
Source = Literal["pages", "objects"]
SOURCES: Final = ("pages", "objects")
NAMES: Final = ("updates", "events", "reassignments")


class HistoryOptions(TypedDict, total=False):
    """The keywords that the loaders of the history share, for overloads; a test compares them with the signatures."""

    start: Bound | None
    end: Bound | None
    last: Duration | None
    limit: int | None
    page_size: int
    decimals: Decimals | None
    lists: Lists
    allow_partial: bool
    progress: bool | None


class SourcedOptions(HistoryOptions, total=False):
    """The same for a loader that reads objects, too."""

    source: Source


class TableOptions(HistoryOptions, total=False):
    """The same for a loader of one table."""

    columns: Iterable[str] | None


class EventOptions(TableOptions, total=False):
    """The same for the loader of events."""

    template: str | Iterable[str] | None
    party: str | Iterable[str] | None
    choice: str | Iterable[str] | None


@dataclass(frozen=True, kw_only=True)
class HistoryRequest:
    """One load of the history, checked when it is made; its arguments are keywords of `load_history`.

    Attributes:
        history: the history to read.
        tables: the tables to load.
        only: which events to keep; all by default.
        bounds: `start`, `end` and `last`.
        window: the part of the history that they name; `last` counts back from the instant given to `counting_from`.
        counted_from: that instant, in microseconds.
        kept: the columns to keep of each table to load.

    Raises:
        InputError: an argument breaks a rule.
    """

    history: PagedHistory = UPDATE_HISTORY
    tables: tuple[str, ...] = NAMES
    start: InitVar[Bound | None] = None
    end: InitVar[Bound | None] = None
    last: InitVar[Duration | None] = None
    columns: InitVar[Mapping[str, Iterable[str] | None] | None] = None
    limit: int | None = None
    page_size: int = MAXIMUM
    as_: As = "pandas"
    decimals: Decimals = "float"
    lists: Lists = "tuple"
    allow_partial: bool = False
    progress: bool | None = None
    source: str = "pages"
    only: EventChoice | None = None
    bounds: tuple[Bound | None, Bound | None, Duration | None] = field(init=False)
    window: Window = field(init=False)
    counted_from: int | None = field(init=False, default=None)
    kept: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(
        self,
        start: Bound | None,
        end: Bound | None,
        last: Duration | None,
        columns: Mapping[str, Iterable[str] | None] | None,
    ) -> None:
        check_shape(self.as_, self.decimals, self.lists)
        checked = {
            "bounds": (start, end, last),
            "window": wanted_window(start, end, last, now=0),
            "kept": _kept(self.tables, {} if columns is None else columns),
            "limit": None if self.limit is None else whole_number(self.limit, "limit", least=1),
            "page_size": whole_number(self.page_size, "page_size", least=1, most=MAXIMUM),
            "source": choice(self.source, "source", SOURCES),
            "allow_partial": flag(self.allow_partial, "allow_partial"),
            "progress": None if self.progress is None else flag(self.progress, "progress"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # the way to set a field of a frozen dataclass

    def counting_from(self, now: int) -> HistoryRequest:
        """The same request, its `last` counted back from an instant."""
        made = copy(self)
        object.__setattr__(made, "window", wanted_window(*self.bounds, now=now))
        object.__setattr__(made, "counted_from", now)
        return made

    @property
    def bounded(self) -> bool:
        """Whether the caller limited how much to load."""
        return self.limit is not None or not self.window.whole


def _kept(tables: tuple[str, ...], columns: object) -> dict[str, tuple[str, ...]]:
    """The columns to keep of each table: those that the caller names, else all.

    Raises:
        InputError: a table or a column does not exist.
    """
    if not isinstance(columns, Mapping):
        refuse("columns", columns, f'give names by table, for example {{"{tables[0]}": ["update_id"]}}')
    for name in columns:
        if name not in tables:
            hint = did_you_mean(name, tables) or f"; there are {', '.join(tables)}"
            raise InputError(f"columns: {shown(name)} is not a table of the history{hint}")
    return {name: table_named(name).pick(columns.get(name)) for name in tables}
