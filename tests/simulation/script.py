"""A history as plain data: drawn from a seed, kept as a script, and what became of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from string import ascii_letters, digits
from typing import Final

from tests.simulation.faults import FAULTS, OBJECT_FAULTS, Fault
from tests.simulation.invariants import Problem
from tests.simulation.stored_as import OF_VERDICTS, UPDATES, StoredAs
from tests.simulation.world import SPAN, Item, U, at, branched, draw_items, ledger

#: How a script in words writes a choice.
DIGITS: Final = digits + ascii_letters


@dataclass(frozen=True)
class Script:
    """A history as plain data.

    Attributes:
        items: the ledger.
        servers: how many there are.
        faults: what can go wrong.
        choices: by stream; one that is missing or has come to its end reads as zeros.
        branch: what forked servers go on with, and another network's items.
        cut: up to where forked servers keep what they have, in microseconds after the world's beginning.
        seed: where the choices are drawn from, if there is no script of them.
        verdicts: whether the event history is synced in place of that of updates.
        objects: whether servers have objects.
    """

    items: tuple[Item, ...]
    servers: int = 1
    faults: tuple[str, ...] = ()
    choices: Mapping[str, list[int]] = field(default_factory=dict)
    branch: tuple[Item, ...] = ()
    cut: int = 0
    seed: int | None = None
    verdicts: bool = False
    objects: bool = False

    @property
    def stored_as(self) -> StoredAs:
        """The tables that it fills."""
        return OF_VERDICTS if self.verdicts else UPDATES


def told(
    items: str,
    faults: str = "",
    choices: str = "",
    *,
    servers: int = 1,
    branch: str = "",
    cut: str = "0U",
    verdicts: bool = False,
    objects: bool = False,
) -> Script:
    """A script in words, as `literal` writes it: `told("a 0/3U A, b 0/5U A", "late kill", "moves 11, kill-after 01")`.

    Args:
        items: the ledger, as `world.ledger` reads it.
        faults: their names.
        choices: by stream, each choice one of `DIGITS`.
        servers: as of a `Script`, like the others.
        branch: as the ledger.
        cut: a time of the ledger.
    """
    streams = dict(one.split(" ") for one in choices.split(", ") if one)
    taken = {name: [DIGITS.index(digit) for digit in given] for name, given in streams.items()}
    return Script(
        ledger(items), servers, tuple(faults.split()), taken, ledger(branch), at(cut), None, verdicts, objects
    )


@dataclass
class Outcome:
    """What became of a history.

    Attributes:
        problems: the invariants that did not hold, of those that must.
        script: the same history with its choices written down.
        log: what happened, in words.
        syncs: how the syncs ended, counted.
        requests: how many were sent.
        excused: the invariants that did not hold, of those that a fault of the history takes away.
    """

    problems: list[Problem]
    script: Script
    log: list[str]
    syncs: Counter[str]
    requests: int
    excused: list[Problem] = field(default_factory=list)


def draw(seed: int, among: Collection[str] | None = None, *, verdicts: bool = False, objects: bool = False) -> Script:
    """The history of a seed.

    Args:
        seed: a whole number.
        verdicts: sync the event history; version 0.1 made no lake of it.
        objects: servers have objects as well.
        among: only these faults, each of which four of five histories have.
    """
    rng = random.Random(f"{seed}/faults")
    weights = {name: _weight(name, fault, among) for name, fault in FAULTS.items()}
    faults = tuple(name for name, weight in weights.items() if rng.random() * 100 < weight)
    faults = tuple(name for name in faults if not verdicts or name != "genesis")
    rng = random.Random(f"{seed}/world")
    # An object gives a page where updates of several times lie more than settle before the end of its segment.
    size: dict[str, int] = {"few": 10, "most": 24, "span": 3 * SPAN // 2, "fine": 6} if objects else {}
    items = draw_items(rng, faults, **size)
    servers = rng.choice([1, 1, 2, 2, 3]) if {"lagging", "fork", "replicas", "other-network"} & set(faults) else 1
    cut, branch = 0, ()
    if {"fork", "fork-all"} & set(faults):
        cut = rng.randint(1, size.get("span", SPAN)) * U
        branch = branched(rng, items, cut)
    elif "other-network" in faults:
        branch = draw_items(rng, faults, prefix="n", **size)
    if objects:
        rng = random.Random(f"{seed}/objects")
        weights = {name: _weight(name, fault, among) for name, fault in OBJECT_FAULTS.items()}
        faults += tuple(name for name, weight in weights.items() if rng.random() * 100 < weight)
    return Script(items, servers, faults, branch=branch, cut=cut, seed=seed, verdicts=verdicts, objects=objects)


def _weight(name: str, fault: Fault, among: Collection[str] | None) -> int:
    return fault.weight if among is None else 80 * (name in among)
