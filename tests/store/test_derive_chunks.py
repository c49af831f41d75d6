"""How the history is cut into chunks: a few files are planned at once, however long a month is."""

from itertools import pairwise

import pytest

from ledgerframes.store.derive import chunks
from ledgerframes.store.derive.progress import Basis


@pytest.fixture
def view(store, net):
    store.sync(net, page_size=40, commit_bytes=60_000, workers=1, progress=False)
    return store._lake.view()


def parts_of(view):
    reader = chunks.HistoryReader(view)
    return [part for interval in Basis.of(view).intervals for part in reader.parts(interval, [()])]


@pytest.mark.long
def test_parts_do_not_depend_on_how_much_is_planned_at_once(view, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", 300)
    wanted = parts_of(view)
    monkeypatch.setattr(chunks, "_PLANNED_AT_ONCE", 1)
    assert parts_of(view) == wanted
    assert len(wanted) > 10


@pytest.mark.long
def test_what_is_planned_at_once_is_a_few_files_of_a_month(view, monkeypatch):
    monkeypatch.setattr(chunks, "_PLANNED_AT_ONCE", 100)
    reader = chunks.HistoryReader(view)
    (interval, *_) = Basis.of(view).intervals
    planned = [reader._times(window)[0] for window in reader._windows(interval)]
    files = [file.rows for file in view.tables["updates"].files.listed.values()]
    assert max(map(len, planned)) <= 100 + max(files) < sum(map(len, planned)) / 2
    assert all(former.max() < latter.min() for former, latter in pairwise(planned))
