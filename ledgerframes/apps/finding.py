"""`find`: search for a word in public names, charts, their docstrings, tables and columns."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import pandas as pd

from ledgerframes.arguments import text
from ledgerframes.showing import Reference
from ledgerframes.store.store import Store
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import DERIVED


class Entry(NamedTuple):
    """One thing that can be found."""

    name: str
    kind: str
    meaning: str
    more: str = ""


def find(word: str) -> pd.DataFrame:
    """List the functions, charts, tables and columns whose name or description has a word.

    Args:
        word: what to look for, in any case; a plural finds the singular. Of several words all have to be there, or as
            many as possible where nothing has all.

    Returns:
        One row per function, chart, table or column: name (a chart's after `plot.`, a column's after its table's and a
        dot), kind ("function", "chart", "table" or "column") and meaning, the first sentence. What is called so comes
        first, then what has the word in its name; columns come a step later. Empty if there is none.

    Raises:
        InputError: `word` is not text.

    Example:
        >>> import ledgerframes as lf
        >>> found = lf.find("who paid whom")
        >>> found.name[0], found.kind[0]
        ('transfers', 'function')
    """
    words = [_stem(one) for one in text(word, "word", 'what to look for, such as "holdings"').lower().split()]
    entries = list(_entries())
    ranked: list[tuple[int, Entry]] = []
    for least in range(len(words), 0, -1):
        ranked = ranked or [(rank, entry) for entry in entries if (rank := _rank(entry, words, least)) is not None]
    # Stable: functions before charts before tables before columns, in their own order.
    found = [entry for _, entry in sorted(ranked, key=lambda one: one[0])]
    return Reference([entry[:3] for entry in found], columns=["name", "kind", "meaning"], dtype="str")


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _rank(entry: Entry, words: list[str], least: int) -> int | None:
    """How close an entry is: by its name, or by so many words in its name, its meaning, or its further texts."""
    own = entry.name.rpartition(".")[2]
    first = 1 + (entry.kind == "column")  # of a column most want the table
    if [_stem(word) for word in own.split("_")] == words:
        return first - 1
    searched = ""
    for rank, part in enumerate((f"{own} {own.replace('_', ' ')}", f"{entry.meaning} {entry.kind}", entry.more), first):
        searched += f" {part.lower()}"
        if sum(word in searched for word in words) >= least:
            return rank
    return None


def _entries() -> Iterator[Entry]:
    public = import_module("ledgerframes")
    functions = {name: getattr(public, name) for name in public.__all__}
    methods = {f"Store.{name}": method for name, method in vars(Store).items() if not name.startswith("_")}
    charts = {f"plot.{name}": getattr(public.plot, name) for name in public.plot.__all__}
    for name, function in {**functions, **methods, **charts}.items():
        if inspect.isfunction(function):
            doc = inspect.getdoc(function) or ""
            kind = "chart" if "backend" in inspect.signature(function).parameters else "function"
            meaning, more = doc.partition("\n\n")[0], doc.partition("\nRaises:")[0]
            yield Entry(name, kind, meaning.replace("\n", " "), more)
    tables = (*CATALOGUE.values(), *DERIVED.values())
    for table in tables:
        yield Entry(table.name, "table", table.meaning)
    for table in tables:
        for column in table.columns:
            yield Entry(f"{table.name}.{column.name}", "column", column.meaning)
