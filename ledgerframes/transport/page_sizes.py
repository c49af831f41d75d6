"""How many items may be asked of each server at once: one `PageSizes` per network, for readers of histories."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ledgerframes.config.settings import source_of

log = logging.getLogger("ledgerframes.transport")

LARGEST_PAGE: Final = 1_000


class PageLimits(NamedTuple):
    """How many items may be asked of a server at once.

    Attributes:
        maximum: the largest page that it has named, if it has.
        manageable: what it manages for now, where more was too much for it or for a gateway before it.
    """

    maximum: int | None = None
    manageable: int | None = None


#: No server is known that manages less; a probe of one item that fails says nothing of pages.
_SMALL: Final = 64


@dataclass
class _Manageable:
    """The page that a server manages; after enough good pages a larger one is tried, each time after more of them."""

    size: int
    good: int = 0
    patience: int = 8
    trying: bool = False


@dataclass
class PageSizes:
    """Shared by all threads, without a lock: a size that two threads change at once is at worst tried once more.

    Attributes:
        largest: by server, the largest page that it has named; each operator may set a maximum of his own.
    """

    largest: dict[str, int] = field(default_factory=dict)
    _manageable: dict[str, _Manageable] = field(default_factory=dict)
    # The largest page that came; a fault of the moment is not taken for a page that is too much.
    _came: dict[str, int] = field(default_factory=dict)

    def limits(self, server: str) -> PageLimits:
        """How many items may be asked of a server at once."""
        manageable = self._manageable.get(server)
        return PageLimits(self.largest.get(server), None if manageable is None else manageable.size)

    def note(self, server: str, size: int, *, came: bool) -> None:
        """A page of a size came, or failed as one that is too much does: by a time-out, 413, 503 or 504.

        A size that came before counts as too much only when it fails again before it comes once more; a small one, as
        of a probe, never does.
        """
        known = self._manageable.get(server)
        if came:
            self._came[server] = max(size, self._came.get(server, 0))
        if not came and size <= max(_SMALL, self._came.get(server, 0)):
            self._came[server] = min(size - 1, self._came.get(server, 0))
        elif not came:
            known = self._manageable.setdefault(server, known or _Manageable(size))
            known.patience *= 1 + known.trying
            known.size, known.good, known.trying = max(1, min(size, known.size) // 2), 0, False
        elif known is not None and size >= known.size:
            known.good, known.trying = known.good + 1, False
            if known.good >= known.patience:
                known.size, known.good, known.trying = known.size * 2, 0, True
            if size >= LARGEST_PAGE:
                self._manageable.pop(server, None)

    def learn(self, server: str, maximum: int) -> None:
        """A server named the largest page that it gives; logged once per network."""
        if maximum < self.largest.get(server, maximum + 1):
            self.largest[server] = maximum
            log.info("%s gives %d updates per page at most and is asked for no more", source_of(server), maximum)
