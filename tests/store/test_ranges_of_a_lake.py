"""Ranges over a lake: an open end is the end of what is stored, `last` counts back from there, and both are named."""

import json
import warnings

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ledgerframes as lf
from ledgerframes.cli import app
from ledgerframes.errors import BeginsLateWarning, IncompleteFiguresWarning
from ledgerframes.store.derive.tables import DERIVED_TABLES, OPEN_CONTRACTS
from ledgerframes.store.read.windows import TIMES
from tests.moving_window import place
from tests.rigs.servers import connected, replica

HISTORY = ["updates", "events", "reassignments"]


@pytest.fixture(scope="module")
def store(tmp_path_factory, hour):
    lake = lf.open_store(tmp_path_factory.mktemp("ranges") / "lake")
    lake.sync(hour, progress=False)
    lake.sync(hour, tables=["licenses"], progress=False)
    lake.derive(["rewards", "mint_burn", "transfers"])
    return lake


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def ends(store):
    return store.load("updates").record_time.max()


def test_an_open_end_is_the_end_of_what_is_stored_and_last_counts_back_from_it(store, ends):
    said = store.load("events").attrs["range"]
    assert said.startswith("ledger begin to ")
    assert f"{ends:%Y-%m-%dT%H:%M:%S}" in said
    assert said.endswith("(the end of what is stored)")
    for table in ("events", "rewards", "licenses"):
        column = "record_time" if table in HISTORY else TIMES[table]
        whole, frame = store.load(table), store.load(table, last="10min")
        start = pd.Timestamp(frame.attrs["counted_from"]) - pd.Timedelta("10min")

        assert frame.attrs["complete"]
        assert list(frame[column]) == list(whole[column][whole[column] >= start])
        assert 0 < len(frame) <= len(whole)
        for later in ["2200-11-01", *[(9, "2025-01-01")] * (table in HISTORY)]:
            with pytest.raises(lf.errors.PartialResultError):
                store.load(table, start=later)
            partial = store.load(table, start=later, allow_partial=True)
            assert (len(partial), partial.attrs["complete"]) == (0, False)


def test_start_and_end_go_by_the_column_of_time_of_a_computed_table_also_in_an_export(store, tmp_path):
    assert {name for name, table in DERIVED_TABLES.items() if TIMES.get(name) not in table.schema.names} == {
        OPEN_CONTRACTS.name
    }
    rewards = store.load("rewards")
    low, high = rewards.created_at.quantile([0.3, 0.6])

    store.export(tmp_path / "out", start=low, end=high)

    loaded = {table: len(store.load(table, start=low, end=high)) for table in ("rewards", "mint_burn", "transfers")}
    loaded |= {"events": len(store.load("events", start=low, end=high)), "licenses": len(store.load("licenses"))}
    assert loaded["rewards"] == ((rewards.created_at >= low) & (rewards.created_at < high)).sum()
    for table, rows in loaded.items():
        assert pq.read_table(tmp_path / "out" / f"{table}.parquet").num_rows == rows > 0
    assert not list((tmp_path / "out").glob("open_contracts*"))
    with pytest.raises(lf.errors.InputError, match="has no migrations"):
        store.load("rewards", start=(0, low))
    for later in (
        lambda: store.load("rewards", end="2200-01-01"),
        lambda: store.export(tmp_path / "later", tables=["rewards"], end="2200-01-01"),
    ):
        with pytest.raises(lf.errors.PartialResultError, match="computed up to"):
            later()


def test_the_last_interval_that_a_range_holds_is_whole(store):
    end = store.load("updates").record_time.iloc[300].ceil("1min")
    part = lf.types.History(*(store.load(name, end=end) for name in HISTORY))

    minutes = lf.active_parties(part, every="1min")

    assert minutes.time.iloc[-1] == end - pd.Timedelta("1min")
    assert minutes.whole.iloc[-1]


