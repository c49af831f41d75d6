"""Computed tables that a store keeps: equal to those computed in one go, whatever came in between."""

import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import ledgerframes as lf
from ledgerframes.frames import attrs_of, described
from ledgerframes.store.coverage import rows_of
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.store.derive import chunks, tables
from ledgerframes.store.derive.from_rows import unissued
from ledgerframes.store.derive.progress import Basis
from tests.economics.histories import create, frame_of, update
from tests.rigs.servers import simulated
from tests.store.conftest import adopt
from tests.store.test_rejects import BREAKS, spoil

NAMES = tables.DERIVABLE


def in_one_go(store, name):
    """A table computed from all that is final, at once."""
    final = rows_of(Basis.of(store._lake.at()).intervals)
    parts = []
    for table in ("events", "reassignments"):
        whole = store.load(table, as_="arrow", allow_partial=True)
        rows = ds.dataset(whole).to_table(filter=final)
        parts.append(described(rows, {**attrs_of(whole), "rows": rows.num_rows}))
    return getattr(lf, name)(lf.types.History(None, *parts), as_="arrow")


def assert_equal_to_one_go(store, names=NAMES):
    for name in names:
        order = [(column, "ascending") for column in tables.DERIVED_TABLES[name].key]
        found = store.load(name, as_="arrow").sort_by(order).replace_schema_metadata()
        want = in_one_go(store, name).sort_by(order).replace_schema_metadata()
        assert found.cast(want.schema).combine_chunks().equals(want.combine_chunks()), name


def versions(store):
    return store.tables().set_index("table").version.to_dict()


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("size", [100_000, 150])
@pytest.mark.parametrize("hostile", [False, True])
def test_kept_tables_equal_those_computed_in_one_go(store, hostile, size, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", size)
    with simulated(updates=200, hostile=hostile) as net:
        store.sync(net, progress=False, derive=NAMES)

    assert_equal_to_one_go(store)
    # The hostile history contradicts itself; what is computed from it has no fault of its own.
    assert not [one for one in store.check(full=True).findings if one.name.partition(":")[0] in tables.DERIVED_TABLES]
    assert store.load("mint_burn").attrs["settled"]


@pytest.fixture
def growing():
    """A network whose history a test shows bit by bit."""
    with lf.sandbox(updates=300, migrations=1) as net:
        every = list(net.sandbox.world.updates)
        yield net, lambda count: net.sandbox.world.updates.__setitem__(slice(None), every[:count])


def test_a_sum_of_more_than_38_digits_is_an_error_that_names_the_table(store, tmp_path):
    def largest(item):
        coin = next(event for event in item["events_by_id"].values() if event["template_id"].endswith(":Amulet"))
        coin["create_arguments"]["amount"]["initialAmount"] = f"{'9' * 28}.{'9' * 10}"

    with lf.sandbox(updates=100) as net:
        world = net.sandbox.world
        spoil(world, next(place for place, one in enumerate(world.updates) if b':Amulet"' in one.rendered), largest)
        store.sync(net, progress=False)

    with pytest.raises(lf.errors.InputError, match="supply_per_round needs more than 38 digits"):
        store.derive(["supply_per_round"])
    with pytest.raises(lf.errors.InputError, match="needs more than 38 digits"):
        store.export(tmp_path / "star", model="star")


@pytest.mark.long
def test_each_sync_computes_what_is_new(store, growing):
    net, show = growing
    for count in (60, 140, 141, 300):
        show(count)
        report = store.sync(net, progress=False, derive=NAMES if count == 60 else None)
        assert report.complete
        assert_equal_to_one_go(store)
    assert not store.derive().again


def test_the_report_of_a_sync_counts_the_computed_rows_that_it_wrote(store, growing):
    net, show = growing
    show(280)
    store.sync(net, derive=["rewards"], progress=False)

    quiet = store.sync(net, progress=False)
    held = len(store.load("rewards"))
    show(300)
    report = store.sync(net, progress=False)

    assert not any(quiet.rows.values())
    assert "nothing new" in str(quiet)
    assert 0 < report.rows["rewards"] < held
    assert f"{report.rows['rewards']:,} rows of rewards written" in str(report)


def test_nothing_changes_without_news(store, net):
    store.sync(net, progress=False, derive=NAMES)
    before = versions(store)

    assert store.sync(net, progress=False).complete
    assert store.derive().commits == 0
    assert versions(store) == before


@pytest.mark.long
def test_a_table_added_later_is_computed_from_the_beginning(store, growing):
    net, show = growing
    show(150)
    store.sync(net, progress=False, derive=["rewards"])
    show(300)
    store.sync(net, progress=False, derive=["mint_burn", "coin_history"])

    store.derive()
    assert_equal_to_one_go(store, ["rewards", "mint_burn", "coin_history"])


@pytest.mark.long
def test_rows_taken_out_and_read_again_are_computed_again(store, net):
    store.sync(net, progress=False, derive=NAMES)
    file = next(path for path in (store._lake.folder / "events").rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-40])
    assert store.repair()

    report = store.sync(net, progress=False)
    assert report.complete
    assert_equal_to_one_go(store)
    assert store.load("mint_burn").update_id.is_unique


