"""Asks a server how far it has got before it is read, so that its pages can be final; `fetching` asks here.

Where to look is a guess, by the clock or by growing steps. What is shown there is the proof, wherever it lies.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ledgerframes.errors import DecodeError, PagingError, RequestError
from ledgerframes.interfaces.history import PageSource
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import Proofs
from ledgerframes.timestamps import LATEST

_log = logging.getLogger("ledgerframes.store")
#: More migrations than any network has had; a server that shows more invents them.
MIGRATIONS: Final = 60


_STEPS: Final = 12  # of factor 16, from a minute to all the years there are
_FACTOR: Final = 16
_SECOND: Final = 1_000_000


@dataclass
class Prober:
    """Probes servers; any thread may use it.

    Attributes:
        source: the servers.
        proofs: where what they show is noted.
        now: the clock's time in microseconds: where to look first.
        newest: the newest migration known.
    """

    source: PageSource
    proofs: Proofs
    now: int
    newest: int
    _ends: dict[str, int] = field(default_factory=dict)

    def needed(self, server: str, micros: int) -> bool:
        """Whether a page of a server after an instant would be final nowhere, and a probe may change that."""
        if self.proofs.replicas or self.proofs.now().of(server) > micros:
            return False
        end = self._ends.get(server)
        return end is None or micros > end + self.proofs.settle

    def probes(self, server: str, place: Cursor) -> Iterator[None]:
        """Look as far ahead of a place as the server has items; yields after every request."""
        aim = self.now - self.proofs.settle - 2 * _SECOND
        beyond = place.micros + self.proofs.settle + 1
        if beyond < aim <= LATEST:
            found = self._look(server, Cursor(max(self.newest, place.migration_id), aim))
            yield
            if found is not None:
                return
        step = self.proofs.settle + 1
        for _ in range(_STEPS):
            if place.micros + step > LATEST:
                break
            found = self._look(server, Cursor(place.migration_id, place.micros + step))
            yield
            if found is None:
                break
            step *= _FACTOR
        if not self.proofs.now().of(server) > place.micros:
            self._ends[server] = place.micros

    def _look(self, server: str, after: Cursor) -> Cursor | None:
        try:
            return first_after(self.source, after, self.proofs, server=server)
        except (RequestError, DecodeError) as error:  # a damaged answer to a probe proves as little as a lost one
            if len(self.source.servers) == 1:
                raise
            _log.warning("%s could not be probed: %s", server, error)
            return None


def first_after(
    source: PageSource, after: Cursor | None, proofs: Proofs, *, server: str | None = None
) -> Cursor | None:
    """The place of the first item after another place, as a server shows it.

    Args:
        source: the servers.
        after: where to look; None is ledger begin.
        proofs: takes note of what is shown.
        server: which one; whichever the transport prefers by default.

    Raises:
        PagingError: the server ignores the place.
    """
    named = server if len(source.servers) > 1 else None
    answer = source.send_page(source.page_request(after, 1), server=named, revise=None)
    places = answer.value.glimpse.cursors
    if not places:
        if proofs.contradicts(answer.server, after):
            proofs.lose(answer.server)
        return None
    if after is not None and places[0] <= after:
        raise PagingError(
            f"POST /v2/updates: asked for what follows {after}, {answer.server} sent an update at {places[0]}; it"
            " ignores the cursor"
        )
    proofs.saw(answer.server, places)
    return places[0]


def migrations_after(source: PageSource, place: Cursor | None) -> Iterator[Cursor]:
    """The first place of every migration after a place, by one request each and one more."""
    for _ in range(MIGRATIONS):
        request = source.page_request(place, 1)
        cursors = source.send_page(request, server=None, revise=None).value.glimpse.cursors
        if not cursors:
            return
        if place is not None and cursors[0] <= place:
            raise PagingError(
                f"POST /v2/updates: asked for what follows {place}, the server sent an update at {cursors[0]}; it"
                " ignores the cursor"
            )
        yield cursors[0]
        place = Cursor(cursors[0].migration_id, LATEST)
    raise PagingError(
        f"POST /v2/updates: the server shows more than {MIGRATIONS} migrations, the last of them {place}; it makes them"
        " up as it is asked"
    )
