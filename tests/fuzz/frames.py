"""Says whether the frame of a table is what an answer holds, by a second reading of the declarations."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.table import Column, Table

#: Where the items of a table lie in the answer.
LISTS = {
    "licenses": "validator_licenses",
    "instruments": "instruments",
    "name_entries": "entries",
    "transfer_offers": "offers",
    "users": "users",
    "holdings_summary": "summaries",
}
MISSING = object()


def number(text: str) -> Decimal | str:
    """Exact, or as it is spelled where no number is that large."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


class WrongFrameError(Exception):
    """A cell is not what the answer says."""


def check_frame(name: str, frame: pa.Table, answer: Any) -> None:
    """Compare every cell that a JSON pointer declares."""
    table = CATALOGUE[name]
    rows = frame.to_pylist()
    if name not in LISTS or name == "holdings_summary":
        return
    items = (answer.get(LISTS[name]) or []) if name == "users" else answer[LISTS[name]]  # which a page may lack
    if name == "licenses":
        kept = {row["contract_id"] for row in rows}
        items = [item for item in items if item["contract_id"] in kept]
        if len({item["contract_id"] for item in items}) < len(items):
            return
    if len(items) != len(rows):
        raise WrongFrameError(f"{len(rows)} rows of {len(items)} items")
    for row, item in zip(rows, items, strict=True):
        check_row(table, row, item)


def check_row(table: Table, row: dict[str, Any], item: Any) -> None:
    """One row against its item."""
    for column in table.columns:
        if not column.source.startswith("/") or column.name not in row:
            continue
        sent, cell = at(item, column.source), row[column.name]
        if not says(column, sent, cell):
            raise WrongFrameError(f"{column.name}: {cell!r} where {sent!r} was sent")
    pointers = {column.source for column in table.columns}
    noted = set() if row["extra"] is None else set(json.loads(row["extra"]))
    for member in item:
        pointer = "/" + member.replace("~", "~0").replace("/", "~1")
        known = any(one == pointer or one.startswith(f"{pointer}/") for one in pointers)
        if not known and pointer not in noted:
            raise WrongFrameError(f"{pointer} is lost; extra holds {sorted(noted)}")


def at(item: Any, pointer: str) -> Any:
    """The value at a pointer, or `MISSING`."""
    for step in pointer.split("/")[1:]:
        if not isinstance(item, dict) or step not in item:
            return MISSING
        item = item[step]
    return item


def says(column: Column, sent: Any, cell: Any) -> bool:
    """Whether a cell is what was sent."""
    if sent is MISSING or sent is None:
        absent = json.loads(column.absent) if column.absent else None
        return cell in (None, absent, "null") or (column.kind.name == "json" and json.loads(cell) == absent)
    if cell is None:
        return sent == ""
    kind = column.kind.name
    if kind == "json":
        return bool(json.loads(cell, parse_float=number) == sent)
    if kind.startswith("timestamp") or isinstance(cell, datetime):
        return cell == moment(sent)
    if isinstance(cell, Decimal):
        return cell == Decimal(str(sent))
    if isinstance(cell, bool) or isinstance(sent, bool):
        return cell is sent
    if isinstance(cell, int):
        return cell == int(sent)
    return cell == sent


def moment(text: str) -> datetime:
    """A time, finer than a microsecond cut off."""
    if re.fullmatch(r"[+-]?\d+", str(text), re.ASCII):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(text))
    value = datetime.fromisoformat(re.sub(r"([.,]\d{6})\d+", r"\1", text))
    return value if value.tzinfo else value.replace(tzinfo=UTC)
