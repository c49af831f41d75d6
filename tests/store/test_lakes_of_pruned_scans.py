"""Lakes that are filled from scans that prune: they say where they begin, go on, and name a gap."""

from contextlib import suppress
from random import Random

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import BeginsLateWarning
from ledgerframes.sandbox.world import timestamps
from ledgerframes.timestamps import format_timestamp
from tests.asking import forwarded
from tests.moving_window import MovingWindow, place
from tests.rigs.servers import connected, replica
from tests.transport.hostile_server import HostileServer

UPDATES = 600
pytestmark = pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")


@pytest.fixture(scope="module")
def ledger():
    with lf.sandbox(seed=7, updates=UPDATES) as net:
        yield net


@pytest.fixture
def net(ledger):
    """Another server of it, which prunes by itself."""
    with connected(replica(ledger.sandbox)) as other:
        yield other


def ids(net, start=0, end=None):
    return {update.update_id for update in net.sandbox.world.updates[start:end]}


def stored(store, **options):
    return set(store.load("updates", columns=["update_id"], **options).update_id)


def test_a_new_lake_of_a_pruned_scan_says_where_it_begins(net, store):
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


@pytest.mark.parametrize("start", ["begin", (0, "2001-01-01")], ids=["begin", "place"])
def test_an_explicit_start_before_what_is_there_is_refused_by_name(net, store, start):
    begin = place(net, 400)
    net.sandbox.prune(before=begin)

    with pytest.raises(lf.errors.PartialResultError, match=begin[1][:19]):
        store.sync(net, start=start)
    store.sync(net)
    with pytest.raises(lf.errors.PartialResultError, match=begin[1][:19]):
        store.load("updates", start=start)
    some = store.load("updates", start=start, allow_partial=True)

    assert (some.attrs["complete"], some.attrs["begins_late"]) == (False, begin[1])
    assert set(some.update_id) == ids(net, 400)


def test_a_start_is_refused_where_a_scan_has_pruned_everything(store):
    with lf.sandbox(seed=7, updates=0) as net:
        with pytest.raises(lf.errors.PartialResultError, match="shows no update"):
            store.sync(net, start="begin")
        assert store.sync(net).complete


def test_an_end_before_what_is_there_is_refused_though_no_start_is_named(net, store):
    net.sandbox.prune(before=place(net, 400))
    store.sync(net)

    with pytest.raises(lf.errors.PartialResultError, match="ends before that"):
        store.load("updates", end=place(net, 300))
    assert not store.load("updates", end=place(net, 300), allow_partial=True).attrs["complete"]


@pytest.mark.parametrize(("end", "begin"), [(300, 400), (220, 240)], ids=["a migration before", "the same migration"])
def test_a_first_sync_that_ends_before_what_is_there_is_refused(end, begin, net, store):
    net.sandbox.prune(before=place(net, begin))

    for named in (place(net, end), place(net, end)[1]):
        with pytest.raises(lf.errors.PartialResultError, match="after the requested end"):
            store.sync(net, end=named)


def test_a_lake_that_covers_nothing_has_no_complete_rows(net, store):
    def move(number):
        if number == 3:
            net.sandbox.prune(before=place(net, 400))

    with MovingWindow(net, move) as scan:
        store.sync(lf.connect(scan_url=scan.scan_url), end=place(net, 300))

    with pytest.raises(lf.errors.PartialResultError, match="nothing of the history is covered"):
        store.load("updates")
    assert not store.load("updates", allow_partial=True).attrs["complete"]


def test_a_lake_from_ledger_begin_says_so_and_asks_for_no_more(net, store):
    store.sync(net)

    assert store.coverage().from_beginning.iloc[0]
    assert store.coverage().begins_late.isna().all()
    assert store.load("updates", start="begin").attrs["from_beginning"] is True
    net.sandbox.prune(before=place(net, 550))
    store.sync(net)
    assert store.load("updates", start="begin").attrs["from_beginning"] is True  # a pruned scan lowers nothing


def test_an_up_to_date_lake_goes_on_when_the_scan_prunes(store):
    with lf.sandbox(seed=7, updates=300) as net:
        store.sync(net)
        for pruned in (1, 200, 335):
            net.sandbox.prune(before=place(net, pruned))
            net.sandbox.advance(updates=40)
            assert store.sync(net).complete
            assert stored(store) == ids(net)
    assert store.check(full=True)


def test_a_lake_behind_the_window_goes_on_and_names_the_gap(net, store):
    store.sync(net, end=place(net, 200))
    net.sandbox.prune(before=place(net, 400))

    store.sync(net)

    with pytest.raises(lf.errors.PartialResultError, match="does not cover"):
        store.load("updates")
    assert stored(store, allow_partial=True) == ids(net, 0, 200) | ids(net, 400)
    assert stored(store, start=place(net, 400)) == ids(net, 400)
    again = store.sync(net)
    assert (again.commits, sum(again.rows.values())) == (0, 0)
    net.sandbox.prune()
    store.sync(net)
    assert stored(store) == ids(net)  # another scan, or the same one, has it after all


