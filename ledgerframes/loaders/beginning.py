"""The beginning of a scan's history, and whether it is ledger begin; loads, plan and doctor use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.decoding.history import HistoryBatch
from ledgerframes.decoding.paged_histories import UPDATE_HISTORY, PagedHistory
from ledgerframes.errors import BeginsLateWarning, DecodeError, RequestError, warn
from ledgerframes.interfaces.history_pages import HistoryPage
from ledgerframes.paging.cursor import Cursor, Window, before
from ledgerframes.paging.modes import PageQuery
from ledgerframes.timestamps import EARLIEST, format_timestamp

if TYPE_CHECKING:
    from ledgerframes.interfaces.history_pages import PageSource, ScanPages

#: Updates of a first page that are examined before the others: the first few reveal a truncated history.
FEW: Final = 50
#: The beginning of a complete history.
WHOLE: Final = Cursor(-(2**63), EARLIEST - 1)
#: How the name of the DSO's party begins, on every network.
DSO: Final = "DSO::"
_TABLES: Final = ("events", "reassignments")
# A network's history begins with the creation of its DSO, in one choice.
_TEMPLATE: Final = "Splice.DsoBootstrap:DsoBootstrap"
_CHOICE: Final = "DsoBootstrap_Bootstrap"
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
    page = pages.send_page(PageQuery(None, FEW), server=named).value
    return Beginning(page.page_index.cursors[0], proven_by(page, pages.history)) if page.page_index.cursors else None


def having(pages: ScanPages, window: Window) -> ScanPages:
    """The pages of servers that reach back as far as a window; otherwise those that begin first."""
    begins: dict[str, Cursor] = {}
    for server in pages.servers if len(pages.servers) > 1 else ():
        try:
            page = pages.send_page(PageQuery(None, 1), server=server).value
        except (RequestError, DecodeError):
            continue
        if page.page_index.cursors:
            begins[server] = page.page_index.cursors[0]
            if window.names_start and len(begins) == 1 and not window.wants_before(begins[server]):
                return pages  # the preferred one has it
    reach = [server for server, begin in begins.items() if window.names_start and not window.wants_before(begin)]
    first = [server for server, begin in begins.items() if begin == min(begins.values())]
    return replace(pages, sender=pages.sender.on(*(reach or first))) if begins else pages


def proven_by(page: HistoryPage, history: PagedHistory = UPDATE_HISTORY) -> bool | None:
    """Whether the ledger begins with a page that begins with the first available item."""
    proven: bool | None = None
    for count in (FEW, len(page)):
        try:
            decoded = _decoded(page, history, range(min(count, len(page))))
        except (DecodeError, msgspec.MsgspecError):
            return None  # the caller's own reading reports the error
        events, legs = (decoded.batches[name] for name in _TABLES)
        proven = from_beginning(events, legs, first=page.page_index.cursors[0])
        if proven is not None or count >= len(page):
            break
    return proven


def from_beginning(
    events: pa.RecordBatch, reassignments: pa.RecordBatch, *, first: Cursor | None = None
) -> bool | None:
    """Whether a history begins where the ledger does, by its first updates (the contract documents no sign of it).

    A scan that prunes answers as if its history began later, so being shown first proves nothing about an item.

    Args:
        events: those of the first updates.
        reassignments: the legs among the same updates.
        first: the cursor of the first update, if known: nothing can precede the smallest possible one.

    Returns:
        True if one of the first updates, all at one cursor, bootstraps the DSO, or nothing can precede it; False if
        a contract is exercised or unassigned that nothing here created or assigned; None otherwise.
    """
    if first is not None and before(first) is None:
        return True
    if events.num_rows:
        # Updates at one cursor are in the server's own order.
        here = pc.and_(
            pc.equal(events["migration_id"], events["migration_id"][0]),
            pc.equal(events["record_time"], events["record_time"][0]),
        )
        bootstraps = pc.and_(pc.equal(events["template_name"], _TEMPLATE), pc.equal(events["choice"], _CHOICE))
        if pc.any(pc.and_(here, bootstraps.fill_null(fill_value=False))).as_py():
            return True
    begun = _ids(events, "event_type", "created_event") | _ids(reassignments, "kind", "assignment")
    used = _ids(events, "event_type", "exercised_event") | _ids(reassignments, "kind", "unassignment")
    return False if used - begun else None


def _ids(rows: pa.RecordBatch, column: str, value: str) -> set[str]:
    return {*rows["contract_id"].filter(pc.equal(rows[column], value)).to_pylist()} - {None}


def _decoded(page: HistoryPage, history: PagedHistory, rows: range) -> HistoryBatch:
    if history is UPDATE_HISTORY:
        return history.decode_pages([(page.content, rows)], tables=_TABLES)
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
            rows = history.decode_pages([(page.content, [item])]).batches
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
