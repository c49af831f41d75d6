"""What functions of tables share: the check of the form, and the text of their arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import wraps
from textwrap import fill
from typing import Final, ParamSpec, TypeVar, cast

from ledgerframes.arguments import enough_memory
from ledgerframes.frames import check_shape

P = ParamSpec("P")
R = TypeVar("R")
#: The arguments that tables have in common; a docstring of its own says what is special to its table.
_ARGUMENTS: Final = {
    "events": "events of `load_events`, a `History`, a `Store`, or a path of Parquet.",
    "opening": 'what was active before the events, an `Opening` of `load_opening`, or `"nothing"` if there were none.',
    "as_": '`"pandas"`, `"arrow"` or `"polars"`.',
    "decimals": 'how pandas holds amounts: `"float"`, `"exact"` (`Decimal`), `"arrow"`, `"string"`; by default as the'
    ' events were loaded to hold them, else `"float"`.',
}
_RAISES: Final = "Raises:\n    InputError: an argument is not valid, or columns are missing.\n\n"


def table_function(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a table: its form is checked before anything is computed, and what it shares with others documented.

    It says which table was too large for the memory.
    """

    @wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        check_shape(cast("str", kwargs.get("as_", "pandas")), cast("str | None", kwargs.get("decimals")))
        with enough_memory(function.__name__):
            return function(*args, **kwargs)

    computed.__doc__ = function.__doc__ and _documented(function.__doc__, inspect.signature(function).parameters)
    return computed


def _documented(docstring: str, parameters: Iterable[str]) -> str:
    """The docstring of a table's function with the arguments that it has in common with others, and what it raises."""
    before, _, after = inspect.cleandoc(docstring).partition("Returns:\n")
    meaning, _, own = before.partition("Args:\n")
    said = {
        item.partition(":")[0]: " ".join(item.split()) for item in re.split(r"\n(?=\S)", inspect.cleandoc(own)) if item
    }
    items = [said.get(name) or f"{name}: {_ARGUMENTS[name]}" for name in parameters]
    listed = "\n".join(fill(item, 112, initial_indent=" " * 4, subsequent_indent=" " * 8) for item in items)
    raises = "" if "Raises:\n" in after else _RAISES
    return f"{meaning}Args:\n{listed}\n\nReturns:\n{after.replace('Example:', f'{raises}Example:', 1)}"
