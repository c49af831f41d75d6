"""Each rule of a sync taken back: one function of ours is patched in place, and the simulation must go red.

A mutant that survives says that the simulation cannot see its rule; then a fault or an invariant is missing, or the
rule is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ledgerframes.errors import StoreError
from ledgerframes.interfaces.paged_histories import HistoryPage
from ledgerframes.store.coverage import CLOSED, beyond, intersection, merged
from ledgerframes.store.sync.report import all_runs

FAR: Final = 2**62


@dataclass(frozen=True)
class Mutant:
    """One rule taken back.

    Attributes:
        rule: what it says.
        target: the function, as `module:Class.name`.
        change: makes the mutant out of what is there.
        among: the faults that can show it, to find it sooner.
        objects: whether servers have objects.
    """

    rule: str
    target: str
    change: Callable[[Any], Any]
    among: tuple[str, ...] = ()
    objects: bool = False

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Patch it for a while."""
        module, _, path = self.target.partition(":")
        *owners, name = path.split(".")
        owner: Any = import_module(f"ledgerframes.{module}")
        for one in owners:
            owner = getattr(owner, one)
        original = vars(owner)[name]
        setattr(owner, name, self.change(original))
        try:
            yield
        finally:
            setattr(owner, name, original)


def _anybody(_original: Any) -> Any:
    def of(self: Any, server: str, page: Any = ()) -> int:
        del server
        return max([*self.newest.values(), *(place.micros for place in page)], default=-FAR) - self.settle - 1

    return of


def _clock_proves(original: Any) -> Any:
    def of(self: Any, server: str, page: Any = ()) -> int:
        return original(self, server, page) + 4 * self.settle

    return of


def _earlier_pages(original: Any) -> Any:
    def cover(self: Any, page: Any, final: int, closing: int | None) -> Any:
        span = original(self, page, final, closing)
        self.settled = max(self.settled, min(self.read_to, final))
        return span

    return cover


def _closes_when_covered(original: Any) -> Any:
    def cover(self: Any, page: Any, final: int, closing: int | None) -> Any:
        span = original(self, page, final, closing)
        if closing is not None and self.read_to >= closing:
            self.read_to = self.settled = max(self.interval.hi, self.read_to)
        return span

    return cover


def _empty_page_proves(original: Any) -> Any:
    def cover(self: Any, page: Any, final: int, closing: int | None) -> Any:
        span = original(self, page, final, closing)
        if not page.rows and page.outcome.name in {"END", "PAST"}:
            self.read_to = self.settled = max(self.interval.hi, self.read_to)
        return span

    return cover


def _by_time(_original: Any) -> Any:
    """As before: what is read again is left out by its time."""

    def fresh(self: Any, table: Any, pages: Any) -> list[Any]:
        found = []
        for page in pages:
            batch = page.batches.get(table.name)
            if batch is None or not batch.num_rows:
                continue
            inside = pa.array([False] * len(batch), pa.bool_())
            for one in self.coverage.common:
                micros = batch["record_time"].cast(pa.int64())
                here = pc.and_(pc.greater(micros, one.lo), pc.less_equal(micros, one.hi))
                inside = pc.or_(inside, pc.and_(here, pc.equal(batch["migration_id"], one.migration_id)))
            found.append(batch.filter(pc.invert(inside)))
        return [batch for batch in found if batch.num_rows]

    return fresh


def _never_compared(_original: Any) -> Any:
    def fresh(self: Any, table: Any, pages: Any) -> list[Any]:
        del self
        batches = (page.batches.get(table.name) for page in pages)
        return [batch for batch in batches if batch is not None and batch.num_rows]

    return fresh


def _any_missing_id(original: Any) -> Any:
    def compare(self: Any, server: str, tail: Any, here: Any, missing: Any) -> None:
        del missing
        lacking = {one: at for one, at in tail.stored.items() if one not in here}
        original(self, server, tail, here, self.due(server, tail.interval.migration_id, lacking))

    return compare


def _extra_below_settled(original: Any) -> Any:
    def compare(self: Any, server: str, tail: Any, here: Any, missing: Any) -> None:
        kept = {one: at for one, at in here.items() if one in tail.stored or at > tail.interval.lo}
        original(self, server, tail, kept, missing)

    return compare


