"""Splits JSON payloads into one column per path, a block of rows at a time; `payloads` calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from ledgerframes.decoding.pages import members_of
from ledgerframes.errors import InputError, visible
from ledgerframes.threads import together

T = TypeVar("T")
# In blocks, because the raw values of a whole history would be in memory together with its text.
_BLOCK_ROWS: Final = 25_000
_BLOCK_BYTES: Final = 1 << 27
_NAMELESS: Final = '""'  # how a path shows a member whose name is empty
_DEEPEST: Final = 12
_MOST_MEMBERS: Final = 500  # more than any template has: such an object is a map
_STEP: Final = re.compile(r"(?:[^.\\]|\\.|\\)+")  # up to a dot that no backslash precedes
_FEW: Final = 100
_LEAST: Final = 10_000  # rows of a part; with fewer, to wake a thread takes as long as it saves
#: The name of a thread for a part, or for a column.
THREAD: Final = "ledgerframes-part"
_ABSENT: Final = Raw(b"")
_objects: Final = msgspec.json.Decoder(dict[str, Raw])


def map_chunks(call: Callable[..., T], *columns: Any) -> list[T]:
    """The results of a call for each part of the rows, a thread each, in order; few rows are one part.

    Args:
        call: takes a part of each of the columns.
        columns: columns, or tables, of equal length.
    """
    rows = len(columns[0])
    size = max(-(-rows // pa.cpu_count()), _LEAST)
    starts = range(0, max(rows, 1), size)
    return together([partial(call, *(column.slice(start, size) for column in columns)) for start in starts], THREAD)


@dataclass
class Leaves:
    """The columns of the payloads read so far.

    Attributes:
        rows: the number of rows read.
        columns: the JSON of each dotted path, as (first row, values) for each block that has the path.
        members: the names of the members seen so far, by the path of their record.
        whole: paths with an object in some rows and another value in others; kept as JSON, not split.
    """

    rows: int = 0
    columns: dict[str, list[tuple[int, pa.Array]]] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def column(self, path: str) -> pa.ChunkedArray:
        """The JSON of one path, one value per row, null if a row has none."""
        blocks, done = [], 0
        for first, values in self.columns.get(path, ()):
            blocks += [pa.nulls(first - done, pa.string()), values]
            done = first + len(values)
        blocks.append(pa.nulls(self.rows - done, pa.string()))
        return pa.chunked_array(blocks, pa.string())


class _MixedError(Exception):
    """A path that was split also has a value that is not an object."""


def leaves(payloads: pa.ChunkedArray, wanted: Sequence[str] | None) -> Leaves:
    """Split payloads into one column per path.

    Args:
        payloads: JSON text, one per row; null rows have no fields.
        wanted: dotted paths; None for all.

    Raises:
        InputError: a payload is not JSON.
    """
    whole: set[str] = set()
    while True:
        try:
            # Without `wanted` each block is split by the members of those before it.
            if wanted is None:
                return _read(payloads, None, whole)
            return _merged(map_chunks(lambda part: _read(part, wanted, whole), payloads), whole)
        except _MixedError as mixed:
            # Earlier blocks are split at this path already, so all of them are read again.
            whole.add(str(mixed))


def _read(payloads: pa.ChunkedArray, wanted: Sequence[str] | None, whole: set[str]) -> Leaves:
    collected = Leaves(whole=whole)
    for block in _blocks(payloads):
        _split(collected, block, "", wanted, 0)
        collected.rows += len(block)
    return collected


def _merged(parts: list[Leaves], whole: set[str]) -> Leaves:
    """The columns of all rows from those of consecutive parts."""
    merged = Leaves(whole=whole)
    for part in parts:
        for path, blocks in part.columns.items():
            merged.columns.setdefault(path, []).extend((merged.rows + first, values) for first, values in blocks)
        merged.rows += part.rows
    for path in [path for path in merged.columns if any(other.startswith(f"{path}.") for other in merged.columns)]:
        # A path split in one part can be null in all rows of another, but not a value.
        if merged.columns.pop(path):
            raise _MixedError(path)
    return merged


def _blocks(payloads: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Blocks of payloads, each limited in rows and bytes."""
    if len(payloads) > _BLOCK_ROWS or (payloads.nbytes > _BLOCK_BYTES and len(payloads) > 1):
        middle = len(payloads) // 2
        yield from _blocks(payloads.slice(0, middle))
        yield from _blocks(payloads.slice(middle))
    else:
        yield payloads.combine_chunks()