def test_another_scan_with_a_longer_window_gives_what_one_has_pruned(net, store):
    net.sandbox.prune(before=place(net, 400))
    with net.sandbox.replica(prune_before=place(net, 100)) as other:
        both = lf.connect(scan_url=[net.sandbox.scan_url, other.scan_url])
        store.sync(net)
        store.sync(both)

        assert stored(store) == ids(net, 100)
        assert store.coverage().begins_late.iloc[0] == pd.Timestamp(place(net, 100)[1])
    net.sandbox.prune()
    store.sync(net)
    assert store.coverage().from_beginning.iloc[0]
    assert store.coverage().begins_late.isna().all()


def test_another_network_is_refused_though_it_prunes(store, net):
    store.sync(net, end=place(net, 200))
    with lf.sandbox(seed=8, updates=UPDATES) as other:
        other.sandbox.prune(before=place(other, 500))
        with pytest.raises(lf.errors.StoreError, match="not the network"):
            store.sync(other)


@pytest.mark.parametrize("history", [True, False], ids=["beside the history", "alone"])
def test_one_pruned_update_does_not_stop_snapshots(net, store, history):
    store.sync(net, tables=["updates", "licenses"] if history else ["licenses"])
    net.sandbox.prune(before=place(net, 1))

    store.sync(net, tables=["licenses"])

    assert store.load("licenses").loaded_at.nunique() == 2
    with lf.sandbox(seed=8, updates=50) as other, pytest.raises(lf.errors.StoreError, match="not the network"):
        store.sync(other, tables=["licenses"])


@pytest.mark.parametrize("sample", [3, None])
def test_verify_names_what_the_store_lacks_and_does_not_compare_what_is_pruned(net, store, sample):
    begin = place(net, 500)
    net.sandbox.prune(before=begin)
    store.sync(net)
    alike = store.verify(net, sample=sample)
    net.sandbox.prune()
    behind = store.verify(net, sample=sample)
    store.sync(net)
    net.sandbox.prune(before=begin)
    ahead = store.verify(net, sample=sample)

    assert (alike.agree, alike.lacks) == (True, "")
    assert (behind.agree, behind.differing) == (False, 0)
    assert all(f"migration {one} after" in str(behind) for one in range(begin[0] + 1))
    assert (ahead.agree, ahead.differing) == (True, 0)
    assert begin[1] in ahead.lacks


@pytest.mark.parametrize("sample", [3, None])
def test_of_several_scans_one_that_has_it_all_is_compared(sample, net, store):
    store.sync(net)
    with net.sandbox.replica(prune_before=place(net, 500)) as other:
        both = lf.connect(scan_url=[other.scan_url, net.sandbox.scan_url])
        verified, compared = store.verify(both, sample=sample), lf.cross_check(both, net, start="begin")

    assert (verified.agree, verified.lacks) == (True, "")
    assert (compared.agree, compared.compared) == (True, UPDATES)


@pytest.mark.long
def test_objects_give_what_the_pages_have_pruned(store):
    with lf.sandbox(days=4) as net:
        updates = len(net.sandbox.world.updates)
        net.sandbox.prune(before=place(net, updates - 60))
        report = store.sync(net, source="objects", page_size=50)

        assert report.begins_late is None
        assert store.coverage().from_beginning.iloc[0]
        assert stored(store, start="begin") == ids(net)
        assert store.check(full=True)


@pytest.mark.long
def test_a_lake_of_opened_objects_goes_on_with_pages_of_a_pruned_scan(store, tmp_path):
    with lf.sandbox(days=4) as net:
        updates = len(net.sandbox.world.updates)
        folder = tmp_path / "objects"
        folder.mkdir()
        for ref in net.scan.iter_update_objects(after="2020-01-01", up_to="2030-01-01"):
            net.scan.download_object(ref, folder / ref.url.rpartition("/")[2])
        with lf.open_objects(folder) as objects:
            store.sync(objects)
        held = len(stored(store))
        net.sandbox.prune(before=place(net, held - 20))
        store.sync(net)

        assert 20 < held < updates
        assert stored(store, start="begin") == ids(net)


