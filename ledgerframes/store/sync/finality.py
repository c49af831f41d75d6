"""`Finality`: up to where each shard of a running sync is final; `HistorySync` and the committer use it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.proofs import NOTHING
from ledgerframes.store.coverage import BEGINNING, CLOSED
from ledgerframes.store.coverage_document import Begin
from ledgerframes.store.fetched import Fetched, Opening
from ledgerframes.store.sync.agreement import Agreement
from ledgerframes.store.sync.stored_rows import StoredRows


@dataclass
class Finality:
    """Decides which fetched rows are final; record times by the key of their shard.

    Attributes:
        agreement: asks servers again which network they belong to.
        stored: the rows stored before this sync where it reads again.
    """

    agreement: Agreement
    stored: StoredRows
    _stale: set[int] = field(default_factory=set)  # shards in which nothing more can become final
    _final: dict[int, int] = field(default_factory=dict)  # of pages handed to the committer
    _sure: dict[int, int] = field(default_factory=dict)  # of pages from confirmed servers
    _openings: list[tuple[int, Opening]] = field(default_factory=list)  # of uncommitted pages, by shard
    _los: dict[int, int] = field(default_factory=dict)  # where shards begin
    _lows: dict[int, tuple[int, Begin | None]] = field(default_factory=dict)  # after which a shard is complete
    _senders: dict[str, int] = field(default_factory=dict)  # senders of uncommitted pages, with their breaks then

    def judged(self, fetched: Fetched) -> Fetched | None:
        """A fetched page with what is final of its shard; None if it changes nothing in the store.

        Raises:
            StoreError: a server lacks a stored update in the part that it has shown completely.
        """
        if fetched.server:
            # The first count is kept: any break since then makes all later pages doubtful.
            self._senders.setdefault(fetched.server, fetched.breaks)
        if fetched.opening is not None:
            self._openings.append((fetched.key, fetched.opening))
        before = self._final.get(fetched.key, fetched.read.lo)
        changes = fetched.has_rows or fetched.span.lo < fetched.span.hi or fetched.settled > before or fetched.exhausted
        if not changes:
            return None
        # A server that has since shown less makes nothing final, nor the rest of the shard, which would join it.
        if self.agreement.proofs.breaks(fetched.server) > fetched.breaks:
            self._stale.add(fetched.key)
        settled = before if fetched.key in self._stale else max(before, fetched.settled)
        migration_id = fetched.read.migration_id
        # A look at the beginning of the sync may have come before the proof of this.
        missing = self.stored.lacking(migration_id, before, settled)
        # An item that a page shows but that cannot be decoded is not missing there.
        missing = {one: at for one, at in missing.items() if one not in self.agreement.rejected}
        if missing and not fetched.server:
            # No page shows it, only a proof from elsewhere: not final until a server is asked for these.
            settled, missing = before, {}
        self.agreement.refuse(fetched.server, migration_id, self.agreement.due(fetched.server, migration_id, missing))
        self._final[fetched.key] = settled
        return replace(fetched, settled=settled)

    def confirm(self, pages: list[Fetched]) -> list[Fetched]:
        """The pages to commit, after their senders have shown again which network they belong to.

        A URL may switch to another network between requests. Pages of a server that cannot be asked, or has since shown
        less, are committed, but not final: the next sync compares them and reads them again.

        Raises:
            StoreError: a server now belongs to another network; none of these pages may be committed.
        """
        # Asked in a fixed order, so that a simulation of the same seed sends the same requests.
        senders, self._senders = sorted(self._senders.items()), {}
        asked = {server for server, _ in senders if self.agreement.confirm(server)}
        sure = [server in asked and self.agreement.proofs.breaks(server) <= breaks for server, breaks in senders]
        if not all(sure):
            self._forget({page.key for page in pages})
        for key, opening in self._openings:
            self._open(key, opening)
        self._openings = []
        pages = [self._from_low(page) for page in pages]
        self._sure.update({page.key: page.settled for page in pages})
        # Nothing is known of a part that no server has any more; it holds no rows.
        return [page for page in pages if page.read.lo < page.read.hi]

    def _open(self, key: int, opening: Opening) -> None:
        """Decide from where on a page that overlaps none before it in its shard is complete.

        A server that could not be asked since has made nothing final; its earlier beginning is good enough then.
        """
        begin = self.agreement.beginnings.known.get(opening.server)
        migration_id, lo, first = opening[1:]
        proof = 0
        whole = begin is not None and begin.proven is True and begin.first.migration_id == migration_id
        shows_begin = begin is not None and first == begin.first.micros
        if begin is not None and begin.has(migration_id, lo + 1) and (shows_begin or not whole or lo > BEGINNING):
            low, proof = lo, 2 * int(whole)
        elif begin is None and lo > BEGINNING and opening.server not in self.agreement.beginnings.emptied:
            low = lo
        else:
            shown = [] if first is None else [first]
            if begin is not None and begin.first.migration_id == migration_id:
                shown.append(begin.first.micros)
            at = min(shown, default=CLOSED + 1)  # nothing is known of a part that no server has any more
            proven = self.agreement.beginnings.proof_of(Cursor(migration_id, at))
            genesis = proven is True and first == at and lo <= BEGINNING  # it may have been pruned since
            low, proof = (lo, 2) if genesis else (max(lo, at - 1), int(proven is False))
        if key in self._sure or lo > self._los.setdefault(key, lo):  # inside of its shard, or its start is stored
            # A page at the start of the shard shows only that the part left out is gone.
            if low > max(lo, self._lows.get(key, (lo, None))[0]):
                self._forget({key}, beyond=lo)
            return
        if low < self._lows.get(key, (low, None))[0]:
            # Another server begins the shard earlier: one that had pruned that part has proven nothing there.
            self._forget({key}, beyond=low)
        record = Begin(migration_id, low, proof) if lo <= BEGINNING and (low > lo or proof) else None
        self._lows[key] = low, record

    def _from_low(self, page: Fetched) -> Fetched:
        """A page with the part of its shard before which nothing was pruned while it was read."""
        low, begins = self._lows.get(page.key, (page.read.lo, None))
        lo = max(low, page.read.lo)
        settled = min(self._final.get(page.key, page.settled), page.settled)
        return replace(page, read=page.read._replace(lo=lo), settled=max(settled, lo), begins=begins)

    def _forget(self, keys: set[int], *, beyond: int = NOTHING) -> None:
        """Keep the unstored part of some shards beyond a record time from becoming final."""
        self._stale |= keys
        for key in keys:
            self._final[key] = max(self._sure.get(key, NOTHING), min(self._final.get(key, NOTHING), beyond))
