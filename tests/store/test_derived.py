"""Computed tables that a store keeps: equal to those computed in one go, whatever came in between."""

import pandas as pd
import pyarrow.dataset as ds
import pytest

import ledgerframes as lf
from ledgerframes.frames import attrs_of, described
from ledgerframes.store.coverage import rows_of
from ledgerframes.store.derive import chunks, tables
from ledgerframes.store.derive.progress import Basis
from ledgerframes.store.derive.rules import unissued
from tests.economics.histories import frame_of
from tests.economics.items import create, update
from tests.rigs.servers import simulated
from tests.store.conftest import mend_rejects
from tests.store.test_rejects import BROKEN, places_of, spoil, spoil_coin

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


@pytest.mark.parametrize("size", [1, 50, 100_000])
def test_every_part_of_the_history_has_rows(store, size, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", size)
    with simulated(updates=60, migrations=2) as net:
        store.sync(net, progress=False)
    root = store._lake.root()
    reader = chunks.HistoryReader(root)
    rows = [sum(map(len, reader.rows(part)[1:])) for part in reader.parts(root.coverage.settled)]

    assert all(rows)
    assert len(rows) > 2 or size > 50


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(("hostile", "size"), [(False, 500), (True, 150), (True, 100_000)])
def test_kept_tables_equal_those_computed_in_one_go(store, hostile, size, monkeypatch):
    monkeypatch.setattr(chunks, "EVENTS_AT_ONCE", size)
    with simulated(updates=200, hostile=hostile, migrations=2) as net:
        shown = net.sandbox.world.updates
        later = [shown.pop() for _ in range(0 if hostile else 10)]
        store.sync(net, progress=False, derive=NAMES)
        shown += reversed(later)
        assert store.sync(net, progress=False).complete
        before = versions(store)
        assert store.sync(net, progress=False).complete
        assert store.derive().commits == 0
        assert versions(store) == before  # without news

    assert_equal_to_one_go(store, NAMES if hostile else ("rewards", "supply_per_round"))
    # The hostile history contradicts itself; what is computed from it has no fault of its own.
    assert not [one for one in store.check(full=True).findings if one.name.partition(":")[0] in tables.DERIVED_TABLES]
    assert store.load("mint_burn").attrs["settled"]
    if not hostile:
        assert_computed_from_kept_rows(store)


def assert_computed_from_kept_rows(store):
    """Functions read kept rows where they reach, and compute what is not final in addition to them."""
    history = lf.types.History(None, *(store.load(table, as_="arrow") for table in ("events", "reassignments")))
    counts = []
    for name in [name for name in NAMES if hasattr(lf, name)]:
        found, whole = (getattr(lf, name)(given, as_="arrow") for given in (store, history))
        counts.append(whole.num_rows)
        assert attrs_of(found)["kept"]
        assert found.schema.equals(whole.schema)
        assert found.to_pylist() == whole.to_pylist(), name
    assert 0 in counts
    assert any(counts)


def test_a_sum_of_more_than_38_digits_is_an_error_that_names_the_table(store):
    with lf.sandbox(updates=100) as net:
        spoil_coin(net.sandbox.world, f"{'9' * 28}.{'9' * 10}")
        store.sync(net, progress=False)

    with pytest.raises(lf.errors.InputError, match="supply_per_round needs more than 38 digits"):
        store.derive(["supply_per_round"])


def test_the_report_of_a_sync_counts_the_computed_rows_that_it_wrote(store):
    with lf.sandbox(updates=300, migrations=1) as net:
        shown = net.sandbox.world.updates
        later = [shown.pop() for _ in range(20)]
        first = store.sync(net, derive=["rewards"], progress=False)
        quiet = store.sync(net, progress=False)
        held = len(store.load("rewards"))
        shown += reversed(later)
        report = store.sync(net, progress=False)

    assert not any(quiet.rows.values())
    assert "nothing new" in str(quiet)
    assert 0 < report.rows["rewards"] < held
    assert len(store.load("rewards", as_of=first.sync_id)) == held < len(store.load("rewards"))
    assert f"{report.rows['rewards']:,} rows of rewards written" in str(report)
    assert not store.derive().again
    store.derive(["mint_burn", "coin_history"])  # tables that are added later begin at the beginning
    assert_equal_to_one_go(store, ["rewards", "mint_burn", "coin_history"])


@pytest.mark.long
def test_why_a_table_is_computed_again_is_said(store, monkeypatch):
    with lf.sandbox(updates=300, migrations=1) as net:
        world = net.sandbox.world
        place = next(place for place in places_of(world, b"AmuletRules_Transfer") if place > 40)
        good = spoil(world, place, *BROKEN["no template"])
        store.sync(net, progress=False, on_error="reject", derive=NAMES)
    file = next(path for path in (store._lake.folder / "mint_burn").rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-40])
    assert not store.check()
    repaired = store.repair()
    assert "mint_burn" in repaired.damaged[0]
    assert not repaired.lost
    assert "repair" in store.derive().again["mint_burn"]

    with monkeypatch.context() as newer:
        newer.setitem(tables.VERSIONS, "transfers", tables.VERSIONS["transfers"] + 1)
        assert store.derive().again == {"transfers": "the rules of an older version computed it"}
    with pytest.raises(lf.errors.StoreError, match="a newer version of ledgerframes computed this table"):
        store.derive()
    monkeypatch.setitem(tables.VERSIONS, "transfers", tables.VERSIONS["transfers"] + 1)

    assert good.update_id not in set(store.load("mint_burn").update_id)
    mend_rejects(store, good)
    assert store.retry_rejects().empty
    again = store.derive().again
    assert set(again) == set(NAMES)
    assert "rows were added to" in again["mint_burn"]
    assert good.update_id in set(store.load("mint_burn").update_id)
    assert_equal_to_one_go(store)
    assert store.check(full=True)


