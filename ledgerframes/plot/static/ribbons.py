"""The positions of nodes and ribbons of flows; pure geometry, called by `flows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledgerframes.plot.contents import Flows, Ribbon

_ALONE: Final = 0.4  # height of the only ribbon's nodes
_AIR: Final = 0.22  # of the height, for all gaps of the fuller side


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
class Band:
    """A ribbon: its upper end on each side, and the width they share."""

    ribbon: Ribbon
    left: float
    right: float
    width: float


Nodes = tuple[Node, ...]


def lay_out(content: Flows) -> tuple[Nodes, Nodes, list[Band]]:
    """Stack the nodes of both sides in one order and lead a ribbon from each source to each target.

    All lies in a square of side 1.
    """
    out, into = content.sizes(0), content.sizes(1)
    most = max(len(out), len(into))
    gap = min(0.035, _AIR / max(most - 1, 1))
    unit = (1 - gap * (most - 1) if most > 1 else _ALONE) / sum(out.values())
    sources, targets = _side(out, unit, gap), _side(into, unit, gap)
    return sources, targets, _bands(content, sources, targets, unit)


def _side(sizes: Mapping[str, float], unit: float, gap: float) -> Nodes:
    at = 0.5 + (unit * sum(sizes.values()) + gap * (len(sizes) - 1)) / 2
    nodes = []
    for name, size in sizes.items():
        nodes.append(Node(name, size, at, at - unit * size))
        at -= unit * size + gap
    return tuple(nodes)


def _bands(content: Flows, sources: Nodes, targets: Nodes, unit: float) -> list[Band]:
    left = {node.name: node.top for node in sources}
    right = {node.name: node.top for node in targets}
    order = {name: place for place, name in enumerate(content.names)}
    status = {name: place for place, name in enumerate(content.statuses)}
    bands = []
    for ribbon in sorted(
        content.ribbons, key=lambda one: (order[one.source], order[one.target], status.get(one.status, 0))
    ):
        bands.append(Band(ribbon, left[ribbon.source], right[ribbon.target], unit * ribbon.size))
        left[ribbon.source] -= unit * ribbon.size
        right[ribbon.target] -= unit * ribbon.size
    return bands