def _by_first_id(original: Any) -> Any:
    def recognise(self: Any, server: str, **options: bool) -> bool:
        _, page = self.servers.ask(None, 1, server)
        name = (self.history.network or "").partition("/")[2]
        if page.page_index.update_ids not in ([], [name]):
            raise StoreError(f"{server}: another network")
        known: bool = original(self, server, **options)
        return known

    return recognise


def _falls(original: Any) -> Any:
    def advanced(self: Any, advances: Any) -> Any:
        advances = list(advances)
        whole = [one.read._replace(hi=CLOSED) for one in advances]
        kept = replace(self, common=beyond(self.common, whole), settled=beyond(self.settled, whole))
        return original(kept, advances)

    return advanced


def _joins_anywhere(original: Any) -> Any:
    def advanced(self: Any, advances: Any) -> Any:
        after = original(self, advances)
        inside = {one: intersection([one], after.settled) for one in after.common}
        return replace(after, settled=merged(one._replace(hi=parts[-1].hi) for one, parts in inside.items() if parts))

    return advanced


def _covered_is_final(original: Any) -> Any:
    def advanced(self: Any, advances: Any) -> Any:
        after = original(self, advances)
        return replace(after, settled=after.common)

    return advanced


def _newest_of_each(original: Any) -> Any:
    def own(self: Any, name: str) -> Any:
        table = original(self, name)
        return table if self._writes or name == self.table.name else table.refresh()

    return own


def _nothing_restored(original: Any) -> Any:
    def own(self: Any, name: str) -> Any:
        kind = type(self.table)
        restore, strict = kind.restore, self._strict
        kind.restore, self._strict = lambda *_: False, False
        try:
            return original(self, name)
        finally:
            kind.restore, self._strict = restore, strict

    return own


def _coverage_first(original: Any) -> Any:
    def commit(self: Any, pages: Any) -> Any:
        self.record(self.coverage.advanced(pages))
        return original(self, pages)

    return commit


def _rows_before_coverage(original: Any) -> Any:
    class Root(original):  # type: ignore[misc]
        def commit(self, document: Any, batches: Any = (), files: Any = (), replaced: Any = None) -> Any:
            if batches:
                self.table.append(batches, files)
            return super().commit(document, (), () if batches else files, replaced)

        def _own_losses(self) -> list[Any]:
            return []  # or readers would refuse rows that the document does not count

    return Root


def _whole_page(original: Any) -> Any:
    def divide(self: Any, page: Any, stop: int, target: Any) -> Any:
        del stop
        return original(self, page, len(page.page_index.cursors), target)

    return divide


def _rejects_again(original: Any) -> Any:
    def reject(self: Any, bad: Any) -> None:
        self.table.refresh()
        self._stored = set()
        original(self, bad)

    return reject


def _always_newest(original: Any) -> Any:
    def find(table: Any, as_of: Any, url: str) -> Any:
        del as_of
        return original(table, all_runs(table)[-1]["sync_id"], url)

    return find


def _nobody_in_particular(original: Any) -> Any:
    def readable(*arguments: Any, server: str = "", **named: Any) -> Any:
        del server
        return original(*arguments, **named)

    return readable


def _ends_where_objects_end(original: Any) -> Any:
    def page(self: Any, after: Any, size: int) -> Any:
        found = original(self, after, size)
        known = self._segment(after)
        return HistoryPage.read(b'{"transactions":[]}') if found is None and known is not None else found

    return page


def _any_digest(_original: Any) -> Any:
    return SimpleNamespace(compare_digest=lambda *_: True)


def _forgets_who_lags(original: Any) -> Any:
    def look(self: Any, newest: int) -> Any:
        found = original(self, newest)
        self._lagging = None
        return found

    return look


def _first_answer_counts(original: Any) -> Any:
    def note(self: Any, server: str, page: Any) -> None:
        known = self.known.get(server)
        original(self, server, page)
        if known is not None:
            self.known[server], self.servers.begins[server] = known, known.at

    return note


def _constant(*, value: Any) -> Callable[[Any], Any]:
    return lambda original: lambda *_, **__: value  # noqa: ARG005


_SERVERS: Final = ("late", "lagging", "catching-up", "servers-change", "ties", "migrations", "overlap")