def _split(found: Leaves, cells: pa.Array, path: str, wanted: Sequence[str] | None, depth: int) -> None:
    """Split values into their members if all are objects; otherwise keep them unchanged."""
    filled = pc.fill_null(pc.not_equal(cells, "null"), False)  # noqa: FBT003
    if not pc.any(filled, min_count=0).as_py():
        if path and cells.null_count < len(
            cells
        ):  # a member that is null somewhere is a column; one that is nowhere is not
            found.columns.setdefault(path, [])
        return
    splittable = depth < _DEEPEST and path not in found.whole and not (wanted is not None and path in wanted)
    objects = pc.starts_with(cells, "{") if path else is_record(cells)
    # Split only if every value is an object: in all rows a path is either split or kept as JSON.
    if splittable and pc.all(pc.or_kleene(pc.invert(filled), objects)).as_py():
        if found.columns.get(path):
            raise _MixedError(path)
        members = list(_members(found, cells, filled, path, wanted))
        if path and len(members) > _MOST_MEMBERS:
            raise _MixedError(path)
        for name, inner in members:
            # A dot in a member's own name must not look like a path.
            step = name.replace(".", r"\.") or _NAMELESS
            _split(found, inner, f"{path}.{step}" if path else step, wanted, depth + 1)
        if members:
            found.columns.pop(path, None)
            return
    if path:
        _keep(found, cells, path)


def _keep(found: Leaves, cells: pa.Array, path: str) -> None:
    if any(other.startswith(f"{path}.") for other in found.columns):
        raise _MixedError(path)
    found.columns.setdefault(path, []).append((found.rows, cells))


def _members(
    found: Leaves, cells: pa.Array, filled: pa.Array, path: str, wanted: Sequence[str] | None
) -> Iterator[tuple[str, pa.Array]]:
    """The values of each member, one per row."""
    requested = None if wanted is None else _below(path, wanted)
    names = requested if requested is not None else found.members.get(path) or _first_names(cells, filled)
    columns: Iterable[pa.Array] | None = members_of(cells, names, closed=requested is None)
    if columns is None:
        objects = _by_dictionary(cells.filter(filled))
        names = list(dict.fromkeys(name for members in objects for name in members)) if requested is None else requested
        rows = np.flatnonzero(filled.to_numpy(zero_copy_only=False))
        columns = (_column([members.get(name, _ABSENT) for members in objects], rows, len(cells)) for name in names)
    if requested is None:
        found.members[path] = list(dict.fromkeys([*found.members.get(path, ()), *names]))
    for name, column in zip(names, columns, strict=True):
        if requested is not None or column.null_count < len(column):
            yield name, column


def _first_names(cells: pa.Array, filled: pa.Array) -> list[str]:
    """The members of the first objects, which are mostly those of all; a read for known names is faster."""
    objects = _by_dictionary(cells.slice(0, _FEW).filter(filled.slice(0, _FEW)))
    return list(dict.fromkeys(name for members in objects for name in members))


def _by_dictionary(texts: pa.Array) -> list[dict[str, Raw]]:
    if not len(texts):
        return []
    try:
        objects = _objects.decode_lines(_joined(texts))
    except (msgspec.DecodeError, RecursionError):
        objects = []
    # One by one if a text is broken, or has line feeds of its own.
    return objects if len(objects) == len(texts) else [_object(text) for text in texts.to_pylist()]


def _object(text: str) -> dict[str, Raw]:
    try:
        return _objects.decode(text)
    except msgspec.DecodeError:
        raise InputError(f"payload {visible(text)[:80]!r} is not JSON; give payloads as `load_events` does") from None
    except RecursionError:
        raise InputError(f"payload {visible(text[:80])!r}… is nested too deep to be read; leave its row out") from None


def is_record(texts: pa.Array | pa.ChunkedArray) -> Any:
    """Whether each JSON text is an object; null is null."""
    # Usually there are no blanks before an object, and a regular expression over all texts is slow.
    plain = pc.starts_with(texts, "{")
    return plain if pc.all(plain, min_count=0).as_py() else pc.match_substring_regex(texts, r"^\s*\{")


def _joined(texts: pa.Array) -> pa.Buffer:
    """All texts joined by newlines, without making a Python object of each."""
    whole = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    return pc.binary_join(whole, "\n")[0].as_buffer()


def _column(values: list[Raw], rows: np.ndarray[Any, Any], count: int) -> pa.Array:
    """A column of JSON texts at their rows; an empty text means that the member is absent.

    The buffers are put together by hand: a Python list of texts would copy each value twice.
    """
    sizes = np.zeros(count, np.int64)
    sizes[rows] = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.zeros(count + 1, np.int32)
    np.cumsum(sizes, out=ends[1:])
    valid = pa.array(sizes > 0).buffers()[1]
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def _below(path: str, wanted: Sequence[str]) -> list[str]:
    """The members of a path that the caller wants."""
    prefix = f"{path}." if path else ""
    steps = (_STEP.match(member, len(prefix)) for member in wanted if member.startswith(prefix))
    names = (step[0].replace(r"\.", ".") for step in steps if step is not None)
    return list(dict.fromkeys("" if name == _NAMELESS else name for name in names))
