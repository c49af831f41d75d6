"""Lakes that are filled from scans that prune: they say where they begin, go on, and name a gap."""

import re

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import BeginsLateWarning
from tests.moving_window import MovingWindow, place
from tests.rigs.servers import connected, replica

pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")


@pytest.fixture
def net(hour):
    """Another server of that ledger, which prunes by itself."""
    with connected(replica(hour.sandbox)) as other:
        yield other


def ids(net, start=0, end=None):
    return {update.update_id for update in net.sandbox.world.updates[start:end]}


def stored(store, **options):
    return set(store.load("updates", columns=["update_id"], **options).update_id)


def test_a_new_lake_of_a_pruned_scan_says_where_it_begins_and_one_of_what_lies_before_is_refused(net, store, tmp_path):
    begin = place(net, 400)
    net.sandbox.prune(before=begin)

    with pytest.warns(BeginsLateWarning) as warned:
        reports = [store.sync(net), store.sync(net)]

    first = store.coverage().iloc[0]
    assert (first.from_beginning, first.begins_late) == (False, pd.Timestamp(begin[1]))
    assert {report.begins_late for report in reports} == {begin[1]}
    assert "begins" in str(reports[0])
    assert len(warned) == 1
    frame = store.load("updates")
    assert set(frame.update_id) == ids(net, 400)
    assert (frame.attrs["complete"], frame.attrs["from_beginning"]) == (True, False)
    assert frame.attrs["begins_late"] == begin[1]
    assert frame.attrs["range"].startswith(f"{begin[1]} of migration {begin[0]} (the first update there) to ")

    other = lf.open_store(tmp_path / "other")
    for end in (place(net, 300), place(net, 300)[1], place(net, 390)):
        with pytest.raises(lf.errors.PartialResultError, match="after the requested end"):
            other.sync(net, end=end)
    for start in ("begin", (0, "2001-01-01")):
        with pytest.raises(lf.errors.PartialResultError, match=begin[1][:19]):
            other.sync(net, start=start)
    nothing = pytest.raises(lf.errors.PartialResultError, match="shows no update")
    with lf.sandbox(seed=7, updates=0) as empty, nothing:
        other.sync(empty, start="begin")


def test_a_lake_that_covers_nothing_has_no_complete_rows(net, store):
    def move(number):
        if number == 3:
            net.sandbox.prune(before=place(net, 400))

    with MovingWindow(net, move) as scan:
        store.sync(lf.connect(scan_url=scan.scan_url), end=place(net, 300))

    with pytest.raises(lf.errors.PartialResultError, match="nothing of the history is covered"):
        store.load("updates")
    assert not store.load("updates", allow_partial=True).attrs["complete"]


def test_a_lake_behind_the_window_goes_on_and_names_the_gap(net, store):
    store.sync(net, end=place(net, 200))
    net.sandbox.prune(before=place(net, 400))

    behind = store.sync(net)

    assert behind.complete
    assert f"gaps     {'; '.join(behind.gaps)}: servers show nothing there; they may have pruned it" in str(behind)
    with pytest.raises(lf.errors.PartialResultError, match=r"does not cover.*after it with start=\(\d") as refused:
        store.load("updates")
    assert stored(store, allow_partial=True) == ids(net, 0, 200) | ids(net, 400)
    migration_id, time = re.search(r"start=\((\d+), '(.*?)'", str(refused.value)).groups()
    for start in ((int(migration_id), time), place(net, 400)):
        assert stored(store, start=start) == ids(net, 400)
    again = store.sync(net)
    assert (again.commits, sum(again.rows.values())) == (0, 0)
    net.sandbox.prune()
    assert not store.sync(net).gaps
    assert stored(store) == ids(net)  # another scan, or the same one, has it after all


@pytest.mark.parametrize("sample", [3, None])
def test_verify_names_what_the_store_lacks_and_does_not_compare_what_is_pruned(hour, net, store, sample):
    begin = place(net, 500)
    net.sandbox.prune(before=begin)
    store.sync(net)
    alike, behind = store.verify(net, sample=sample), store.verify(hour, sample=sample)
    store.sync(hour)
    ahead = store.verify(net, sample=sample)
    both = lf.connect(scan_url=[net.sandbox.scan_url, hour.sandbox.scan_url])
    whole, compared = store.verify(both, sample=sample), lf.cross_check(both, hour, start="begin")

    assert (alike.agree, alike.lacks) == (True, "")
    assert (behind.agree, behind.differing) == (False, 0)
    assert all(f"migration {one} after" in str(behind) for one in range(begin[0] + 1))
    assert (ahead.agree, ahead.differing) == (True, 0)
    assert begin[1] in ahead.lacks
    assert (whole.agree, whole.lacks) == (True, "")
    assert (compared.agree, compared.compared) == (True, 600)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("beside", [0, -1, 1, 60])
def test_objects_cover_what_pages_have_pruned_at_and_behind_the_border_of_a_migration(beside, store):
    with lf.sandbox(days=10, rounds_per_day=2) as net:
        updates = net.sandbox.world.updates
        border = next(number for number, update in enumerate(updates) if update.migration_id == 2)
        net.sandbox.prune(before=place(net, border + beside))
        report = store.sync(net, source="objects", page_size=50)

        assert report.begins_late is None
        assert store.coverage().from_beginning.iloc[0]
        assert stored(store, start="begin") == ids(net)
        assert all(store.coverage().up_to.dropna() < pd.Timestamp("2026-01-01", tz="UTC"))
        assert store.check(full=True)


def test_a_migration_whose_end_was_pruned_is_covered_as_far_as_objects_reach(store):
    """It may have updates until a day after the first one of the next migration."""
    with lf.sandbox(seed=7, updates=1500, prune_before="2025-03-03T11:00") as net:
        report = store.sync(net, source="objects")

        assert (report.complete, report.gaps, stored(store)) == (True, (), ids(net))
        assert store.coverage().up_to[0] == store.coverage().settled[0] == pd.Timestamp("2025-03-03T14:08:59.999999Z")
