"""Removes personal data from JSON columns: the contact points given by operators of validators.

They are in licenses (`metadata.contactPoint`), in the arguments of the choices that write them, and wherever those are
quoted, in votes for example; so every member of that name is removed, however deep. Loaders, exports, stores and
`expand` call it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.decoding.lenient import pointer_to
from ledgerframes.errors import DecodeError
from ledgerframes.tables.kinds import JSON
from ledgerframes.tables.ledger import REJECTS
from ledgerframes.tables.table import EXTRA, Table

#: The name of the removed data in provenance.
LEFT_OUT: Final = "contact points"
#: The member of `extra` that lists the data removed from a row, by column and JSON pointer.
MARK: Final = "left_out"

_NAME: Final = "contactpoint"
#: Matches texts that may contain such a member: its name in any spelling, or a name written with escapes.
_PERHAPS: Final = r"(?i)contact_?point|\\u00"
_perhaps: Final = re.compile(_PERHAPS.encode())
_objects: Final = msgspec.json.Decoder(dict[str, Raw])
_lists: Final = msgspec.json.Decoder(list[Raw])
_text: Final = msgspec.json.Decoder(str)


def is_personal(name: str) -> bool:
    """Whether a member or a column of this name contains personal data."""
    return name.rpartition("/")[2].replace("_", "").lower() == _NAME


def without_personal(cells: pa.Array | pa.ChunkedArray) -> Any:
    """A column of JSON texts without personal data; the same column if there is none.

    Raises:
        DecodeError: a text that may contain some cannot be parsed.
    """
    return _stripped(cells)[0]


def strip_batch(batch: pa.RecordBatch, columns: Iterable[str]) -> tuple[pa.RecordBatch, int]:
    """Rows without personal data in some JSON columns; `extra`, if it exists, lists what was removed from each row.

    Args:
        batch: the rows.
        columns: the JSON columns; names that the batch lacks are skipped.

    Returns:
        The rows, and the number of rows that lost something.

    Raises:
        DecodeError: a text that may contain personal data cannot be parsed.
    """
    lost: dict[int, list[str]] = {}
    for name in columns:
        place = batch.schema.get_field_index(name)
        if place < 0:
            continue
        # Most columns contain nothing personal, and are returned without being copied.
        cells, pointers = _stripped(batch.column(place))
        if pointers:
            batch = batch.set_column(place, batch.schema.field(place), cells)
            for row, own in pointers.items():
                lost.setdefault(row, []).extend(f"/{name}{pointer}" for pointer in own)
    return (_marked(batch, lost) if lost else batch), len(lost)


def json_columns(table: Table) -> list[str]:
    """The columns of a table that may contain personal data."""
    return [column.name for column in table.columns if column.kind is JSON or column.name == "raw"]


def strip_text(raw: bytes) -> bytes:
    """One JSON text without personal data.

    Raises:
        DecodeError: it may contain some and cannot be parsed.
    """
    return bytes(_walk(Raw(raw), "", []))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type contains texts, however they are stored."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_stored(texts: Any, kind: pa.DataType) -> Any:
    return texts.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else texts.cast(kind)


def _plain(cells: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A dictionary's texts in a type that Arrow can search."""
    if isinstance(cells, pa.ChunkedArray):
        return pa.chunked_array([_plain(chunk) for chunk in cells.chunks], cells.type if not cells.chunks else None)
    if not pa.types.is_dictionary(cells.type):
        return cells
    return pa.DictionaryArray.from_arrays(cells.indices, cells.dictionary.cast(pa.large_string()))


def _stripped(cells: pa.Array | pa.ChunkedArray) -> tuple[Any, dict[int, list[str]]]:
    """The column, and by row the JSON pointers of the removed members."""
    kind = cells.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):  # the functions below know only these
        stripped, lost = _stripped(_plain(cells).cast(pa.large_string()))
        return (_as_stored(stripped, kind), lost) if lost else (cells, lost)
    if not _perhaps_some(cells):
        return cells, {}
    suspects = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(cells, _PERHAPS), False)).to_pylist()  # noqa: FBT003
    if not suspects:
        return cells, {}
    lost = {}
    texts: dict[int, str] = {}
    for row in suspects:
        pointers: list[str] = []
        text = bytes(_walk(Raw(cells[row].as_py().encode("utf-8", "surrogatepass")), "", pointers))
        if pointers:
            lost[row] = pointers
            texts[row] = text.decode("utf-8", "surrogatepass")
    if not lost:
        return cells, {}
    mask = pa.array([row in texts for row in range(len(cells))], pa.bool_())
    changed = pa.array([texts[row] for row in sorted(texts)], cells.type)
    return pc.replace_with_mask(cells, mask, changed), lost


