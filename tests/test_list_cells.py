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


@pytest.mark.parametrize("distinct", [1, 3, 50, 5_000])
@pytest.mark.parametrize("nulls", [False, True], ids=["texts", "texts and nulls"])
def test_cells_are_the_lists_as_tuples(distinct, nulls):
    rng = random.Random(distinct)
    for number in range(30):
        column = made_up(rng, distinct, nulls=nulls)
        if number % 2:
            column = column.slice(rng.randrange(9), rng.randrange(300))

        cells = shape(pa.table({"parties": column}), as_="pandas")["parties"]

        assert cells.dtype == object
        assert cells.tolist() == [None if texts is None else tuple(texts) for texts in column.to_pylist()]


@pytest.mark.parametrize("together", [0, 2_000])
def test_cells_are_the_same_where_chunks_are_too_large_to_be_taken_together(monkeypatch, together):
    column = pa.chunked_array([made_up(random.Random(seed), 50, nulls=False).combine_chunks() for seed in range(20)])
    whole = shape(pa.table({"parties": column}))

    monkeypatch.setattr(frames, "_TOGETHER", together)

    assert shape(pa.table({"parties": column}))["parties"].tolist() == whole["parties"].tolist()
    assert whole["parties"].tolist() == [None if texts is None else tuple(texts) for texts in column.to_pylist()]
