"""Declares loaders: their shared keywords and errors are defined once, for signatures and docstrings.

A loader of a history is given a `HistoryRequest`, which `history_reading` reads; one of another table a `TableLoad`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from ledgerframes.arguments import choice, did_you_mean, flag, refuse, shown, suggesting, whole_number
from ledgerframes.docstrings import described, documented
from ledgerframes.errors import InputError
from ledgerframes.frames import As, Decimals, Lists, check_shape
from ledgerframes.interfaces.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.loaders.event_choice import EventChoice
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.paging.cursor import Bound, Duration, Window, wanted_window
from ledgerframes.paging.history import MAXIMUM
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.table import Table
from ledgerframes.transport import Endpoint

if TYPE_CHECKING:
    from ledgerframes.network import Network

R = TypeVar("R")
#: The keywords of every loader of a table, and of those that return one item, or several tables.
FORM: Final = ("columns", "as_", "decimals", "lists", "limit", "allow_partial")
SHAPE: Final = ("as_", "decimals", "lists")
_NET: Final = "net: the network; its scan is asked."
_ERRORS: Final = (
    "RequestError: the server gave no answer.",
    "DecodeError: an answer breaks the contract.",
)
_ERRORS_OF_HISTORIES: Final = (
    "InputError: an argument is not valid, or no part is named and the history is longer than that.",
    *_ERRORS,
    "PagingError: the pages contradict each other.",
    "PartialResultError: `start` lies before or behind what is there, or it was pruned while it was read.",
)
#: The note for a loader of a history whose caller names no part of it.
_UNBOUNDED: Final = """Without `start`, `end`, `last` or `limit` it loads the whole history if that is not more than
100,000 {items} and 1 GB of answers; otherwise it raises an InputError that estimates the whole."""

_ORDER: Final = "Rows are in the order of migration id, record time and the server; times are UTC in microseconds."


def loader(
    table: Table, *, needs: Sequence[Endpoint] = (), instead: str = "", keywords: Sequence[str] = FORM
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Declare a loader of a table.

    Args:
        table: the table. The loader takes a keyword for each `option=` of its columns, such as `blobs`, and has these
            columns only where the caller gives True.
        needs: the routes that are requested, the newest first, if not every server has them.
        instead: the remedy if none of them is served, a sentence without its full stop.
        keywords: the keywords of `TableLoad.of` that it takes.

    Returns:
        A decorator that makes the public function. It takes the network in place of the `TableLoad`, then the loader's
        own arguments, then `keywords` and those of the columns; its signature and docstring have all of them. The
        docstring says that the scan is asked, and for which of `needs`, and what is returned, unless the loader's own
        says something else.
    """
    options = {column.option for column in table.columns} - {""}
    refused = "InputError: an argument is not valid" + (", or the scan does not serve the route." if needs else ".")

    def declare(load: Callable[..., R]) -> Callable[..., R]:
        def load_of(net: Network, **form: Any) -> TableLoad:
            return replace(TableLoad.of(net, table, **form), needs=tuple(needs), instead=instead)

        common = (*sorted(options), *keywords)
        asked = f"Endpoint{'s'[: len(needs) - 1]}: {', '.join(map(str, needs))}."
        note = asked if needs and "Endpoint" not in (load.__doc__ or "Endpoint") else ""
        result = _result(table)
        return _public(load, load_of, TableLoad.of, common, errors=(refused, *_ERRORS), note=note, result=result)

    return declare


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

    `TableLoad.of` describes those that loaders of all tables take: `as_`, `decimals`, `lists` and `allow_partial`.

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
    _: KW_ONLY
    history: PagedHistory = UPDATE_HISTORY
    tables: tuple[str, ...] = NAMES
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
        columns_of = _columns_of(tables, {tables[0]: self.columns} if len(tables) == 1 else self.columns)
        checked = {
            "decimals": decimals,
            "window": wanted_window(self.start, self.end, self.last, now=self.counted_from or 0),
            "columns_of": columns_of,
            "columns": columns_of[tables[0]] if len(tables) == 1 else columns_of,  # read once: it may be an iterator
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


def history_loader(
    history: PagedHistory, tables: tuple[str, ...], *more: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Declare a loader of a part of a history.

    Args:
        history: the history.
        tables: the tables to load; of several, `columns` is a mapping by table name.
        more: keywords of `HistoryRequest` that it takes in addition to the usual ones.

    Returns:
        A decorator that makes the public function of one that takes a `HistoryRequest` first, as that of `loader` does.
    """
    keywords = (*KEYWORDS, *more)
    kinds = {} if len(tables) == 1 else {"columns": "ByTable"}
    note = _UNBOUNDED.format(items="updates" if history is UPDATE_HISTORY else "items")
    result = f"{_result(CATALOGUE[tables[0]])} {_ORDER}" if len(tables) == 1 else ""

    def declare(load: Callable[..., R]) -> Callable[..., R]:
        request = partial(HistoryRequest, history=history, tables=tables)
        errors = _ERRORS_OF_HISTORIES
        return _public(load, request, HistoryRequest, keywords, errors=errors, note=note, result=result, kinds=kinds)

    return declare


def _result(table: Table) -> str:
    """The text of what a loader of a table returns, by the declaration of the table."""
    names = ", ".join(table.having().names)
    return f'{table.meaning} The columns are {names}; `lf.describe("{table.name}")` lists them with meaning and unit.'


def _public(
    load: Callable[..., R],
    first: Callable[..., Any],
    form: Callable[..., Any],
    keywords: Sequence[str],
    *,
    errors: Sequence[str],
    note: str = "",
    result: str = "",
    kinds: Mapping[str, str] | None = None,
) -> Callable[..., R]:
    """The public function of a loader: it takes the network, the loader's own arguments after the first one, keywords.

    Args:
        load: the loader; its docstring describes `net`, if something else than the scan is asked.
        first: makes the loader's first argument of the network and the keywords.
        form: the function that takes the keywords and describes them.
        keywords: their names.
        errors: for the docstring, those that `load` shares with others.
        note: a paragraph before the arguments.
        result: what is returned, if the loader's docstring does not say it.
        kinds: annotations of keywords that differ from those of `form`.
    """

    @wraps(load)
    def run(net: Network, *arguments: Any, **named: Any) -> R:
        common = {name: named[name] for name in named if name in keywords}
        own = {name: value for name, value in named.items() if name not in keywords}
        return load(first(net, **common), *arguments, **own)

    wrapper: Any = run
    parameters = list(inspect.signature(load).parameters.values())[1:]
    known = inspect.signature(form).parameters
    net = inspect.Parameter("net", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Network")
    common = [known[name].replace(annotation=(kinds or {}).get(name, known[name].annotation)) for name in keywords]
    wrapper.__signature__ = inspect.signature(load).replace(parameters=[net, *parameters, *common])
    if text := inspect.getdoc(load):  # missing under python -OO
        arguments = {**described(TableLoad.of, "Args"), **described(form, "Args"), "net": _NET}
        wrapper.__doc__ = documented(
            text, wrapper.__signature__.parameters, arguments, errors, note=note, result=result
        )
    return suggesting(wrapper)