@pytest.mark.parametrize("migrations", [1, pytest.param(3, marks=pytest.mark.long)])
def test_a_kept_table_is_complete_only_where_it_is_computed_from_all_that_is_stored(migrations, tmp_path):
    lake = lf.open_store(tmp_path / "lake")

    def refused(why, **part):
        with pytest.raises(lf.errors.PartialResultError, match=why):
            lake.load("rewards", **part)
        with pytest.raises(lf.errors.PartialResultError, match=why):
            lake.sql("select count(*) from rewards")
        assert lake.load("rewards", allow_partial=True, **part).attrs["complete"] is False

    with lf.sandbox(updates=300, migrations=migrations) as net:
        times = lf.load_updates(net).record_time
        lake.sync(net, start=times[100], end=times[150], progress=False)
        lake.derive(["rewards"])
        assert lake.load("rewards").attrs["complete"]

        lake.sync(net, start=times[50], end=times[100], derive=[], progress=False)
        refused(r"the store covers another part of the history; run store.derive\(\['rewards'\]\)")
        lake.derive()
        lake.sync(net, start=times[250], progress=False)
        refused("does not cover migration")
        if migrations == 1:
            assert lake.load("rewards", end=times[150]).attrs["complete"]

        lake.sync(net, start=times[150], end=times[250], derive=[], progress=False)
        if migrations > 1:  # the kept rows end at the gap that there was, before later migrations
            refused("not computed for migration 1", end=times[150])
        lake.derive()
    assert lake.load("rewards").attrs["complete"]


@pytest.fixture(scope="module")
def late(tmp_path_factory, hour):
    """A lake of a scan that had pruned most of its history."""
    lake = lf.open_store(tmp_path_factory.mktemp("late") / "lake")
    pruned = replica(hour.sandbox, prune_before=place(hour, 450))
    with connected(pruned) as net, warnings.catch_warnings():
        warnings.simplefilter("ignore", BeginsLateWarning)
        lake.sync(net, progress=False)
    lake.derive(["rewards", "mint_burn"])
    return lake


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("table", ["updates", "rewards", "round_history"])
def test_a_computed_table_of_a_late_lake_says_what_the_history_says(table, late):
    begin = late.coverage().begins_late.iloc[0]
    whole = late.load(table)
    before = [{"start": "begin"}, {"start": "2020-01-01"}, {"last": "9d"}, {"end": begin - pd.Timedelta("1s")}]
    for part in [*before, *[{"start": (0, "2001-01-01")}] * (table == "updates")]:
        with pytest.raises(lf.errors.PartialResultError, match=f"{begin:%Y-%m-%dT%H:%M:%S}"):
            late.load(table, **part)
        some = late.load(table, **part, allow_partial=True)
        assert some.attrs["complete"] is False
        assert table != "updates" or len(some) == (0 if "end" in part else len(whole))

    with pytest.raises(lf.errors.PartialResultError, match='source="objects"') as refused:
        late.derive(["coin_history"])
    assert 'start="begin"' not in str(refused.value)
    inside = late.load(table, start=begin)
    assert pd.Timestamp(whole.attrs["begins_late"]) == begin
    assert (whole.attrs["complete"], whole.attrs["from_beginning"]) == (True, False)
    assert inside.attrs["complete"]


def test_sql_refuses_and_warns_as_the_functions_do(late):
    for name in ("active_contracts", "coin_history"):
        with pytest.raises(lf.errors.PartialResultError, match="does not begin at ledger begin"):
            late.sql(f"select count(*) from {name}")
    with pytest.warns(IncompleteFiguresWarning, match="supply_per_round: "):
        late.sql("from supply_per_round")
    for query in ("from coin_history", "from mart_party_daily"):
        with pytest.warns(BeginsLateWarning, match="the store begins at"):
            late.sql(query, allow_partial=True)


NEVER = {
    "verdicts": r'sync them with store.sync\(net, tables=\["verdicts"\]\)',
    "instruments": r'store.sync\(net, tables=\["instruments"\]\)',
    "active_contracts": r'store.sync\(net, tables=\["active_contracts"\]\)',
    "coin_history": r'store.derive\(\["coin_history"\]\)',
}


@pytest.mark.parametrize("table", NEVER)
def test_a_table_that_was_never_filled_says_how_to_get_it(table, store, tmp_path):
    ways = [
        lambda: store.load(table),
        lambda: store.scan(table),
        lambda: store.export(tmp_path / "out", tables=[table]),
    ]
    if table in {"verdicts", "instruments"}:  # SQL computes the others where they are not stored
        ways.append(lambda: store.sql(f"select count(*) from {table}"))
        ended = run("sql", store._lake.folder, f"select count(*) from {table}")
        assert (ended.exit_code != 0, "has no" in str(ended.exception)) == (True, True)
    for way in ways:
        with pytest.raises(lf.errors.StoreError, match=f"has no {table}; .*{NEVER[table]}"):
            way()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("command", ["flows", "report", "export", "rewards"])
