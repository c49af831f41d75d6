"""`Work`: what is computed of one chunk of the history, in this process by `work_here`; `deriving` commits it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial

from ledgerframes.store.coverage import Interval
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive.change import Change
from ledgerframes.store.derive.chunks import HistoryReader
from ledgerframes.store.derive.contracts import Contracts, named_in, opening_of
from ledgerframes.store.derive.rules import Computed, computed


@dataclass(frozen=True)
class Work:
    """What is computed of a chunk.

    Attributes:
        interval: its record times.
        rows_of: the rows that it has for a table, whatever was before.
        contracts: gives what it changes in the table of open contracts.
    """

    interval: Interval
    rows_of: Callable[[str], Computed]
    contracts: Callable[[], Change]


def work_here(history: HistoryReader, parts: Iterable[Interval], carried: DeltaStoreTable) -> Generator[Work]:
    """Compute chunks in this process, each when it is asked for.

    Args:
        history: reads the history.
        parts: the chunks, in order.
        carried: the table of open contracts; it has all chunks before the one that is asked for.
    """
    # `map` keeps nothing of a chunk while the next one is read; a loop variable would, and two would be in memory.
    yield from map(partial(_work_of, history, carried), parts)


def _work_of(history: HistoryReader, carried: DeltaStoreTable, interval: Interval) -> Work:
    rows = history.rows(interval)
    opening = opening_of(named_in(rows), carried)
    # One table after another, when it is asked for: what is computed of the others is not in memory beside it.
    return Work(interval, partial(computed, history=rows, opening=opening), lambda: Contracts.of(rows).change(opening))
