"""How the history is cut into chunks: each has enough events, and none lies across the end of what a table has."""

from itertools import pairwise

import pytest

from ledgerframes.store.derive import chunks
from ledgerframes.store.derive.progress import Basis


@pytest.mark.long
def test_chunks_follow_each_other_and_end_where_a_table_does(store, net, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", 300)
    store.sync(net, progress=False)
    root = store._lake.at()
    reader = chunks.HistoryReader(root)
    (interval, *_) = Basis.of(root).intervals
    parts = list(reader.parts(interval, [()]))
    place = parts[1].lo + (parts[1].hi - parts[1].lo) // 2

    assert len(parts) > 3
    assert all(former.hi == latter.lo for former, latter in pairwise(parts))
    counts = [sum(rows.num_rows for rows in reader.rows(part)[1:]) for part in parts]
    assert sum(counts) == sum(rows.num_rows for rows in reader.rows(interval)[1:])
    assert min(counts[:-1]) > 100
    assert place in {part.hi for part in reader.parts(interval, [[interval._replace(hi=place)]])}
