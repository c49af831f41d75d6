"""Where the nodes and ribbons of an alluvial picture lie; pure geometry, called by `flows`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import pandas as pd

_ALONE: Final = 0.4  # height of the only ribbon's nodes


@dataclass(frozen=True)
class Node:
    """A synchronizer on one side; from `top` down to `bottom`, in 1 to 0."""

    name: str
    count: int
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its centre."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Ribbon:
    """Reassignments of one route and status: the upper end on each side, and the width they share."""

    source: str
    target: str
    status: str
    count: int
    left: float
    right: float
    width: float


@dataclass(frozen=True)
class Alluvial:
    """The whole picture in a square of side 1."""

    sources: tuple[Node, ...]
    targets: tuple[Node, ...]
    ribbons: tuple[Ribbon, ...]


def lay_out(counted: pd.DataFrame, order: Sequence[str], statuses: Sequence[str], *, air: float = 0.22) -> Alluvial:
    """Stack the nodes of both sides in one order and lead a ribbon from each source to each target.

    Args:
        counted: source, target, status, count; one row a combination.
        order: synchronizers from top to bottom.
        statuses: the order of ribbons of one route.
        air: share of the height that the gaps of the fuller side take.
    """
    total = int(counted["count"].sum())
    out = counted.groupby("source")["count"].sum()
    into = counted.groupby("target")["count"].sum()
    most = max(len(out), len(into))
    gap = min(0.035, air / max(most - 1, 1))
    unit = (1 - gap * (most - 1) if most > 1 else _ALONE) / total
    sources, targets = _side(out, order, unit, gap), _side(into, order, unit, gap)
    return Alluvial(sources, targets, _ribbons(counted, sources, targets, statuses, unit))


def _side(counts: pd.Series, order: Sequence[str], unit: float, gap: float) -> tuple[Node, ...]:
    names = [name for name in order if name in counts.index]
    height = unit * int(counts.sum()) + gap * (len(names) - 1)
    at = 0.5 + height / 2
    nodes = []
    for name in names:
        count = int(counts[name])
        nodes.append(Node(name, count, at, at - unit * count))
        at -= unit * count + gap
    return tuple(nodes)


def _ribbons(
    counted: pd.DataFrame, sources: Sequence[Node], targets: Sequence[Node], statuses: Sequence[str], unit: float
) -> tuple[Ribbon, ...]:
    by_key = {(row.source, row.target, row.status): int(row.count) for row in _named(counted)}
    left = {node.name: node.top for node in sources}
    right = {node.name: node.top for node in targets}
    ribbons = []
    for source, target, status in product(list(left), list(right), statuses):
        count = by_key.get((source, target, status), 0)
        if count:
            ribbons.append(Ribbon(source, target, status, count, left[source], right[target], unit * count))
            left[source] -= unit * count
            right[target] -= unit * count
    return tuple(ribbons)


@dataclass(frozen=True)
class _Row:
    source: str
    target: str
    status: str
    count: int


def _named(counted: pd.DataFrame) -> list[_Row]:
    return [_Row(*values) for values in zip(*(counted[name] for name in _Row.__annotations__), strict=True)]