def covered(store, net):
    """The ids of the updates of a ledger that lie where a store says that it has everything."""
    parts = [(one.migration_id, one.after, one.up_to) for one in store.coverage().itertuples()]
    found = set()
    for update in net.sandbox.world.updates:
        at = pd.Timestamp(timestamps.exact(update.record_time))
        if any(update.migration_id == one and not at <= after and not at > up_to for one, after, up_to in parts):
            found.add(update.update_id)
    return found


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("moves", "workers"),
    [
        ({8: 400}, 1), ({12: 200}, 4), ({9: 250, 15: UPDATES}, 1), ({5: 60}, 1), ({20: 350}, 4), ({30: 598}, 1),
    ],
)  # fmt: skip
def test_what_is_pruned_while_a_first_sync_reads_is_covered_by_nothing(moves, workers, net, store):
    migration_id, newest = place(net, -1)
    everything = (migration_id, pd.Timestamp(newest) + pd.Timedelta("1us"))

    def move(number):
        if (to := moves.get(number)) is not None:
            net.sandbox.prune(before=everything if to == UPDATES else place(net, to))

    with MovingWindow(net, move) as scan:
        store.sync(lf.connect(scan_url=scan.scan_url), page_size=50, workers=workers)

    held = stored(store, allow_partial=True)
    assert covered(store, net) == held
    begun = next(iter(ids(net, 0, 1))) in held
    assert store.coverage().from_beginning.iloc[0] == begun
    assert store.coverage().begins_late.isna().iloc[0] == begun
    assert store.check(full=True)


@pytest.mark.long(quick=6)
@pytest.mark.parametrize("seed", [1, 5, 30, 33, 34, 42, 45, 51, *range(6, 26)])
def test_an_address_that_scans_with_two_windows_share_covers_nothing_that_is_not_stored(seed, net, store):
    draw = Random(seed)
    part, begin = draw.choice([0.1, 0.3, 0.5, 0.8]), draw.choice([60, 200, 450, 580, 595])
    size = draw.choice([20, 50, 1000])
    with replica(net.sandbox) as pruned:
        pruned.prune(before=place(net, begin))

        def forward(heard):
            return forwarded((pruned if draw.random() < part else net.sandbox).url, heard)

        with HostileServer(forward) as gateway:
            for _ in range(3):
                with suppress(lf.errors.StoreError, lf.errors.PagingError, lf.errors.PartialResultError):
                    store.sync(lf.connect(scan_url=f"{gateway.url}/api/scan"), page_size=size, workers=1)
                assert covered(store, net) <= stored(store, allow_partial=True)


@pytest.mark.parametrize(("page_size", "step"), [(50, 1), (50, 20), (1000, 7)])
def test_a_lake_of_a_window_that_moves_before_every_page_says_where_it_begins(page_size, step, store, net):
    net.sandbox.prune(before=place(net, 450))
    with MovingWindow(net, lambda page: net.sandbox.prune(before=place(net, min(450 + step * page, 595)))) as scan:
        report = store.sync(lf.connect(scan_url=scan.scan_url), page_size=page_size)

    first = store.load("updates", allow_partial=True).record_time.iloc[0]
    assert (report.begins_late, store.coverage().begins_late.iloc[0]) == (
        format_timestamp(int(first.value // 1000)),
        first,
    )
    assert not any(store.coverage().from_beginning)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("beside", [0, -1, 1])
def test_objects_cover_what_is_pruned_at_the_border_of_a_migration(beside, store):
    with lf.sandbox(days=4, seed=7) as net:
        updates = net.sandbox.world.updates
        border = next(number for number, update in enumerate(updates) if update.migration_id == 2)
        net.sandbox.prune(before=place(net, border + beside))
        store.sync(net, source="objects", page_size=50)

        assert stored(store, start="begin") == ids(net)
        assert all(store.coverage().up_to.dropna() < pd.Timestamp("2026-01-01", tz="UTC"))


def test_objects_of_short_migrations_leave_none_out(store):
    with lf.sandbox(seed=7, updates=600) as net:
        numbers = [number for number, update in enumerate(net.sandbox.world.updates) if update.migration_id == 2]
        net.sandbox.prune(before=place(net, numbers[20]))
        store.sync(net, source="objects")

        assert stored(store, allow_partial=True) == ids(net)
        # That none of these got more updates, though another had begun, is proven by nothing.
        with pytest.raises(lf.errors.PartialResultError, match="does not cover migration 0 after"):
            store.load("updates", start="begin")


def test_a_migration_that_was_pruned_unread_is_not_covered(store):
    with lf.sandbox(seed=7, updates=600) as net:
        updates = net.sandbox.world.updates
        first = {one: [update.migration_id for update in updates].index(one) for one in (1, 2)}
        with connected(replica(net.sandbox, lag=len(updates) - first[1] + 30)) as early:
            store.sync(early)
        net.sandbox.prune(before=place(net, first[2] + 20))
        store.sync(net)
        parts = [(10, first[1] - 5), (10, first[1] + 20), (first[1], first[1] + 20), (first[1] - 5, first[1])]
        for start, end in parts:
            part = {"start": place(net, start), "end": place(net, end)}
            with pytest.raises(lf.errors.PartialResultError, match=r"the store does not cover migration [01]"):
                store.load("updates", **part)
            assert not store.load("updates", allow_partial=True, **part).attrs["complete"]
        read = first[1] - 60
        assert stored(store, start=place(net, 10), end=place(net, read)) == ids(net, 10, read)
