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
    """A source or a target; from `top` down to `bottom`, in 1 to 0."""

    name: str
    size: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its centre."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Ribbon:
    """What goes one way with one status: the upper end on each side, and the width they share."""

    source: str
    target: str
    status: str
    size: float
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
        counted: source, target, status, size; one row per combination.
        order: names from top to bottom.
        statuses: the order of ribbons of one route.
        air: share of the height that the gaps of the fuller side take.
    """
    total = float(counted["size"].sum())
    out = counted.groupby("source")["size"].sum()
    into = counted.groupby("target")["size"].sum()
    most = max(len(out), len(into))
    gap = min(0.035, air / max(most - 1, 1))
    unit = (1 - gap * (most - 1) if most > 1 else _ALONE) / total
    sources, targets = _side(out, order, unit, gap), _side(into, order, unit, gap)
    return Alluvial(sources, targets, _ribbons(counted, sources, targets, statuses, unit))


def _side(sizes: pd.Series, order: Sequence[str], unit: float, gap: float) -> tuple[Node, ...]:
    names = [name for name in order if name in sizes.index]
    height = unit * float(sizes.sum()) + gap * (len(names) - 1)
    at = 0.5 + height / 2
    nodes = []
    for name in names:
        size = float(sizes[name])
        nodes.append(Node(name, size, at, at - unit * size))
        at -= unit * size + gap
    return tuple(nodes)


def _ribbons(
    counted: pd.DataFrame, sources: Sequence[Node], targets: Sequence[Node], statuses: Sequence[str], unit: float
) -> tuple[Ribbon, ...]:
    columns = (counted[name] for name in ("source", "target", "status", "size"))
    by_key = {(source, target, status): float(size) for source, target, status, size in zip(*columns, strict=True)}
    left = {node.name: node.top for node in sources}
    right = {node.name: node.top for node in targets}
    ribbons = []
    for source, target, status in product(list(left), list(right), statuses):
        size = by_key.get((source, target, status), 0.0)
        if size:
            ribbons.append(Ribbon(source, target, status, size, left[source], right[target], unit * size))
            left[source] -= unit * size
            right[target] -= unit * size
    return tuple(ribbons)