@pytest.mark.long
def test_an_item_that_a_retry_moves_to_the_history_is_computed(store):
    with lf.sandbox(updates=300, migrations=1) as net:
        world = net.sandbox.world
        place = next(
            number
            for number, one in enumerate(world.updates)
            if number > 40 and b"AmuletRules_Transfer" in one.rendered
        )
        good = spoil(world, place, BREAKS["no template"])
        store.sync(net, progress=False, on_error="reject", derive=NAMES)
    assert good.update_id not in set(store.load("mint_burn").update_id)
    rejects = store._lake.table("rejects").refresh()
    mended = store.load("rejects", as_="arrow").to_pylist()[0] | {"raw": good.rendered.decode()}
    rejects.replace(pa.Table.from_pylist([mended], rejects.table.schema))
    adopt(store)

    assert store.retry_rejects().empty
    again = store.derive().again

    assert set(again) == set(NAMES)
    assert "rows were added to" in again["mint_burn"]
    assert good.update_id in set(store.load("mint_burn").update_id)
    assert_equal_to_one_go(store)


@pytest.mark.long
def test_a_damaged_computed_table_is_computed_again(store, net):
    store.sync(net, progress=False, derive=NAMES)
    file = next(path for path in (store._lake.folder / "mint_burn").rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-40])
    assert not store.check()
    repaired = store.repair()

    assert "mint_burn" in repaired.damaged[0]
    assert not repaired.lost
    assert "repair" in store.derive().again["mint_burn"]
    assert_equal_to_one_go(store)
    assert store.check(full=True)


@pytest.mark.long
def test_a_table_of_older_rules_is_computed_again(store, net, monkeypatch):
    store.sync(net, progress=False, derive=["mint_burn", "transfers"])
    monkeypatch.setitem(tables.VERSIONS, "transfers", tables.VERSIONS["transfers"] + 1)

    assert store.derive().again == {"transfers": "the rules of an older version computed it"}
    assert_equal_to_one_go(store, ["mint_burn", "transfers"])


@pytest.mark.parametrize("kind", [None, "RewardKind_Validator"])
def test_no_round_issues_a_coupon_of_the_second_version(kind):
    terms = {"provider": "app", "amount": "8.0", "expiresAt": "2026-01-03T00:00:00Z", "kind": kind}
    coupon = create("Splice.Amulet:RewardCouponV2", "v2", {"round": {"number": "7"}} | terms)
    weighed = create("Splice.Amulet:SvRewardCoupon", "sv", {"round": {"number": "7"}, "sv": "sv", "weight": "5"})

    rows = lf.rewards(frame_of([update("made", 0, coupon, weighed)]), as_="arrow")

    assert dict(zip(rows["contract_id"].to_pylist(), unissued(rows).to_pylist(), strict=True)) == {
        "v2": False, "sv": True,
    }  # fmt: skip


