"""A page of scan's event history as the record batches of `verdicts`, `views` and `app_activity`.

The update inside an item is not decoded here: the update history has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec import Raw, Struct

from ledgerframes.decoding.history import Batches
from ledgerframes.decoding.lenient import Origin, object_of, shorten
from ledgerframes.decoding.page_index import peek_events
from ledgerframes.decoding.records import read_records
from ledgerframes.paging.cursor import Cursor
from ledgerframes.tables.table import Table
from ledgerframes.tables.verdicts import APP_ACTIVITY, VERDICTS, VIEWS
from ledgerframes.timestamps import month_of

ALL: Final = frozenset({"verdicts", "views", "app_activity"})
_PLACE: Final = ("migration_id", "record_time", "record_month", "update_id")
_NULL: Final = Raw(b"null")

_list: Final = msgspec.json.Decoder(list[Raw])
_whole: Final = msgspec.json.Decoder(int)


class _Envelope(Struct, forbid_unknown_fields=True):
    traffic_cost: int
    view_ids: list[int]


class _ViewId(Struct):
    view_id: int


class _Party(Struct):
    party: str


_envelopes: Final = msgspec.json.Decoder(list[_Envelope])
_view_id: Final = msgspec.json.Decoder(_ViewId)
_party: Final = msgspec.json.Decoder(_Party)


def decode_event_items(
    raws: Sequence[Raw | bytes], *, endpoint: str, tables: Collection[str] = ALL, rows: Sequence[int] | None = None
) -> Batches:
    """Turn single items of the event history into columns.

    Raises:
        DecodeError: an item breaks the contract.
    """
    parts = _Parts(endpoint)
    wanted = range(len(raws)) if rows is None else rows
    for row, place in zip(wanted, _positions([raws[row] for row in wanted], endpoint), strict=True):
        parts.add(raws[row], row, place)
    return {name: batch for name, batch in parts.batches().items() if name in tables}


def _positions(raws: Sequence[Raw | bytes], endpoint: str) -> list[tuple[Cursor, str]]:
    """The cursor and the id of each item.

    Raises:
        DecodeError: an item has none, or cannot be read as JSON.
    """
    try:
        page_index = peek_events(b'{"events":[' + b",".join(map(bytes, raws)) + b"]}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Origin(endpoint, "an item", "verdicts").error("verdict", str(error)) from error
    return list(zip(page_index.cursors, page_index.update_ids, strict=True))


@dataclass
class _Rows:
    """The raw rows of one table, their names in messages, and values that are not in the rows themselves."""

    table: Table
    items: list[bytes] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    supplied: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, item: Mapping[str, Raw] | Raw, name: str, **supplied: Any) -> None:
        self.items.append(msgspec.json.encode(item))
        self.named.append(name)
        for column, value in supplied.items():
            self.supplied.setdefault(column, []).append(value)

    def batch(self, endpoint: str) -> pa.RecordBatch:
        return read_records(self.table, self.items, endpoint, supplied=self.supplied, named=self.named)


class _Parts:
    """Items of the event history, split into the rows of three tables."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._verdicts, self._views, self._activity = _Rows(VERDICTS), _Rows(VIEWS), _Rows(APP_ACTIVITY)

    def add(self, raw: Raw | bytes, position: int, at: tuple[Cursor, str]) -> None:
        """Split one item; one without a verdict, such as a reassignment, has no row."""
        cursor, update_id = at
        name = f"item {position} (update {update_id})"
        origin = Origin(self._endpoint, name, "verdicts")
        item = object_of(raw, origin, "item")
        update = item.pop("update", _NULL)
        if _is_null(item.get("verdict")):
            for name in ("traffic_summary", "app_activity_records"):
                if not _is_null(item.get(name)):
                    raise origin.error(name, "it comes without a verdict, so there is no request that it belongs to")
            return
        values = (cursor.migration_id, cursor.micros, month_of(cursor.micros), update_id)
        place: dict[str, Any] = dict(zip(_PLACE, values, strict=True))
        views = self._split_views(item, Origin(self._endpoint, name, "views"))
        costs = self._split_costs(item, views, Origin(self._endpoint, name, "views"))
        self._split_activity(item, place, Origin(self._endpoint, name, "app_activity"))
        month = place["record_month"]
        self._verdicts.add(item, name, record_month=month, has_update=not _is_null(update))
        for view_id, view in views.items():
            self._views.add(view, f"{name}, view {view_id}", traffic_cost=costs.get(view_id), **place)

    def batches(self) -> dict[str, pa.RecordBatch]:
        """The rows so far, by table."""
        return {rows.table.name: rows.batch(self._endpoint) for rows in (self._verdicts, self._views, self._activity)}

    def _split_views(self, item: dict[str, Raw], origin: Origin) -> dict[int, Raw]:
        """Remove the views from an item; returns them by their ids."""
        verdict = object_of(item["verdict"], origin, "verdict")
        holder = object_of(verdict.get("transaction_views", _NULL), origin, "transaction_views")
        views: dict[int, Raw] = {}
        for view in _entries(holder.pop("views", _NULL), origin, "views"):
            try:
                view_id = _view_id.decode(view).view_id
            except msgspec.DecodeError as error:
                raise origin.error("view_id", f"{error}; got {shorten(view)}") from error
            if view_id in views:
                raise origin.error("view_id", f"view {view_id} occurs twice in one request")
            views[view_id] = view
        verdict["transaction_views"] = Raw(msgspec.json.encode(holder))
        item["verdict"] = Raw(msgspec.json.encode(verdict))
        return views

    def _split_costs(self, item: dict[str, Raw], views: Collection[int], origin: Origin) -> dict[int, int]:
        """The traffic by view; the envelopes stay in `extra` if the views' costs do not determine all of them."""
        if _is_null(item.get("traffic_summary")):
            return {}
        summary = object_of(item["traffic_summary"], origin, "traffic_summary")
        raw = summary.get("envelope_traffic_summaries", _NULL)
        if _is_null(raw):
            return {}
        try:
            envelopes = _envelopes.decode(raw)
        except msgspec.ValidationError:
            return {}  # in another form: kept whole
        costs: Counter[int] = Counter()
        for envelope in envelopes:
            costs.update(dict.fromkeys(envelope.view_ids, envelope.traffic_cost))
        carried = [view_id for envelope in envelopes for view_id in envelope.view_ids]
        if len(set(carried)) == len(carried) == len(envelopes) and set(carried) <= set(views):
            del summary["envelope_traffic_summaries"]
            item["traffic_summary"] = Raw(msgspec.json.encode(summary))
        return {view_id: cost for view_id, cost in costs.items() if view_id in views}

    def _split_activity(self, item: dict[str, Raw], place: Mapping[str, Any], origin: Origin) -> None:
        """Remove the app activity from an item; members of it without a column stay in the verdict's `extra`."""
        if _is_null(item.get("app_activity_records")):
            item.pop("app_activity_records", None)
            return
        activity = object_of(item.pop("app_activity_records"), origin, "app_activity_records")
        try:
            number = _whole.decode(activity.pop("round_number", _NULL))
        except msgspec.DecodeError as error:
            raise origin.error("round_number", str(error)) from error
        if not -(2**63) <= number < 2**63:
            raise origin.error("round_number", f"{number} is not a whole number of 64 bits")
        seen: set[str] = set()
        for record in _entries(activity.pop("records", _NULL), origin, "records"):
            try:
                party = _party.decode(record).party
            except msgspec.DecodeError as error:
                raise origin.error("party", f"{error}; got {shorten(record)}") from error
            if party in seen:
                raise origin.error("party", f"{party} occurs twice in one request")
            seen.add(party)
            self._activity.add(record, origin.item, round_number=number, **place)
        if activity:
            item["app_activity_records"] = Raw(msgspec.json.encode(activity))


def _is_null(raw: Raw | None) -> bool:
    return raw is None or bytes(raw) == b"null"


def _entries(raw: Raw, origin: Origin, what: str) -> list[Raw]:
    try:
        return _list.decode(raw)
    except msgspec.DecodeError as error:
        raise origin.error(what, f"expected a list, got {shorten(raw)}") from error
