"""Which colour a name has: the same in every picture of a session; called by pictures that colour by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Final, Literal

from ledgerframes.plots.drawing.palette import Tones

Kind = Literal["synchronizer", "party", "instrument"]


class SessionHues:
    """The place of each name among the hues, remembered from picture to picture.

    There are seven hues. Where a session draws more names of a kind than that, two of them share one; the smaller of
    two that meet in a picture takes a hue that is free there, for that picture only.
    """

    def __init__(self) -> None:
        self._places: dict[str, dict[str, int]] = {}
        self._lock = Lock()

    def of(self, kind: Kind, names: Sequence[str], tones: Tones) -> dict[Hashable, str]:
        """A hue for each of the first seven names, the rest's colour for those after them.

        Args:
            kind: what the names are; a party and a synchronizer may have the same hue.
            names: those in the picture, the largest first.
            tones: the ground's colours.
        """
        first = list(names[: len(tones.hues)])
        with self._lock:
            places = self._placed(self._places.setdefault(kind, {}), first, len(tones.hues))
        return {name: tones.hues[places[name]] if name in places else tones.rest for name in names}

    @staticmethod
    def _placed(known: dict[str, int], names: Sequence[str], count: int) -> dict[str, int]:
        here: dict[str, int] = {}
        for name in names:
            if name in known and known[name] not in here.values():
                here[name] = known[name]
        often = Counter(known.values())
        for name in names:
            if name not in here:
                free = (place for place in range(count) if place not in here.values())
                here[name] = min(free, key=lambda place: (often[place], place))
                known.setdefault(name, here[name])
                often[here[name]] += 1
        return here


#: A picture is a function of its own, and a notebook's cells do not share a context: only a module lasts a session.
SESSION: Final = SessionHues()