@pytest.mark.parametrize("kind", [None, "RewardKind_Validator"])
def test_no_round_issues_a_coupon_of_the_second_version(kind):
    terms = {"provider": "app", "amount": "8.0", "expiresAt": "2026-01-03T00:00:00Z", "kind": kind}
    coupon = create("Splice.Amulet:RewardCouponV2", "v2", {"round": {"number": "7"}} | terms)
    weighed = create("Splice.Amulet:SvRewardCoupon", "sv", {"round": {"number": "7"}, "sv": "sv", "weight": "5"})

    rows = lf.rewards(frame_of([update("made", 0, coupon, weighed)]), as_="arrow")

    assert dict(zip(rows["contract_id"].to_pylist(), unissued(rows).to_pylist(), strict=True)) == {
        "v2": False, "sv": True,
    }  # fmt: skip


def test_a_range_without_an_end_has_the_coins_that_are_not_ended(store, small):
    store.sync(small)
    store.derive(["coin_history"])
    whole = store.load("coin_history")
    ended, active = whole.ended_at.dropna(), whole.ended_at.isna().sum()
    assert active > 0
    half = ended.sort_values().iloc[len(ended) // 2]
    assert len(store.load("coin_history", start="2000-01-01")) == len(whole)
    assert len(store.load("coin_history", start=half)) == (ended >= half).sum() + active
    assert len(store.load("coin_history", end=half)) == (ended < half).sum()
    assert store.scan("coin_history", start=half, end=half + pd.Timedelta("1us")).count_rows() == (ended == half).sum()


def test_tables_kept_up_to_an_end_are_those_of_the_range(store, hour):
    """No server shows anything later than what is final then, so nothing of the kept rows changes any more."""
    end = "2025-03-03T10:45"
    store.sync(hour, end=end, derive=NAMES, progress=False)
    history = lf.load_history(hour, start="begin", end=end, progress=False)
    for name in NAMES:
        compute = getattr(lf, name)
        pd.testing.assert_frame_equal(compute(store), compute(history))


def test_what_a_store_does_not_keep_is_refused(store, small):
    with pytest.raises(lf.errors.InputError, match=r"does not keep 'supply'; compute it .* with lf\.supply\(store\)"):
        store.sync(small, derive=["supply"])
    with pytest.raises(lf.errors.InputError, match="did you mean 'rewards'"):
        store.sync(small, derive=["reward"])
    with pytest.raises(lf.errors.StoreError, match="there is no store here"):
        store.derive(["rewards"])
    store.sync(small, tables=["verdicts"], progress=False)
    for wanted in (None, ["rewards"]):
        with pytest.raises(lf.errors.StoreError, match="there is no history to compute tables from"):
            store.derive(wanted)
    store.sync(small, progress=False, derive=["rewards"])
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
