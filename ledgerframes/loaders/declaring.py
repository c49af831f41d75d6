"""Declares loaders: their shared keywords and errors are defined once, for signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ledgerframes.arguments import raising, suggesting
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.loaders.history_reading import read_history
from ledgerframes.loaders.history_request import KEYWORDS, HistoryRequest
from ledgerframes.loaders.table_loader import TableLoad
from ledgerframes.tables.table import Table
from ledgerframes.transport.request import Endpoint

if TYPE_CHECKING:
    from ledgerframes.network import Network

R = TypeVar("R")
#: The keywords of every loader of a table, and of those that return one item, or several tables.
FORM: Final = ("columns", "as_", "decimals", "lists", "limit", "allow_partial")
SHAPE: Final = ("as_", "decimals", "lists")
_NET: Final = "    net: the network; its scan is asked."
_ARGUMENT: Final = re.compile(r"(?m)^ {4}(?=\w+: )")
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
        docstring says that the scan is asked, and for which of `needs`, unless the loader's own says something else.
    """
    options = {column.option for column in table.columns} - {""}
    refused = "InputError: an argument is not valid" + (", or the scan does not serve the route." if needs else ".")

    def declare(load: Callable[..., R]) -> Callable[..., R]:
        def load_of(net: Network, **form: Any) -> TableLoad:
            return replace(TableLoad.of(net, table, **form), needs=tuple(needs), instead=instead)

        common = (*sorted(options), *keywords)
        asked = f"Endpoint{'s'[: len(needs) - 1]}: {', '.join(map(str, needs))}."
        note = asked if needs and "Endpoint" not in (load.__doc__ or "Endpoint") else ""
        return _public(load, load_of, TableLoad.of, common, errors=(refused, *_ERRORS), note=note)

    return declare


#: Loads the tables of a history, by name, with further fields of the request.
Read = Callable[..., dict[str, Any]]


def history_loader(
    history: PagedHistory, tables: tuple[str, ...], *more: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Declare a loader of a part of a history.

    Args:
        history: the history.
        tables: the tables to load; of several, `columns` is a mapping by table name.
        more: keywords of `HistoryRequest` that it takes in addition to the usual ones.

    Returns:
        A decorator that makes the public function, as that of `loader` does; the function it is put on takes a `Read`
        first.
    """
    keywords = (*KEYWORDS, *more)
    kinds = {} if len(tables) == 1 else {"columns": "ByTable"}
    note = _UNBOUNDED.format(items="updates" if history is UPDATE_HISTORY else "items")

    def declare(load: Callable[..., R]) -> Callable[..., R]:
        def read_of(net: Network, **requested: Any) -> Read:
            return partial(read_history, net, history, tables, **requested)

        return _public(load, read_of, HistoryRequest, keywords, errors=_ERRORS_OF_HISTORIES, note=note, kinds=kinds)

    return declare


def _public(
    load: Callable[..., R],
    first: Callable[..., Any],
    described: Callable[..., Any],
    keywords: Sequence[str],
    *,
    errors: Sequence[str],
    note: str = "",
    kinds: Mapping[str, str] | None = None,
) -> Callable[..., R]:
    """The public function of a loader: it takes the network, the loader's own arguments after the first one, keywords.

    Args:
        load: the loader; its docstring describes `net`, if something else than the scan is asked.
        first: makes the loader's first argument of the network and the keywords.
        described: the function that takes the keywords and describes them.
        keywords: their names.
        errors: for the docstring, those that `load` shares with others.
        note: a paragraph before the arguments.
        kinds: annotations of keywords that differ from those of `described`.
    """

    @wraps(load)
    def run(net: Network, *arguments: Any, **named: Any) -> R:
        common = {name: named[name] for name in named if name in keywords}
        own = {name: value for name, value in named.items() if name not in keywords}
        return load(first(net, **common), *arguments, **own)

    wrapper: Any = run
    parameters = list(inspect.signature(load).parameters.values())[1:]
    known = inspect.signature(described).parameters
    net = inspect.Parameter("net", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Network")
    common = [known[name].replace(annotation=(kinds or {}).get(name, known[name].annotation)) for name in keywords]
    wrapper.__signature__ = inspect.signature(load).replace(parameters=[net, *parameters, *common])
    if own_text := inspect.getdoc(load):  # missing under python -OO
        texts = _texts_of(described)
        front, end, tail = own_text.partition("\n\nReturns:\n")
        words, _, head = front.partition("\n\nArgs:\n")
        described_net = () if head.lstrip().startswith("net: ") else (_NET,)
        arguments = [*described_net, *filter(None, [head]), *(f"    {texts[name]}" for name in keywords)]
        before = f"{words}\n\n{note}" if note else words
        wrapper.__doc__ = raising("\n".join([f"{before}\n\nArgs:", *arguments]) + end + tail, *errors)
    return suggesting(wrapper)


def _texts_of(function: Callable[..., Any]) -> dict[str, str]:
    """The texts of the arguments in a docstring."""
    section = (inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0]
    return {text.partition(":")[0]: text.rstrip() for text in _ARGUMENT.split(section)[1:]}
