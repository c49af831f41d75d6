"""Which categories a chart shows by name, how they are labelled and coloured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ledgerframes.number_format import amount_text, count_text
from ledgerframes.plot.contents import Floats, Micros, Ribbon, Series
from ledgerframes.plot.palette import hues_of
from ledgerframes.short_ids import NORMAL, short_names


@dataclass(frozen=True)
class Ranking:
    """Which categories are shown by themselves.

    Attributes:
        names: those shown, the largest first; `rest` is the last of them, if there is one.
        rest: the name of the others together, or None.
        words: the text for each name that is not an id, in the order of their colours.
    """

    names: tuple[str, ...]
    rest: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)

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
        # Each of those with words has a colour of its own, whichever of them there are.
        order = list(dict.fromkeys([*self.words, *named]))
        found = {name: order.index(name) for name in named} if self.words else hues_of(named)
        return {**found, **({self.rest: None} if self.rest else {})}

    def ribbons(self, rows: pd.DataFrame) -> tuple[Ribbon, ...]:
        """The flows of rows with source, target, status and size, those of the others together."""
        ends = {name: self.folded(rows[name]) for name in ("source", "target")}
        sums = rows.assign(**ends).groupby(["source", "target", "status"], as_index=False, sort=False)["size"].sum()
        return tuple(Ribbon(str(a), str(b), str(status), float(size)) for a, b, status, size in sums.to_numpy())

    def sums(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The columns of rows by name, added up for the others, in the order of the names."""
        return rows.groupby(self.folded(rows.index.to_series()).to_numpy()).sum().reindex(list(self.names))

    def folded(self, column: pd.Series) -> pd.Series:
        """The column with the others under one name."""
        return column.where(column.isin(self.names), self.rest) if self.rest else column

    def codes(self, column: pd.Series) -> Micros:
        """The place of each value among the names, the others with the rest."""
        return np.asarray(pd.Categorical(self.folded(column), self.names).codes, dtype=np.int64)

    def series(self, table: Floats, *, counts: bool = False, totals: Sequence[str] = ()) -> tuple[Series, ...]:
        """The series of a table with one row per name, each with its sum, or a text given, in the legend."""
        labels, hues = self.labels(), self.hues()
        sums = totals or [count_text(int(row.sum())) if counts else amount_text(float(row.sum())) for row in table]
        return tuple(
            Series(name, labels[name], row, hues[name], total=total)
            for name, row, total in zip(self.names, table, sums, strict=True)
        )


def ranked(sizes: pd.Series, top: int) -> Ranking:
    """Rank categories by size, and combine those after the first `top`, unless there is only one."""
    order = [str(name) for name in sizes.sort_index().sort_values(ascending=False, kind="stable").index]
    if len(order) <= top + 1:
        return Ranking(tuple(order))
    rest = f"{len(order) - top} others"
    while rest in order:
        rest += " "
    return Ranking((*order[:top], rest), rest)


def in_and_out(rows: pd.DataFrame) -> pd.Series:
    """The size of all flows from each name and to it, of rows with source, target and size."""
    return rows.groupby("source")["size"].sum().add(rows.groupby("target")["size"].sum(), fill_value=0.0)


def fixed(found: pd.Series, words: Mapping[str, str]) -> Ranking:
    """Categories that the ledger names, in one order and in the same colours whichever of them there are."""
    there = set(found)
    return Ranking((*(name for name in words if name in there), *sorted(there - set(words))), words=words)
