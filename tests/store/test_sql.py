"""`store.sql` reads the tables of a store and every model of its history, in one state, and nothing else."""

import re
import shutil
import tempfile
from decimal import Decimal
from functools import partial

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.models.engine import VARIABLE
from tests.moving_window import place

DENIED = {
    "copy": "copy (select 1) to '{folder}/out.csv'",
    "attach": "attach '{folder}/other.db'",
    "load": "load httpfs",
    "two statements": "select 1; select 2",
    "none": "",
    "read_csv": "select * from read_csv('{folder}/secret.csv')",
    "a file as a table": "select * from '{folder}/secret.csv'",
    "a Python variable": "select * from secret",
}


@pytest.mark.parametrize("query", DENIED.values(), ids=DENIED)
def test_what_does_more_than_read_the_store_is_refused(filled, tmp_path, query):
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nsesame\n")
    with pytest.raises(lf.errors.InputError) as raised:
        filled.sql(query.format(folder=tmp_path))
    assert "sesame" not in str(raised.value)
    assert list(tmp_path.iterdir()) == [secret]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ('select count(*) from "UPDATES" u', 600),
        ("with updates as (select 5 as n) select n from updates", 5),
        ("select 'licenses' from updates limit 1", "licenses"),
        ("select count(*) from (select 7 as events) events", 1),
        ("select count(*) from main.updates", 600),
        ("select count(*) from (pivot (select kind from updates) on kind using count(*))", 1),
        ("select count(*) from (describe updates) where column_name = 'update_id'", 1),
    ],
)
def test_tables_go_by_the_names_that_duckdb_reads(filled, query, wanted):
    assert filled.sql(query).iloc[0, 0] == wanted


@pytest.mark.parametrize("query", ["show tables", "SHOW ALL TABLES;", "describe"])
def test_a_question_which_tables_there_are_names_those_of_the_store(filled, query):
    assert sorted(filled.sql(query).name) == sorted(filled.tables().table)


def test_two_columns_of_one_name_are_no_frame_of_polars(filled):
    assert filled.sql("select 1 as a, 2 as a", as_="arrow").num_columns == 2
    with pytest.raises(lf.errors.InputError, match="two columns of the answer are called 'a'"):
        filled.sql("select 1 as a, 2 as a", as_="polars")


def test_a_query_takes_as_much_memory_as_models_do_and_spills_beside_other_temporary_files(
    filled, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "100MB")
    query = "select current_setting('memory_limit'), current_setting('temp_directory').starts_with(?)"
    assert filled.sql(query, parameters=[str(tmp_path)]).iloc[0].tolist() == ["95.3 MiB", True]
    with pytest.raises(lf.errors.ConfigurationError, match="sql ran out of memory"):
        filled.sql("select list(repeat('x', 200) || i) from range(1500000) as t(i)")
    assert not list(tmp_path.iterdir())


def test_amounts_stay_exact_until_they_are_converted_at_last(filled):
    query, coupons = "select sum(amount) as total from rewards", lf.rewards(filled, decimals="exact")
    total, rounded = sum(coupons.amount.dropna(), Decimal(0)), filled.sql(query)
    assert filled.sql(query, as_="arrow")["total"][0].as_py() == filled.sql(query, decimals="exact").total[0] == total
    assert (rounded.attrs["decimals"], rounded.total[0]) == ("float", float(total))


def test_spans_of_time_can_be_computed_with(filled):
    query = """
        select max(record_time) - min(record_time) as took, null::interval as none, interval '1 month' as month
        from updates
    """
    times = filled.load("updates").record_time
    spans = [times.max() - times.min(), None, pd.Timedelta(days=30)]

    assert [*filled.sql(query, as_="arrow").to_pylist()[0].values()] == spans
    assert [*filled.sql(query, as_="polars").row(0)] == spans
    assert (filled.sql(query).dtypes == "timedelta64[us]").all()


