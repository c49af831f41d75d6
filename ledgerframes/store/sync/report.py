"""`SyncReport`: the result of a sync; it is printed, kept in the store, and written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgerframes.errors import visible
from ledgerframes.results import Result, html_pairs
from ledgerframes.store.derive.tables import DERIVED_TABLES


@dataclass(frozen=True, repr=False)
class SyncReport(Result):
    """The result of one `Store.sync`.

    Attributes:
        sync_id: identifies the state of the store after this sync; `as_of=` takes it.
        started_at: UTC, ISO-8601.
        counted_from: the instant that `last` counts back from, if it was given.
        seconds: how long it took.
        rows: rows added, by table; of computed tables rows added or changed.
        requests: requests sent, each attempt counted.
        bytes: bytes received in bodies, after decompression.
        retries: attempts after a failed one.
        waits_seconds: time spent waiting for the rate limit and between attempts, over all workers.
        decoder: which decoder read the pages: "compiled", or "python" with the reason.
        commits: how many commits were made.
        covered: the intervals that the store now covers, in words.
        begins_late: the time of the first update that the servers had, if older ones are known to have existed.
        gaps: what was requested and is not covered though later parts are: servers show nothing there, or see `left`.
        left: what was requested and can be had, and is still not covered, in words.
        rejected: items that could not be decoded and were added to `rejects`.
        sources: servers, without anything secret.
        complete: whether everything that was requested and that the servers have is stored.
        error: the error that ended the sync early; empty if there was none.
    """

    sync_id: str
    started_at: str
    counted_from: str = ""
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0
    retries: int = 0
    waits_seconds: float = 0.0
    decoder: str = ""
    commits: int = 0
    covered: tuple[str, ...] = ()
    begins_late: str | None = None
    gaps: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rejected: int = 0
    sources: tuple[str, ...] = ()
    complete: bool = True
    error: str = ""

    def lines(self) -> list[tuple[str, str]]:
        """The lines of a printed report, as pairs of a name and a text."""
        added = [
            f"{count:,} rows of {name} written" if name in DERIVED_TABLES else f"{count:,} {name}"
            for name, count in self.rows.items() if count
        ]  # fmt: skip
        rows = ", ".join(added) or "nothing new"
        gaps = "; ".join(self.gaps) + ("" if self.left else ": servers show nothing there; they may have pruned it")
        speed = f"{self.bytes / 1e6 / self.seconds:,.1f} MB/s" if self.seconds else ""
        lines = [
            ("sync", f"{self.sync_id}, {'complete' if self.complete else 'not complete'}"),
            *([("last", f"counts back from {self.counted_from}")] if self.counted_from else []),
            ("added", rows + (f"; {self.rejected:,} items rejected" if self.rejected else "")),
            ("took", f"{self.seconds:,.2f} s, {self.requests:,} requests, {self.bytes / 1e6:,.1f} MB, {speed}"),
            ("retries", f"{self.retries:,}; waited {self.waits_seconds:,.1f} s for rate limits and between attempts"),
            *([("decoder", self.decoder)] if self.decoder else []),
            ("commits", f"{self.commits:,}"),
            *(("" if place else "covered", part) for place, part in enumerate(self.covered or ("nothing yet",))),
            *([("begins", f"late, at {self.begins_late}: older updates had been pruned")] if self.begins_late else []),
            *([("gaps", gaps)] if self.gaps else []),
            *([("left", "; ".join(self.left))] if self.left else []),
            *([("error", self.error)] if self.error else []),
        ]
        return [(name, visible(text)) for name, text in lines]

    def __str__(self) -> str:
        return "\n".join(f"{name:<8} {text}" for name, text in self.lines() if text)

    def _repr_html_(self) -> str:
        return html_pairs((name, text) for name, text in self.lines() if text)
