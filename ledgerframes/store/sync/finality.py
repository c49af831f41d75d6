"""`Finality`: up to where each shard of a running sync is final; `HistorySync` and the committer ask it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ledgerframes.paging.cursor import Cursor
from ledgerframes.store.new_rows import Advance, Decoded
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.fetched import Fetched
from ledgerframes.store.sync.held_rows import HeldRows


@dataclass
class Finality:
    """Decides what of the fetched rows is final; record times by the key of their shard.

    Attributes:
        agreement: asks servers again which network they are of.
        held: what was stored before where this sync reads.
        first: the cursor of the network's first update, where this sync makes the store.
    """

    agreement: Agreement
    held: HeldRows
    first: Cursor | None = None
    _stale: set[int] = field(default_factory=set)  # shards of which nothing more can become final
    _final: dict[int, int] = field(default_factory=dict)  # of what was handed to the committer
    _sure: dict[int, int] = field(default_factory=dict)  # of what came from servers that were confirmed
    _senders: dict[str, int] = field(default_factory=dict)  # who sent what is not committed, with their breaks by then

    def advance(self, fetched: Fetched) -> Advance | None:
        """How far a shard is read; None if that changes nothing in the store.

        Raises:
            StoreError: a server lacks a stored update where what it has shown is final.
        """
        for server in filter(None, (fetched.server, *fetched.senders)):
            # The first count is kept: a break at any time since makes all pages since doubtful.
            self._senders.setdefault(server, fetched.breaks)
        before = self._final.get(fetched.key, fetched.read.lo)
        changes = fetched.has_rows or fetched.span.lo < fetched.span.hi or fetched.settled > before or fetched.exhausted
        if not changes:
            return None
        # A server that has shown less since makes nothing final, nor does what follows in the shard: it would join on.
        if self.agreement.proofs.breaks(fetched.server) > fetched.breaks:
            self._stale.add(fetched.key)
        settled = before if fetched.key in self._stale else max(before, fetched.settled)
        migration_id = fetched.read.migration_id
        # A look at the beginning of the sync may have come before what proves this.
        if missing := self.held.lacking(migration_id, before, settled):
            raise self.agreement.lacking(fetched.server, migration_id, missing)
        self._final[fetched.key] = settled
        return Advance(fetched.key, fetched.read, settled, fetched.exhausted)

    def confirm(self, pages: list[Decoded]) -> list[Decoded]:
        """Pages about to be committed, once the servers that sent them have shown again which network they are of.

        Behind one URL another network may answer from some request on. What came from a server that cannot be asked,
        or has shown less since, is committed, but is not final: the next sync compares it and reads it again.

        Raises:
            StoreError: a server is of another network by now; none of these pages may be committed.
        """
        # Asked in a fixed order, so that a simulation of the same seed sends the same requests.
        senders, self._senders = sorted(self._senders.items()), {}
        sure = [self.agreement.confirm(server, self.first) for server, _ in senders]
        sure += [self.agreement.proofs.breaks(server) <= breaks for server, breaks in senders]
        if not all(sure):
            keys = {page.advance.key for page in pages}
            self._stale |= keys
            self._final.update({key: self._sure[key] for key in keys & self._sure.keys()})
            pages = [replace(page, advance=self._unsettled(page.advance)) for page in pages]
        self._sure.update({page.advance.key: page.advance.settled for page in pages})
        return pages

    def _unsettled(self, advance: Advance) -> Advance:
        return replace(advance, settled=self._sure.get(advance.key, advance.interval.lo))