def test_a_name_in_a_text_opens_no_table(store, small):
    """The history has a hole, which only a query of it may meet."""
    store.sync(small, tables=["licenses"])
    times = lf.load_updates(small).record_time
    store.sync(small, start=(0, times[5]), end=(0, times[9]))
    store.sync(small, start=(0, times[12]), end=(0, times[15]))
    assert store.sql("select count(*) as updates from licenses where validator <> 'events'").updates[0] > 0
    with pytest.raises(lf.errors.PartialResultError, match="before it with end=") as refused:
        store.sql("select count(*) from updates")
    end = re.search(r"end=\(0, '(\S+)'\)", str(refused.value))[1]
    assert len(store.load("updates", end=(0, end))) == 4


def test_an_older_state_of_a_lake_that_begins_later_claims_nothing_of_what_was_before(store, hour, filled):
    report = store.sync(hour, start="2025-03-03T09:30")
    query = "select (select count(new) from active_parties), (select count(median_usd) from price_votes)"

    assert store.sql(query, as_of=report.sync_id).iloc[0].tolist() == [0, 0]
    assert filled.sql(query, as_of=filled.syncs().sync_id[0]).iloc[0].gt(0).all()


def test_days_are_neither_whole_nor_empty_where_the_lake_has_a_gap(store, twelve_days):
    for start, end in (("2025-03-04", "2025-03-05"), ("2025-03-06", "2025-03-07")):
        store.sync(twelve_days, start=start, end=end)
    events = store.load("events", start="2025-03-04", end="2025-03-07", allow_partial=True)
    days = lf.network_daily(events)

    assert days.time.dt.day.tolist() == [4, 6]
    unknown = events.copy()
    unknown.attrs = {"complete": True, "from_beginning": None}  # as of a ledger without a DSO
    assert lf.network_daily(unknown).transactions.tolist() == [
        len(set(events.update_id[events.record_time.dt.day == day])) for day in (4, 5, 6)
    ]
    assert days.whole.isna().all()


@pytest.mark.parametrize("name", ["mint_burn", "mart_network_daily", "creates"])
def test_sql_sees_each_model_as_a_view(filled, name):
    found = filled.sql(f"select count(*) as n from {name}").n[0]
    if hasattr(lf, name):
        assert found == len(getattr(lf, name)(filled))
    assert filled.sql(f"with {name} as (select 1 as one) select * from {name}").one[0] == 1
    if name == "mint_burn":
        assert filled.sql("select count(*) as n from mint_burn join updates using (update_id)").n[0] == found


def _report(store, folder):
    path = store.report(folder / "report.html", last="10min", overwrite=True, sections=_SECTIONS)
    return re.sub("made [^<]*", "", path.read_text())


def _exported(store, folder):
    return [one.rows for one in lf.export(store, folder, tables=["transfers", "updates"], overwrite=True).tables]


_SECTIONS = ["summary", "transfers", "templates", "provenance"]
#: Ways to read a lake more than once.
_READINGS = {
    "report": _report,
    "function": lambda store, _: lf.transfers(store).update_id.tolist(),
    "export": _exported,
    "legs": lambda store, _: lf.reassignment_flows(store).contract_id.tolist(),
    "sql": lambda store, _: store.sql("select update_id from mint_burn anti join updates using (update_id)").values,
}


@pytest.fixture(scope="module")
def begun(small, tmp_path_factory):
    """A lake of most of that network; to be copied."""
    store = lf.open_store(tmp_path_factory.mktemp("begun") / "lake")
    store.sync(small, end=place(small, 220), progress=False)
    return store


@pytest.mark.parametrize("reading", _READINGS.values(), ids=_READINGS)
def test_what_reads_a_lake_more_than_once_reads_one_state_of_it(reading, begun, small, tmp_path):
    class Busy(lf.types.Store):
        def load(self, *of, **options):
            rows = super().load(*of, **options)
            if syncs:
                syncs.pop()()  # another process, between two reads
            return rows

    store, syncs = lf.open_store(shutil.copytree(begun._lake.folder, tmp_path / "lake")), []
    before, rows = reading(store, tmp_path), len(store.load("updates"))
    syncs.append(partial(store.sync, small, progress=False))

    found = reading(Busy(store._lake), tmp_path)

    assert len(store.load("updates")) > rows
    assert list(found) == list(before)
