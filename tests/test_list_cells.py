"""Lists in pandas frames are tuples, equal to what Arrow holds, whatever their lengths and wherever a chunk was cut."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from ledgerframes import frames
from ledgerframes.frames import shape

TEXTS = pa.list_(pa.string())


def made_up(rng: random.Random, distinct: int, *, nulls: bool) -> pa.ChunkedArray:
    def cell():
        length = rng.choice([0, 1, 1, 2, 3, rng.randrange(20)])
        texts = [f"party {rng.randrange(distinct)}" if not nulls or rng.random() > 0.1 else None for _ in range(length)]
        return texts if rng.random() > 0.1 else None

    chunks = [pa.array([cell() for _ in range(rng.choice([0, 1, 200]))], TEXTS) for _ in range(rng.randrange(4))]
    return pa.chunked_array(chunks, type=TEXTS)


@pytest.mark.parametrize("together", [frames._TOGETHER, 0, 2_000])
@pytest.mark.parametrize(("distinct", "nulls"), [(1, False), (50, True), (5_000, False)])
def test_cells_are_the_lists_as_tuples(distinct, nulls, together, monkeypatch):
    monkeypatch.setattr(frames, "_TOGETHER", together)
    rng = random.Random(distinct)
    for number in range(30):
        column = made_up(rng, distinct, nulls=nulls)
        if number % 2:
            column = column.slice(rng.randrange(9), rng.randrange(300))

        cells = shape(pa.table({"parties": column}), as_="pandas")["parties"]

        assert cells.dtype == object
        assert cells.tolist() == [None if texts is None else tuple(texts) for texts in column.to_pylist()]