def _perhaps_some(cells: pa.Array | pa.ChunkedArray) -> bool:
    """Whether any text may match `_PERHAPS`, in half the time that matching takes."""
    if any(_holds_backslash(chunk) for chunk in (cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells])):
        return True
    return bool(pc.any(pc.match_substring(cells, "contact", ignore_case=True)).as_py())


def _holds_backslash(texts: pa.Array) -> bool:
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    kind = np.int32 if pa.types.is_string(texts.type) else np.int64
    ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
    return bool((np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] == ord("\\")).any())


def _walk(raw: Raw, place: str, pointers: list[str]) -> Raw:
    """A value without such members; the pointers of those that were not empty are added to `pointers`."""
    text = bytes(raw)
    first = text.lstrip()[:1]
    if first not in (b"{", b"[") or not _perhaps.search(text):
        return raw
    before = len(pointers)
    try:
        if first == b"[":
            items = [_walk(item, f"{place}/{at}", pointers) for at, item in enumerate(_lists.decode(text))]
            return Raw(msgspec.json.encode(items)) if len(pointers) > before else raw
        members = _objects.decode(text)
        remaining = {name: value for name, value in members.items() if not is_personal(name)}
        pointers += [pointer_to(place, name) for name in members if name not in remaining]
        if "value" in remaining and _is_label(remaining.get("label")):
            pointers.append(f"{place}/value")
            del remaining["value"]
        remaining = {name: _walk(value, pointer_to(place, name), pointers) for name, value in remaining.items()}
        written = msgspec.json.encode(remaining)
        if len(pointers) == before and len(_perhaps.findall(written)) < len(_perhaps.findall(text)):
            pointers.append(place)  # of a repeated member, the one that a parser drops is removed too
        return Raw(written) if len(pointers) > before else raw
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(
            f"personal data cannot be left out of a JSON text of {len(text)} bytes: {type(error).__name__}; pass "
            "personal=True to keep it as it is"
        ) from None


def _is_label(raw: Raw | None) -> bool:
    """Whether an object is a field written as label and value, in the servers' other encoding."""
    try:
        return raw is not None and is_personal(_text.decode(raw))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _marked(batch: pa.RecordBatch, lost: dict[int, list[str]]) -> pa.RecordBatch:
    place = batch.schema.get_field_index(EXTRA.name)
    if place < 0:
        return batch
    notes = batch.column(place).to_pylist()
    for row, pointers in lost.items():
        members = {} if notes[row] is None else _objects.decode(notes[row])
        members[MARK] = Raw(msgspec.json.encode(pointers))
        notes[row] = msgspec.json.encode(members).decode()
    return batch.set_column(place, batch.schema.field(place), pa.array(notes, batch.column(place).type))


def without_personal_data(table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Remove personal data from rows as the lake stores them; each row's `extra` lists what was removed.

    Raises:
        DecodeError: a text that may contain personal data cannot be parsed.
    """
    if table.name == REJECTS.name:
        rows = [_reject(row) for row in batch.to_pylist()]
        return pa.RecordBatch.from_pylist(rows, batch.schema)
    return strip_batch(batch, json_columns(table))[0]


def _reject(row: dict[str, Any]) -> dict[str, Any]:
    """A reject without personal data in its item; without the item, if it cannot be parsed."""
    try:
        return {**row, "raw": strip_text(row["raw"].encode()).decode()}
    except (DecodeError, UnicodeDecodeError):
        reason = "the item cannot be parsed, so nothing of it is kept: it may contain personal data"
        return {**row, "raw": "", "reason": reason}
