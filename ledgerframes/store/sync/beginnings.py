"""`Beginnings`: where the history of each server begins and what network it is of; a sync asks as often as it claims.

A scan may prune: what it shows first then is not where the ledger begins, and moves on while it is read. It takes away
and never brings back, so what a server still shows had not been pruned when it gave an earlier page. That is the
reverse of `paging.proofs`: here the proof has to come *after* the page, or lie in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from ledgerframes.decoding.paged_histories import PagedHistory
from ledgerframes.errors import DecodeError
from ledgerframes.interfaces.page_reading import HistoryPage
from ledgerframes.loaders.beginning import Beginning, proven_by
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import Proofs
from ledgerframes.store.sync.page_requests import ask
from ledgerframes.store.sync.servers import AgreedServers
from ledgerframes.timestamps import EARLIEST

#: How many updates are asked for to recognise a network: late ones may have come before the one that names it.
FIRST: Final = 50
#: How the name of the DSO's party begins, on every network.
DSO: Final = "DSO::"


@dataclass
class Beginnings:
    """What servers show first, as last asked.

    Attributes:
        servers: the servers.
        proofs: takes note of what they show.
        known: by server, where its history began when it was asked last.
    """

    servers: AgreedServers
    proofs: Proofs
    known: dict[str, Beginning] = field(default_factory=dict)
    _proven: dict[str, bool | None] = field(default_factory=dict)  # by the id of a first update

    def ask(self, server: str, *, insist: bool = False) -> HistoryPage:
        """The first items of a server.

        Raises:
            RequestError: it gave no answer.
        """
        page = ask(self.servers, self.proofs, None, FIRST, server, insist=insist)[1].value
        self.note(server, page)
        return page

    def note(self, server: str, page: HistoryPage) -> None:
        """Take note of the first items of a server."""
        cursors, ids = page.glimpse.cursors, page.glimpse.update_ids
        if not cursors:
            self.known.pop(server, None)
            return
        if ids[0] not in self._proven:
            self._proven[ids[0]] = proven_by(page, self.servers.history)
        first, proven, held = cursors[0], self._proven[ids[0]], self.servers.begins_after
        if held is not None and held > EARLIEST and not proven:
            # Objects hold everything from where their names say that they begin.
            first = Cursor(first.migration_id, held + 1)
        self.known[server] = begin = Beginning(first, proven)
        self.servers.begins[server] = begin.at


def known_by(history: PagedHistory, page: HistoryPage) -> frozenset[str]:
    """What a page tells of its network: its synchronizers, and the DSO's party; their names end in a fingerprint."""
    found: set[str] = set()
    for item in range(len(page)):
        try:
            rows = history.decode_page(page.content, rows=[item]).batches
        except DecodeError:  # the others tell as much
            continue
        found.update(rows[history.index]["synchronizer_id"].to_pylist())
        if "events" in rows:
            found |= _dso(rows["events"]["signatories"]) | _dso(rows["events"]["observers"])
    return frozenset(found)


def _dso(parties: pa.Array) -> set[str]:
    named: Sequence[str] = parties.flatten().unique().to_pylist()
    return {party for party in named if party.startswith(DSO)}
