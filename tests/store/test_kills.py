"""Syncs killed at random instants: at the end every row is there exactly once, and no reader ever saw a part."""

import pytest

import ledgerframes as lf
from tests.store.appearing import Appearing
from tests.store.conftest import assert_whole
from tests.store.kill_outputs import kill_outputs
from tests.store.killed_tables import FROM_OBJECTS, UPDATES, VERDICTS
from tests.store.kills import kill_syncs
from tests.store.witness import Witness, lies_in, parts_of


@pytest.mark.parametrize(
    ("kills", "updates"),
    [(4, 300), pytest.param(12, 500, marks=pytest.mark.long), pytest.param(200, 6_000, marks=pytest.mark.soak)],
    ids=["short", "longer", "long"],
)
def test_killed_syncs_leave_every_row_once(tmp_path, kills, updates):
    assert kill_syncs(tmp_path, kills=kills, updates=updates, seed=5).kills == kills


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ledgerframes.errors.BeginsLateWarning")
def test_killed_syncs_over_a_moving_window_keep_what_they_stored_and_name_what_they_missed(tmp_path):
    killed = kill_syncs(tmp_path, kills=10, updates=300, seed=3, pruning=True)

    assert killed.kills == 10
    assert killed.missed > 0


def test_what_lies_in_a_part_that_reaches_to_the_end_of_its_migration_counts_as_covered(store):
    with Appearing(seed=5, updates=90, servers=1) as ledger:
        ledger.show_everything()
        store.sync(lf.connect(scan_url=ledger.urls()))
        coverage = store.coverage()

    assert coverage.to_end.any()
    assert all(lies_in(parts_of(coverage, "up_to"), *place) for place in UPDATES.places(ledger.truth).values())


def test_a_table_that_was_made_and_has_no_commit_yet_is_not_there_for_a_reader(tmp_path):
    store = lf.open_store(tmp_path)
    with store._lake.writing():
        store._lake.root().table.create()

    witness = Witness(tmp_path, [])
    witness.look()

    assert list((tmp_path / "updates" / "_delta_log").glob("*.json"))
    assert witness.looks == 0
    with pytest.raises(lf.errors.StoreError, match="the store has no updates; sync it"):
        store.sql("select 1 from updates")


@pytest.mark.long
def test_killed_syncs_of_verdicts_leave_every_row_once(tmp_path):
    assert kill_syncs(tmp_path, kills=3, updates=150, seed=7, of=VERDICTS).kills == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("kills", "updates"), [(8, 400), pytest.param(20, 1_000, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_killed_syncs_from_objects_leave_every_row_once(tmp_path, kills, updates):
    assert kill_syncs(tmp_path, kills=kills, updates=updates, seed=9, of=FROM_OBJECTS).kills == kills


@pytest.mark.long
@pytest.mark.parametrize("kills", [6, pytest.param(40, marks=pytest.mark.soak)], ids=["short", "long"])
def test_killed_derives_stars_and_reports_leave_all_or_nothing_and_end_as_in_one_go(tmp_path, kills):
    assert kill_outputs(tmp_path, kills=kills, updates=300, seed=11).kills == kills


def test_a_sync_that_ended_with_a_closed_migration_goes_on_with_the_next(store):
    """Killed after the commit that closes a migration, before the first one of the next."""
    with Appearing(seed=5, updates=90, servers=1) as ledger:
        ledger.show_everything()
        net = lf.connect(scan_url=ledger.urls())
        store.sync(net, end=(1, "0001-01-01"))
        assert store.coverage().to_end.tolist() == [True]
        store.sync(net)
        assert_whole(store, net)