MUTANTS: Final[dict[str, Mutant]] = {
    "proof-of-anybody": Mutant(
        "only what the server that gave a page had shown proves anything about it",
        "paging.proofs:Proof.of", _anybody, ("late", "lagging", "catching-up"),
    ),
    "proof-of-a-clock": Mutant("no clock proves", "paging.proofs:Proof.of", _clock_proves, _SERVERS),
    "no-settle": Mutant(
        "less settle", "paging.proofs:Proof.of",
        lambda original: lambda self, server, page=(): original(self, server, page) + self.settle, _SERVERS,
    ),
    "no-microsecond": Mutant(
        "less a microsecond", "paging.proofs:Proof.of",
        lambda original: lambda self, server, page=(): original(self, server, page) + 1, ("edge", *_SERVERS),
    ),
    "proof-after-the-read": Mutant(
        "proof comes before or with the read, never after", "store.sync.shards:Shard.cover", _earlier_pages,
        ("late", "catching-up"),
    ),
    "any-later-item-closes": Mutant(
        "a migration closes when the last instant is settled", "paging.proofs:Proofs.closes",
        lambda original: lambda self, *_: -FAR, _SERVERS,  # noqa: ARG005
    ),
    "closes-without-the-day": Mutant(
        "no update of a migration is later than the first of the next plus 24 h", "paging.proofs:Proofs.closes",
        lambda original: lambda self, migration_id, following: following.micros, _SERVERS,  # noqa: ARG005
    ),
    "closes-when-covered": Mutant(
        "covered and settled", "store.sync.shards:Shard.cover", _closes_when_covered, _SERVERS
    ),
    "an-empty-page-proves": Mutant(
        "an empty page says nothing about hi", "store.sync.shards:Shard.cover", _empty_page_proves, _SERVERS
    ),
    "by-time": Mutant(
        "what is read again is compared by update ids, never by time", "store.history_tables:HistoryTables._fresh",
        _by_time,
        ("kill", *_SERVERS),
    ),
    "never-compared": Mutant(
        "over everything re-read, each table is compared", "store.history_tables:HistoryTables._fresh", _never_compared,
        _SERVERS,
    ),
    "any-missing-id-is-a-fork": Mutant(
        "a held id is missing only where the server had shown everything", "store.sync.agreement:Agreement._compare",
        _any_missing_id, _SERVERS,
    ),
    # Among all faults: a server's first page shows a short history whole, and with it most forks by themselves.
    "forks-are-merged": Mutant(
        "a missing id is a fork", "store.sync.agreement:Agreement._compare", _constant(value=True),
    ),
    "late-below-settled": Mutant(
        "extra ids below settled are a StoreError", "store.sync.agreement:Agreement._compare", _extra_below_settled,
        ("too-late", "fork", *_SERVERS),
    ),
    "network-by-its-first-id": Mutant(
        "the network is recognised by any stored id of its beginning", "store.sync.agreement:Agreement.recognise",
        _by_first_id, _SERVERS,
    ),
    "any-network": Mutant(
        "servers are told apart before a store is bound to one of them", "store.sync.beginnings:_tell_apart",
        _constant(value=None), ("other-network", "lagging", "late", "catching-up"),
    ),
    "every-network-is-recognised": Mutant(
        "a server shows that it belongs to the store's network", "store.sync.agreement:Agreement.recognise",
        _constant(value=True), ("other-network", "lagging", "servers-change", "late"),
    ),
    "numbers-fall": Mutant(
        "no server lowers either number", "store.coverage:Coverage.advanced", _falls, ("kill", *_SERVERS)
    ),
    "coverage-joins-anywhere": Mutant(
        "what is settled ends at the first gap in it", "store.coverage:Coverage.advanced", _joins_anywhere,
        ("late", "windows"),
    ),
    "covered-is-final": Mutant(
        "what is covered and not settled is read again", "store.coverage:Coverage.advanced", _covered_is_final,
        _SERVERS,
    ),
    "newest-of-each": Mutant(
        "readers take each table at the version that the document names", "store.root:Root.own", _newest_of_each,
        ("kill", *_SERVERS),
    ),
    "nothing-restored": Mutant(
        "what a killed writer left is taken back before the next one writes", "store.root:Root.own",
        _nothing_restored, ("kill", *_SERVERS),
    ),
    "coverage-first": Mutant(
        "the root commits last", "store.history_tables:HistoryTables.commit", _coverage_first, ("kill", *_SERVERS)
    ),
    "rows-before-coverage": Mutant(
        "rows and coverage are one commit", "store.lake:Root", _rows_before_coverage, ("kill", *_SERVERS)
    ),
    "ties-cut": Mutant(
        "the last group of a page is held back", "paging.history:HistoryReader.divide", _whole_page,
        ("ties", "late", "catching-up"),
    ),
    "rejects-repeat": Mutant(
        "rejects are not repeated", "store.sync.rejects:RejectingDecoder.reject", _rejects_again,
        ("broken-item", *_SERVERS),
    ),
    "objects-to-their-end": Mutant(
        "the last settle of a segment comes from pages", "objects.page_source:ObjectIndex._end",
        lambda original: lambda self, segment: segment.up_to,  # noqa: ARG005
        ("late",), objects=True,
    ),
    "objects-end-the-history": Mutant(
        "coverage reaches the last item that objects show, not the end of a segment",
        "objects.page_source:ObjectIndex.page", _ends_where_objects_end, ("late", "catching-up"), objects=True,
    ),
    "objects-of-anybody": Mutant(
        "objects count as what the server that listed them has shown", "objects.sources:readable",
        _nobody_in_particular, ("other-network", "lagging", "catching-up"), objects=True,
    ),
    "objects-reach-anywhere": Mutant(
        "a migration whose end servers have pruned is final no further than objects are",
        "objects.page_source:ObjectPages.final", _constant(value=CLOSED), ("pruned", "migrations", "overlap"),
        objects=True,
    ),
    "any-digest": Mutant(
        "an object has the digest that is listed for it", "interfaces.scan_objects:hmac", _any_digest,
        ("damaged-objects",), objects=True,
    ),
    "lacking-rows-become-final": Mutant(
        "a stored row that no page shows again does not become final", "store.sync.committing:Finality._lacking",
        lambda original: lambda *_: {},  # noqa: ARG005
        ("fork", "fork-all", "catching-up", "late", "workers", "silent-cap"),
    ),
    "lagging-for-ever": Mutant(
        "servers that seem to be behind are looked at again once more is proven",
        "store.sync.history_sync:HistorySync._compare_newest", _forgets_who_lags,
        ("fork", "catching-up", "migrations", "overlap"),
    ),
    "first-shown-is-the-beginning": Mutant(
        "the first item that is shown proves no ledger begin", "store.sync.beginnings:proven_by",
        _constant(value=True), ("pruned", "genesis", "catching-up"),
    ),
    "pruned-is-a-fork": Mutant(
        "only a later update that is missing is a fork", "store.sync.agreement:Agreement.due",
        lambda original: lambda self, server, migration_id, lacking, **_: dict(lacking),  # noqa: ARG005
        ("pruned", "catching-up"),
    ),
    "forks-are-pruned": Mutant(
        "a later update that is missing is a fork", "store.sync.agreement:Agreement.refuse",
        _constant(value=None), ("fork", "fork-all", "late"),
    ),
    "joins-over-what-is-pruned": Mutant(
        "what a server may have pruned before its first item is not covered", "store.sync.committing:Finality._open",
        _constant(value=None), ("pruned", "catching-up", "lagging"),
    ),
    "begins-where-it-began": Mutant(
        "the proof that nothing was pruned comes after the page or with it", "store.sync.beginnings:Beginnings.note",
        _first_answer_counts, ("pruned", "catching-up", "lagging", "workers"),
    ),
    "known-by-its-updates-alone": Mutant(
        "a network is known by its DSO and its synchronizers where all that is stored was pruned",
        "store.sync.agreement:Agreement._shows_parties", _constant(value=False), ("pruned", "catching-up", "kill"),
    ),
    "anybody-is-asked": Mutant(
        "a request goes to a server that has not pruned what it asks for", "store.sync.servers:AgreedServers.having",
        lambda original: lambda self, after: self.servers,  # noqa: ARG005
        ("pruned", "lagging", "catching-up"),
    ),
    "open-ends": Mutant(
        "what was read before its proof is read again by the same sync",
        "store.sync.history_sync:HistorySync._proven_since", _constant(value=[]), ("workers", "silent-cap"),
    ),
    "as-of-now": Mutant("as_of frames stay", "store.lake:find_document", _always_newest, _SERVERS),
}  # fmt: skip
