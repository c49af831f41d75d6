"""`Work`: what is computed of one chunk of the history, in this process by `work_here`; `deriving` commits it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial

from ledgerframes.loaders.opening import Opening
from ledgerframes.models.computing import together
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
    for interval in parts:
        yield from _work_of(history, carried, interval)


def _work_of(history: HistoryReader, carried: DeltaStoreTable, interval: Interval) -> Generator[Work]:
    """One chunk; what it holds is let go before the next one is read."""
    rows = history.rows(interval)
    opening = opening_of(named_in(rows), carried)
    with together(rows, opening=Opening(opening)) as inputs:
        yield Work(interval, partial(computed, inputs=inputs), lambda: Contracts.of(rows).change(opening))
