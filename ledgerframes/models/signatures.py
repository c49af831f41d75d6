"""Shared parts of functions of tables: their computation, the check of the form, and the text of their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from textwrap import fill
from typing import Any, Final, ParamSpec, TypeVar, cast

import pyarrow as pa

from ledgerframes.arguments import duration, party_ids, suggesting
from ledgerframes.docstrings import documented
from ledgerframes.frames import check_shape
from ledgerframes.models.computing import computed
from ledgerframes.models.coverage import check_whole
from ledgerframes.models.engine import Engine
from ledgerframes.models.inputs import Inputs, inputs_of
from ledgerframes.paging.cursor import Cursor, bound
from ledgerframes.tables.derived import DERIVED
from ledgerframes.tables.kinds import AMOUNT

P = ParamSpec("P")
R = TypeVar("R")
#: The arguments that tables share; a function's own docstring describes those that differ for its table.
_ARGUMENTS: Final = {
    "events": "events of `load_events`, a `History`, a `Store`, or a path of Parquet.",
    "opening": 'what was active before the events, an `Opening` of `load_opening`, or `"nothing"` if there were none.',
    "as_": '`"pandas"`, `"arrow"` or `"polars"`.',
    "decimals": 'how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the'
    ' events were loaded to hold them, else `"float"`.',
}
#: Models that list choices that no model knows and that may move coin: those of its rules, and those of coins.
MOVERS: Final = ("unknown_rules_choices", "unknown_coin_choices")
_INVALID: Final = "InputError: an argument is not valid, or columns are missing."
_NOT_WHOLE: Final = (
    "PartialResultError: the provenance of the events does not prove that they begin at ledger begin without a gap."
)
_NO_AMOUNTS: Final = {"decimals": "how pandas holds amounts; this table has none."}


def table_function(function: Callable[P, R], *, whole: bool = False, amounts: bool = True) -> Callable[P, R]:
    """Declare a table's function: its form is checked before anything is computed, and shared arguments are documented.

    Its errors for an unknown keyword and for too little memory name the table.

    Args:
        function: computes the table.
        whole: whether it refuses a history with a gap.
        amounts: whether the table has any.
    """
    told = _ARGUMENTS | ({} if amounts else _NO_AMOUNTS)
    arguments = {name: fill(f"{name}: {words}", 112, subsequent_indent=" " * 8) for name, words in told.items()}
    errors = (_INVALID, *((_NOT_WHOLE,) if whole else ()))
    compute = suggesting(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        check_shape(cast("str", kwargs.get("as_", "pandas")), cast("str | None", kwargs.get("decimals")))
        return compute(*args, **kwargs)

    if text := inspect.getdoc(function):  # missing under python -OO
        checked.__doc__ = documented(text, inspect.signature(function).parameters, arguments, errors)
    return checked


def of_model(
    *,
    whole: bool = False,
    unknown: Sequence[str] = (),
    edges: str = "",
    kind: str | None = None,
    settings: Callable[[Inputs, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    check: Callable[[Engine, Mapping[str, Any]], object] | None = None,
    with_more: Callable[[Inputs, Mapping[str, Any]], Inputs] | None = None,
    notes: Callable[[Engine, pa.Table], Mapping[str, Any]] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a table's function, which has the name of its declaration and of its model: a signature and its meaning.

    Args:
        whole: whether it needs to know the state before the history.
        unknown: see `computed`, as for the others.
        edges: likewise.
        kind: likewise.
        settings: further variables of the model besides `at`, `every` and `parties`, from a history and the arguments.
        check: refuses what would be too much, by the arguments.
        with_more: adds further data of the caller to the history.
        notes: see `computed`.
    """

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        table, signature = DERIVED[function.__name__], inspect.signature(function)

        @wraps(function)
        def of_history(*args: P.args, **kwargs: P.kwargs) -> R:
            bound_arguments = signature.bind(*args, **kwargs)
            bound_arguments.apply_defaults()
            arguments = bound_arguments.arguments
            opening, until = arguments.get("opening"), bound(arguments.get("at"), "at")
            inputs = inputs_of(arguments["events"], opening=opening)
            inputs = inputs if with_more is None else with_more(inputs, arguments)
            own = {} if settings is None else settings(inputs, arguments)
            if whole:
                check_whole(inputs.attrs, opening=inputs.opening_argument)
            found: R = computed(
                table,
                inputs,
                as_=arguments["as_"],
                decimals=arguments["decimals"],
                until=until,
                variables=_settings(arguments, until) | dict(own),
                unknown=unknown,
                check=None if check is None else lambda engine: check(engine, arguments),
                edges=edges,
                kind=kind,
                notes=notes,
            )
            return found

        amounts = any(column.kind is AMOUNT for column in table.columns)
        return table_function(of_history, whole=whole, amounts=amounts)

    return declared


def _settings(arguments: Mapping[str, Any], until: Cursor | int | None) -> dict[str, Any]:
    """The variables of models for the arguments that tables share."""
    settings: dict[str, Any] = {}
    if "every" in arguments:
        settings["every_us"] = duration(arguments["every"], "every")
    if arguments.get("parties") is not None:
        settings["parties"] = list(party_ids(arguments["parties"], "parties"))
    if until is not None:
        settings["at_micros"] = until.micros if isinstance(until, Cursor) else until
    return settings