def test_a_table_of_newer_rules_is_refused(store, net, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setitem(tables.VERSIONS, "transfers", tables.VERSIONS["transfers"] + 1)
        store.sync(net, progress=False, derive=["transfers"])

    with pytest.raises(lf.errors.StoreError, match="a newer version of ledgerframes computed this table"):
        store.derive()


def test_an_older_state_has_its_tables(store, growing):
    net, show = growing
    show(150)
    first = store.sync(net, progress=False, derive=["mint_burn"])
    rows = len(store.load("mint_burn"))
    show(300)
    store.sync(net, progress=False)

    assert len(store.load("mint_burn", as_of=first.sync_id)) == rows < len(store.load("mint_burn"))


def test_sql_and_exports_read_computed_tables(store, net, tmp_path):
    store.sync(net, progress=False, derive=["traffic_purchases"])

    rows = len(store.load("traffic_purchases"))
    assert store.sql("select count(*) as n from traffic_purchases").n[0] == rows
    exported = store.export(tmp_path / "out", format="csv")
    assert "traffic_purchases.csv" in {path.name for path in (tmp_path / "out").iterdir()}, exported
    assert "open_contracts.csv" not in {path.name for path in (tmp_path / "out").iterdir()}


def test_what_a_store_does_not_keep_is_refused(store, net):
    with pytest.raises(lf.errors.InputError, match=r"does not keep 'supply'; compute it .* with lf\.supply\(store\)"):
        store.sync(net, derive=["supply"])
    with pytest.raises(lf.errors.InputError, match="did you mean 'rewards'"):
        store.sync(net, derive=["reward"])
    with pytest.raises(lf.errors.StoreError, match="there is no store here"):
        store.derive(["rewards"])
    store.sync(net, tables=["verdicts"], progress=False)
    for wanted in (None, ["rewards"]):
        with pytest.raises(lf.errors.StoreError, match="there is no history to compute tables from"):
            store.derive(wanted)
    store.sync(net, progress=False, derive=["rewards"])
    assert len(store.load("rewards", start="2025-01-01")) == store.load("rewards").created_at.notna().sum()


@pytest.mark.long
def test_rewards_that_began_before_a_lake_are_kept_with_what_their_end_states(store, net, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", 2_000)
    start = lf.load_updates(net, start="begin", progress=False).record_time[600]
    store.sync(net, start=start, progress=False, derive=["rewards"])

    with pytest.warns(lf.errors.IncompleteFiguresWarning):
        want = in_one_go(store, "rewards").to_pandas().set_index("contract_id")
    rows = store.load("rewards", as_="arrow").to_pandas().set_index("contract_id").reindex(want.index)
    assert rows.created_at.isna().sum() > 0
    # It is computed part by part, and of one that expired the contract of its round lies in an earlier one.
    for column in want.columns:
        assert rows[column].equals(want[column]), column
    lost = rows[rows.created_at.isna()]
    assert lost[lost.outcome == "expired"][["round", "weight", "amount"]].notna().all(axis=1).sum() > 100
    # Of one that was claimed the ledger states no round where its payment could use several.
    assert lost[lost.outcome == "claimed"]["round"].isna().any()


def test_coins_need_the_history_from_ledger_begin(store, net):
    store.sync(net, start=(0, "2025-03-03T09:01:00Z"), progress=False)
    with pytest.raises(lf.errors.PartialResultError, match="coin_history needs the history from ledger begin"):
        store.derive(["coin_history"])


def kill_at(place, instant):
    """Derive in this process until one of the commits, and die there; prints when it ends."""
    change, passed = DeltaStoreTable.change, 0
    chunks.EVENTS_AT_ONCE = 150

    def counted(self, *arguments, **options):
        nonlocal passed
        if passed == instant:
            os.kill(os.getpid(), signal.SIGKILL)
        passed += 1
        return change(self, *arguments, **options)

    DeltaStoreTable.change = counted
    lf.open_store(place).derive(NAMES)


def derive_and_die(place, instant):
    """Whether a derive was killed before its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.store.test_derived import kill_at; kill_at({str(place)!r}, {instant})"],
        check=False,
        timeout=60,
    )
    assert done.returncode in {0, -signal.SIGKILL}
    return done.returncode != 0


@pytest.mark.long
@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.soak)])
def test_killed_between_any_two_commits_tables_equal_those_in_one_go(store, kills):
    with lf.sandbox(updates=200 + 6 * kills, migrations=1) as net:
        every, shown = list(net.sandbox.world.updates), 100
        killed = attempts = 0
        while killed < kills:
            # A derive that came to its end before its instant has no news for the next one.
            shown += 3
            attempts += 1
            assert attempts < 2 * kills + 5, f"{killed} of {attempts} derives were killed"
            net.sandbox.world.updates[:] = every[:shown]
            store.sync(net, progress=False, derive=[])
            killed += derive_and_die(store._lake.folder, (3 + 5 * attempts) % 11)
            if attempts % 10 == 0:
                assert store.check()
        net.sandbox.world.updates[:] = every
        store.sync(net, progress=False)
    store.derive(NAMES)
    assert_equal_to_one_go(store)
    assert store.check(full=True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["transfers", "open_contracts", "mint_burn"])
def test_an_emptied_entry_in_the_middle_of_a_computed_tables_log_is_missed(store, growing, name, tmp_path):
    net, show = growing
    for count in (90, 140, 200, 300):
        show(count)
        store.sync(net, progress=False, derive=["transfers", "mint_burn"])
    log = sorted((store._lake.folder / name / "_delta_log").glob("*.json"))
    adding = [entry for entry in log if '"add"' in entry.read_text()]
    adding[len(adding) // 2].write_bytes(b"")

    assert f"entries of the log of '{name}'" in str(store.check())
    assert name in str(store.repair().shortened)
    store.derive()
    other = lf.open_store(tmp_path / "other")
    other.sync(net, progress=False, derive=["transfers", "mint_burn"])
    for table in ("transfers", "mint_burn", "open_contracts"):
        key = tables.DERIVED_TABLES[table].key[0]
        found, want = (one._lake.table(table).refresh().dataset().to_table() for one in (store, other))
        assert sorted(found[key].to_pylist()) == sorted(want[key].to_pylist())
    assert_equal_to_one_go(store, ["transfers", "mint_burn"])
    assert store.check(full=True)
