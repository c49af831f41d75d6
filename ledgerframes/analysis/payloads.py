"""JSON payloads taken apart into a column for each path, a piece at a time; `expand` and the catalogue stand on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, Raw, UnsetType

from ledgerframes.decoding.columns import Rows, raw_json

_PIECE: Final = 50_000
_DEEPEST: Final = 12
_STEP: Final = re.compile(r"(?:[^.\\]|\\.|\\)+")  # up to a dot that no backslash stands before
_objects: Final = msgspec.json.Decoder(list[dict[str, Raw] | None])


@dataclass
class Leaves:
    """The columns found.

    Attributes:
        rows: how many rows are read.
        columns: for each dotted path its JSON, as (first row, values) for each piece that has it.
        whole: paths that hold an object in some rows and something else in others: kept as JSON, undivided.
    """

    rows: int = 0
    columns: dict[str, list[tuple[int, pa.Array]]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def column(self, path: str) -> pa.ChunkedArray:
        """One path's JSON, a row each, null where a row has none."""
        pieces, done = [], 0
        for first, values in self.columns.get(path, ()):
            pieces += [pa.nulls(first - done, pa.string()), values]
            done = first + len(values)
        pieces.append(pa.nulls(self.rows - done, pa.string()))
        return pa.chunked_array(pieces, pa.string())


class _MixedError(Exception):
    """A path that was taken apart holds something else, too."""


def leaves(payloads: pa.ChunkedArray, wanted: Sequence[str] | None) -> Leaves:
    """Take payloads apart.

    Args:
        payloads: JSON text, a row each; null rows have no fields.
        wanted: dotted paths; None for all there are.
    """
    whole: set[str] = set()
    while True:
        found = Leaves(whole=whole)
        try:
            for start in range(0, len(payloads), _PIECE):
                piece = payloads.slice(start, _PIECE).combine_chunks()
                _divide(found, piece, "", wanted, 0)
                found.rows += len(piece)
        except _MixedError as mixed:
            whole.add(str(mixed))
        else:
            return found


def _divide(found: Leaves, cells: pa.Array, path: str, wanted: Sequence[str] | None, depth: int) -> None:
    """Divide values into their members where all are objects, else keep them."""
    filled = pc.fill_null(pc.not_equal(cells, "null"), False)  # noqa: FBT003
    if not pc.any(filled, min_count=0).as_py():
        if path and cells.null_count < len(cells):  # null is a value; a member that is nowhere is none
            found.columns.setdefault(path, [])
        return
    begins = pc.utf8_slice_codeunits(cells.filter(filled), 0, 1)
    divisible = depth < _DEEPEST and path not in found.whole and not (wanted is not None and path in wanted)
    if divisible and pc.all(pc.equal(begins, "{")).as_py():
        if found.columns.get(path):
            raise _MixedError(path)
        members = list(_members(cells, filled, path, wanted))
        for name, inner in members:
            step = name.replace(".", r"\.")
            _divide(found, inner, f"{path}.{step}" if path else step, wanted, depth + 1)
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
    cells: pa.Array, filled: pa.Array, path: str, wanted: Sequence[str] | None
) -> Iterator[tuple[str, pa.Array]]:
    """Each member's values, a row each."""
    joined = b"[" + b",".join(cells.filter(filled).cast(pa.binary()).to_pylist()) + b"]"
    rows = np.flatnonzero(filled.to_numpy(zero_copy_only=False))
    names = None if wanted is None else _below(path, wanted)
    if names is not None:
        yield from _named_members(joined, names, rows, len(cells))
        return
    objects = _objects.decode(joined)
    for name in dict.fromkeys(name for one in objects for name in one or ()):
        values = [one.get(name) for one in objects if one is not None]
        yield name, _column(values, None, rows, len(cells))


def _named_members(
    joined: bytes, names: Sequence[str], rows: np.ndarray[Any, Any], count: int
) -> Iterator[tuple[str, pa.Array]]:
    """As `_members`, for members known by name: the others are passed over, which is quicker."""
    fields = [(f"f{number}", Raw | UnsetType, UNSET) for number in range(len(names))]
    rename = {f"f{number}": name for number, name in enumerate(names)}
    struct = msgspec.defstruct("Members", fields, rename=rename)
    objects = msgspec.json.decode(joined, type=list[struct])  # type: ignore[valid-type]
    for number, name in enumerate(names):
        yield name, _column(list(map(attrgetter(f"f{number}"), objects)), UNSET, rows, count)


def _column(values: list[Any], absent: Any, rows: np.ndarray[Any, Any], count: int) -> pa.Array:
    there = [value is not absent for value in values]
    if all(there):
        return raw_json(values, Rows(rows, count))
    places = rows[np.asarray(there, bool)]
    return raw_json([value for value in values if value is not absent], Rows(places, count))


def _below(path: str, wanted: Sequence[str]) -> list[str]:
    """The members of a path that are asked for."""
    prefix = f"{path}." if path else ""
    steps = (_STEP.match(one, len(prefix)) for one in wanted if one.startswith(prefix))
    return list(dict.fromkeys(step[0].replace(r"\.", ".") for step in steps if step is not None))
