"""What a caller asks of the history, checked when made; the loaders of `loaders.history` write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypedDict, cast

from ledgerframes.arguments import did_you_mean, flag, refuse, shown, whole_number
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, check_shape
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.paging.window import Bound, Duration, Window, wanted_window
from ledgerframes.tables.catalogue import table_named

NAMES: Final = ("updates", "events", "reassignments")


class HistoryOptions(TypedDict, total=False):
    """The keywords that the loaders of the history share, for their overloads; a test holds both together."""

    start: Bound | None
    end: Bound | None
    last: Duration | None
    limit: int | None
    page_size: int
    decimals: Decimals
    allow_partial: bool
    progress: bool | None


class TableOptions(HistoryOptions, total=False):
    """Likewise for a loader of one table."""

    columns: Iterable[str] | None


@dataclass(frozen=True, kw_only=True)
class HistoryRequest:
    """One read of the history; each field is the keyword of the same name, see `load_history`.

    Attributes:
        tables: the tables to load.
        columns: the columns to keep, by table name; all where a table is not named.
        window: the part of the history that `start`, `end` and `last` name.

    Raises:
        InputError: an argument breaks a rule.
    """

    tables: tuple[str, ...] = NAMES
    columns: Mapping[str, Iterable[str] | None] | None
    start: Bound | None
    end: Bound | None
    last: Duration | None
    limit: int | None
    page_size: int
    as_: As
    decimals: Decimals
    allow_partial: bool
    progress: bool | None
    window: Window = field(init=False)

    def __post_init__(self) -> None:
        check_shape(self.as_, self.decimals)
        checked = {
            "window": wanted_window(self.start, self.end, self.last),
            "limit": None if self.limit is None else whole_number(self.limit, "limit", least=1),
            "page_size": whole_number(self.page_size, "page_size", least=1, most=MAXIMUM),
            "columns": self._columns(),
            "allow_partial": flag(self.allow_partial, "allow_partial"),
            "progress": None if self.progress is None else flag(self.progress, "progress"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def bounded(self) -> bool:
        """Whether the caller said how much to load."""
        return self.limit is not None or not self.window.whole

    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]:
        """The columns to keep of every table to load."""
        return cast("Mapping[str, tuple[str, ...]]", self.columns)

    def _columns(self) -> dict[str, tuple[str, ...]]:
        columns: object = {} if self.columns is None else self.columns
        if not isinstance(columns, Mapping):
            refuse("columns", columns, 'give names by table, for example {"events": ["choice", "payload"]}')
        for name in columns:
            if name not in self.tables:
                hint = did_you_mean(name, self.tables) or f"; there are {', '.join(self.tables)}"
                raise InputError(f"columns: {shown(name)} is not a table of the history{hint}")
        return {name: table_named(name).pick(columns.get(name)) for name in self.tables}