def test_commands_name_the_instant_that_last_counts_back_from_and_a_late_beginning(
    command, store, ends, late, tmp_path
):
    page = tmp_path / "page.html"

    def said(lake, *words):
        target = {
            "export": [tmp_path / lake._lake.folder.parent.name],
            "report": ["-o", page, "--overwrite", "--sections", "summary,provenance"],
        }
        ended = run(command, lake._lake.folder, *target.get(command, []), *words)
        assert ended.exit_code == 0, ended.output
        return ended.stderr

    counted = said(store, "--last", "1h")
    assert f"--last 1h counts back from {ends:%Y-%m-%dT%H:%M}" in counted
    assert "begins late" not in counted
    if command == "report":
        of_page = page.read_text().replace("<wbr>", "")
        assert "history begins late" not in of_page
        assert f"{ends:%Y-%m-%dT%H:%M}" in of_page
        assert "the end of what is stored" in of_page
        assert "to now" not in of_page
    if command == "flows":
        assert isinstance(json.loads(run("flows", store._lake.folder, "--last", "1h", "--json").stdout), list)
        empty = said(store, "--last", "1us")
        assert "nothing in this range" in empty
        assert "the end of what is stored" in empty
    begin, of_late = f"{late.coverage().begins_late.iloc[0]:%Y-%m-%dT%H:%M:%S}", said(late)
    if command == "report":
        assert page.read_text().count(f"The history begins late, at {begin}") == 2
    else:
        assert of_late.count(f"begins late, at {begin}") == 1


def test_a_lake_of_the_last_hours_is_read_without_a_range_and_has_no_zeros_before_it(tmp_path, hour):
    """The three migrations of the network overlap in these hours."""
    lake = lf.open_store(tmp_path / "lake")
    lake.sync(hour, last="50min", progress=False)
    history = lf.load_history(hour, last="50min")
    assert len(history.updates) < 600
    assert len({*history.updates.migration_id}) > 1

    loaded = lake.load("updates")

    assert [*loaded.update_id] == [*history.updates.update_id]
    since = history.updates.attrs["start"].removesuffix("Z")
    assert loaded.attrs["range"].startswith(f"{since}Z (the beginning of what is stored) to ")
    assert (loaded.attrs["complete"], loaded.attrs["from_beginning"]) == (True, False)
    assert lf.template_activity(lake).creates.sum() == lf.template_activity(history).creates.sum() > 0
    before = history.updates.record_time.min() - pd.Timedelta("3h")
    for part, why in (
        *(({"end": end}, "nothing earlier is stored") for end in (before, (1, before), (2, before))),
        ({"start": before}, "does not cover migration"),
    ):
        with pytest.raises(lf.errors.PartialResultError, match=why):
            lake.load("updates", **part)
    partial = lake.load("updates", end=before, allow_partial=True)
    assert (len(partial), partial.attrs["complete"]) == (0, False)


def test_days_of_a_lake_of_the_last_ones_are_whole_as_those_of_a_load(tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    with lf.sandbox(seed=5, days=5, rounds_per_day=6) as net:
        lake.sync(net, last="3d", progress=False)
        loaded = lf.network_daily(lf.load_history(net, last="3d"))

    assert lf.network_daily(lake).whole.to_list() == loaded.whole.to_list() == [False, True, True, False]
    marts = lake.sql("select whole from mart_network_daily order by date")
    assert marts.whole.to_list() == loaded.whole.to_list()
    assert lake.load("events").attrs["start"] == loaded.attrs["start"]
    for name in ("fact_supply_daily", "holdings_from_events"):
        with pytest.raises(lf.errors.PartialResultError, match=f"{name} needs all of the history"):
            lake.sql(f"from {name}")
    with pytest.raises(lf.errors.StoreError, match="the store has no licenses"):
        lake.sql("from license_versions")
    with pytest.warns(BeginsLateWarning, match="fact_supply_daily: the store begins at"):
        assert len(lake.sql("from fact_supply_daily", allow_partial=True)) == len(marts)
