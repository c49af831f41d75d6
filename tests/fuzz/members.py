"""Holds the compiled `members` and the Python path equal on broken payloads; `tests.fuzz.decoders` calls it."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa

from ledgerframes.decoding.pages import PYTHON, VARIABLE, members_of
from ledgerframes.models.payloads.columns import leaves
from tests.fuzz.mutations import NAMES, Members, containers, mutate, parse, write

LONG = 20_000
#: With it the Python path reads everything.
BY_PYTHON: Final = {VARIABLE: PYTHON}
BLANKS = (b" ", b"\n", b"\r\n", b"\t", b"\x0b", b"\xc2\xa0")


class UnequalMembersError(Exception):
    """The two ways differ."""


def case(items: Sequence[bytes], rng: random.Random) -> str:
    """One column of payloads, split in both ways; gives what became of it in a word."""
    cells = column(items, rng)
    wanted = None if rng.random() < 0.5 else paths(cells, rng)
    compare(cells, wanted)
    names = sorted({path.partition(".")[0] for path in wanted or ()} or {"a"})
    return "members left" if members_of(cells.combine_chunks(), names, closed=False) is None else "members"


def compare(cells: pa.ChunkedArray, wanted: Sequence[str] | None) -> None:
    """Both ways give the same columns in the same order, or the same error.

    Raises:
        UnequalMembersError: they do not.
    """
    ours = outcome(cells, wanted)
    with patch.dict(os.environ, BY_PYTHON):
        theirs = outcome(cells, wanted)
    if ours != theirs:
        raise UnequalMembersError(f"{wanted}: {cells.cast(pa.binary()).to_pylist()}: {ours}\nnot {theirs}"[:4000])


def outcome(cells: pa.ChunkedArray, wanted: Sequence[str] | None) -> Any:
    """The column of every path, as bytes, since not all texts are Unicode; or the error."""
    try:
        found = leaves(cells, wanted)
    except (ValueError, RecursionError) as error:
        return type(error), str(error)
    for path in found.columns:
        found.column(path).cast(pa.binary()).validate(full=True)
    return [(path, found.column(path).cast(pa.binary()).to_pylist()) for path in found.columns]


def column(items: Sequence[bytes], rng: random.Random) -> pa.ChunkedArray:
    """Objects of some items, a few of them broken, some missing, and a slice of all that."""
    objects = [
        place for item in rng.choices(items, k=2) for place in containers(parse(item)) if isinstance(place, Members)
    ]
    chosen = [rng.choice(objects)] * 3 if rng.random() < 0.5 else rng.choices(objects, k=rng.randrange(1, 6))
    texts: list[bytes | None] = [write(place).encode("utf-8", "surrogatepass") for place in chosen]
    for at, text in enumerate(texts):
        kind = rng.random()
        if kind < 0.15:
            texts[at] = mutate(text or b"", rng, items)[:LONG]
        elif kind < 0.25:
            texts[at] = rng.choice((None, b"null", b"{}", b"", b" {}", b"[]", b'{"a"', b'{"a":1'))
        elif kind < 0.35 and text:
            where = rng.randrange(len(text) + 1)
            texts[at] = text[:where] + rng.choice(BLANKS) + text[where:]
    first = rng.randrange(len(texts))
    return pa.chunked_array([pa.array(texts, pa.binary()).view(pa.string()).slice(first)])


def paths(cells: pa.ChunkedArray, rng: random.Random) -> list[str]:
    """Some paths that there are, and some that there are not."""
    with patch.dict(os.environ, BY_PYTHON):
        try:
            known = [*leaves(cells, None).columns]
        except (ValueError, RecursionError):
            known = []
    some = rng.sample(known, min(len(known), rng.randrange(4)))
    return list(dict.fromkeys([*some, *rng.sample([name for name in NAMES if name], rng.randrange(1, 3))]))
