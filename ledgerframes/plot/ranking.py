"""Which categories a chart shows by name, how they are labelled and coloured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ledgerframes.number_format import amount_text, count_text
from ledgerframes.plot.contents import Floats, Micros, Series
from ledgerframes.plot.palette import hues_of
from ledgerframes.short_ids import NORMAL, short_names


@dataclass(frozen=True)
class Ranking:
    """Which categories are shown by themselves.

    Attributes:
        names: those shown, the largest first; `rest` is the last of them, if there is one.
        rest: the name of the others together, or None.
        words: the name for names that are not ids.
        colors: the colours of such names.
    """

    names: tuple[str, ...]
    rest: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    colors: Mapping[str, int] = field(default_factory=dict)

    def labels(self, *, level: int = NORMAL) -> dict[str, str]:
        """The short label of each name."""
        ids = [name for name in self.names if name != self.rest and name not in self.words]
        fixed = {name: self.words[name] for name in self.names if name in self.words}
        own = short_names(ids, level=level) | fixed
        return own if self.rest is None else {**own, self.rest: self.rest.strip()}

    def lengths(self) -> tuple[dict[str, str], ...]:
        """The labels for each length that a label may have, from the usual one to the shortest."""
        return tuple(self.labels(level=level) for level in range(NORMAL, -1, -1))

    def hues(self) -> dict[str, int | None]:
        """The place of each name among the colours; the rest is grey."""
        named = [name for name in self.names if name != self.rest]
        if not self.colors:
            return {**hues_of(named), **({self.rest: None} if self.rest else {})}
        others = iter(range(len(self.colors), len(self.colors) + len(named)))
        found = {name: self.colors[name] if name in self.colors else next(others) for name in named}
        return {**found, **({self.rest: None} if self.rest else {})}

    def folded(self, column: pd.Series) -> pd.Series:
        """The column with the others under one name."""
        return column.where(column.isin(self.names), self.rest) if self.rest else column

    def codes(self, column: pd.Series) -> Micros:
        """The place of each value among the names, the others with the rest."""
        return np.asarray(pd.Categorical(self.folded(column), self.names).codes, dtype=np.int64)

    def series(self, table: Floats, *, counts: bool = False) -> tuple[Series, ...]:
        """The series of a table with one row per name, each with its sum in the legend."""
        labels, hues = self.labels(), self.hues()
        sums = [count_text(int(row.sum())) if counts else amount_text(float(row.sum())) for row in table]
        return tuple(
            Series(name, labels[name], row, hues[name], total=total)
            for name, row, total in zip(self.names, table, sums, strict=True)
        )


def ranked(sizes: pd.Series, top: int, *, others: str = "others") -> Ranking:
    """Rank categories by size, and combine those after the first `top`, unless there is only one.

    Args:
        sizes: by category.
        top: the number to show separately.
        others: the name of the rest, after their number.
    """
    order = [str(name) for name in sizes.sort_index().sort_values(ascending=False, kind="stable").index]
    if len(order) <= top + 1:
        return Ranking(tuple(order))
    rest = f"{len(order) - top} {others}"
    while rest in order:
        rest += " "
    return Ranking((*order[:top], rest), rest)


def fixed(found: pd.Series, words: Mapping[str, str], colors: Sequence[str] | None = None) -> Ranking:
    """Categories that the ledger names, in one order and in the same colours whichever of them there are."""
    there = set(found)
    order = (*(name for name in words if name in there), *sorted(there - set(words)))
    return Ranking(order, words=words, colors={name: n for n, name in enumerate(colors or words)})
