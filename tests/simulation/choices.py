"""Every free choice of a simulated history: drawn from a seed or read from a script, and recorded in both cases.

Each component (the moves of the servers, the kills, the scheduler, …) draws from a stream of its own, so that a choice
taken out of one stream leaves the others as they were. Choice 0 is always the plain one: nothing moves, nothing is
killed, the first worker goes on. So a stream that has come to its end reads as zeros, and a script gets simpler by
shortening its streams and by setting choices to 0.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence


class Choices:
    """Choices by stream.

    Args:
        seed: what unscripted streams are drawn from; None reads the script alone.
        script: the choices of some streams.
    """

    def __init__(self, seed: int | None = None, script: Mapping[str, Sequence[int]] | None = None) -> None:
        self._seed = seed
        self._script = dict(script or {})
        self._random: dict[str, random.Random] = {}
        self.taken: dict[str, list[int]] = {}

    def weighted(self, stream: str, *weights: int) -> int:
        """One of several possibilities by their weights; the first is the plain one."""
        if self._seed is None:
            return self._next(stream, len(weights))
        left = self._of(stream).random() * sum(weights)
        choice = 0
        for number, weight in enumerate(weights):
            left -= weight
            if left < 0:
                choice = number
                break
        return self._keep(stream, choice)

    def pick(self, stream: str, count: int) -> int:
        """A number below `count`, each as likely."""
        if self._seed is None:
            return self._next(stream, count)
        return self._keep(stream, int(self._of(stream).random() * count))

    def chance(self, stream: str, percent: int) -> bool:
        """Whether something that is not plain happens."""
        return self.weighted(stream, 100 - percent, percent) == 1

    def plain(self) -> dict[str, list[int]]:
        """What was taken, without the zeros at the ends."""
        found = {}
        for stream, taken in sorted(self.taken.items()):
            end = len(taken)
            while end and not taken[end - 1]:
                end -= 1
            if end:
                found[stream] = taken[:end]
        return found

    def _of(self, stream: str) -> random.Random:
        if stream not in self._random:
            self._random[stream] = random.Random(f"{self._seed}/{stream}")
        return self._random[stream]

    def _next(self, stream: str, count: int) -> int:
        place = len(self.taken.get(stream, ()))
        given = self._script.get(stream, ())
        return self._keep(stream, given[place] % max(count, 1) if place < len(given) else 0)

    def _keep(self, stream: str, choice: int) -> int:
        self.taken.setdefault(stream, []).append(choice)
        return choice
