"""The beginning of a scan's history, and whether it is ledger begin; loads, plan and doctor use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow as pa
from msgspec import Raw

from ledgerframes.decoding.history import HistoryBatch
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import BeginsLateWarning, DecodeError, RequestError, warn
from ledgerframes.interfaces.page_reading import HistoryPage
from ledgerframes.paging.beginning import EVENT_COLUMNS, LEG_COLUMNS, from_beginning
from ledgerframes.paging.cursor import Cursor
from ledgerframes.paging.window import Window
from ledgerframes.timestamps import EARLIEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history import PageSource
    from ledgerframes.interfaces.page_source import ScanPages

#: Updates of a first page that are examined before the others: the first few reveal a truncated history.
FEW: Final = 50
#: The beginning of a complete history.
WHOLE: Final = Cursor(-(2**63), EARLIEST - 1)
#: How the name of the DSO's party begins, on every network.
DSO: Final = "DSO::"
_TABLES: Final = ("events", "reassignments")
_members: Final = msgspec.json.Decoder(dict[str, Raw])


@dataclass(frozen=True)
class Beginning:
    """The beginning of the available history.

    Attributes:
        first: the cursor of the first update.
        proven: whether the ledger begins there: True, False, or None if unknown.
    """

    first: Cursor
    proven: bool | None

    @property
    def late(self) -> Cursor | None:
        """Where it begins, if the ledger began earlier."""
        return self.first if self.proven is False else None

    @property
    def at(self) -> Cursor:
        """Everything recorded from here on is available, in the order of migrations and times."""
        return WHOLE if self.proven else self.first

    def has(self, migration_id: int, micros: int) -> bool:
        """Whether an item of that place must be available, if it exists."""
        return self.at <= (migration_id, micros)

    def __str__(self) -> str:
        if self.proven:
            return "ledger begin"
        return f"{format_timestamp(self.first.micros)} of migration {self.first.migration_id} (the first update there)"


def beginning_of(pages: PageSource, server: str | None = None) -> Beginning | None:
    """Ask for the first items of a history, as one server or the preferred one shows it; None while it has none."""
    named = None if server is None else (server,)
    page = pages.send_page(pages.page_request(None, FEW), server=named, revise=None).value
    return Beginning(page.glimpse.cursors[0], proven_by(page, pages.history)) if page.glimpse.cursors else None


def having(pages: ScanPages, window: Window) -> ScanPages:
    """The pages of servers that reach back as far as a window; otherwise those that begin first."""
    begins: dict[str, Cursor] = {}
    for server in pages.servers if len(pages.servers) > 1 else ():
        try:
            page = pages.send_page(pages.page_request(None, 1), server=server, revise=None).value
        except (RequestError, DecodeError):
            continue
        if page.glimpse.cursors:
            begins[server] = page.glimpse.cursors[0]
            if window.names_start and len(begins) == 1 and not window.wants_before(begins[server]):
                return pages  # the preferred one has it
    reach = [server for server, begin in begins.items() if window.names_start and not window.wants_before(begin)]
    first = [server for server, begin in begins.items() if begin == min(begins.values())]
    return replace(pages, among=tuple(reach or first))


def proven_by(page: HistoryPage, history: PagedHistory = UPDATE_HISTORY) -> bool | None:
    """Whether the ledger begins with a page that begins with the first available item."""
    proven: bool | None = None
    for count in (FEW, len(page)):
        try:
            decoded = _decoded(page, history, range(min(count, len(page))))
        except (DecodeError, msgspec.MsgspecError):
            return None  # the caller's own reading reports the error
        events, legs = (decoded.batches[name] for name in ("events", "reassignments"))
        proven = from_beginning(
            events.select(list(EVENT_COLUMNS)), legs.select(list(LEG_COLUMNS)), first=page.glimpse.cursors[0]
        )
        if proven is not None or count >= len(page):
            break
    return proven


def _decoded(page: HistoryPage, history: PagedHistory, rows: range) -> HistoryBatch:
    if history is UPDATE_HISTORY:
        return history.decode_page(page.content, tables=_TABLES, rows=rows)
    items = history.raws_of(page.raw)
    updates = [update for row in rows if (update := _carried(items[row])) is not None]
    return UPDATE_HISTORY.decode_items(updates, endpoint=history.endpoint, tables=_TABLES)


def _carried(item: bytes) -> Raw | None:
    """The update that an item of the other history carries, if it does."""
    update = _members.decode(item).get("update")
    return None if update is None or bytes(update) == b"null" else update


def known_by(history: PagedHistory, page: HistoryPage) -> frozenset[str]:
    """The network that a page shows: its synchronizers, and the DSO's party; their names end in a fingerprint."""
    found: set[str] = set()
    for item in range(len(page)):
        try:
            rows = history.decode_page(page.content, rows=[item]).batches
        except DecodeError:  # the others show as much
            continue
        found.update(rows[history.index]["synchronizer_id"].to_pylist())
        if "events" in rows:
            found |= _dso(rows["events"]["signatories"]) | _dso(rows["events"]["observers"])
    return frozenset(found)


def _dso(parties: pa.Array) -> set[str]:
    named: Sequence[str] = parties.flatten().unique().to_pylist()
    return {party for party in named if party.startswith(DSO)}


def warn_of(beginning: Beginning, source: str) -> None:
    """Warn that the history of a source begins after ledger begin."""
    warn(
        f"{source} begins at {beginning.first}, after ledger begin: older updates were pruned, or never stored there",
        BeginsLateWarning,
    )
