"""Ranges over a lake: an open end is the end of what is stored, `last` counts back from there, and both are named."""

import json
import warnings

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ledgerframes as lf
from ledgerframes.cli import app
from ledgerframes.store.derive.tables import DERIVED_TABLES, OPEN_CONTRACTS
from ledgerframes.store.read.windows import TIMES
from tests import moving_window

HISTORY = ["updates", "events", "reassignments"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("ranges") / "lake"


@pytest.fixture(scope="module")
def store(place):
    lake = lf.open_store(place)
    with lf.sandbox(updates=600) as net:
        lake.sync(net, progress=False)
        lake.sync(net, tables=["licenses"], progress=False)
    lake.derive(["rewards", "mint_burn", "transfers"])
    return lake


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def ends(store):
    return store.load("updates").record_time.max()


def test_an_open_end_is_the_end_of_what_is_stored(store, ends):
    said = store.load("events").attrs["range"]

    assert said.startswith("ledger begin to ")
    assert f"{ends:%Y-%m-%dT%H:%M:%S}" in said
    assert said.endswith("(the end of what is stored)")


def test_tables_loaded_before_and_after_a_sync_are_no_history(tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=120, migrations=1) as net:
        lake.sync(net, end=lf.load_updates(net, limit=120).record_time.iloc[60], progress=False)
        updates, events = lake.load("updates"), lake.load("events")
        lake.sync(net, progress=False)
    history = lf.types.History(updates, events, lake.load("reassignments"))

    for table in (lf.network_daily, lf.holdings_from_events, lf.active_contracts):
        with pytest.raises(lf.errors.InputError, match=r"reassignments differ in range: .* the store itself"):
            table(history)


def test_the_last_interval_that_a_range_holds_is_whole(store):
    end = store.load("updates").record_time.iloc[300].ceil("1min")
    part = lf.types.History(*(store.load(name, end=end) for name in HISTORY))

    minutes = lf.active_parties(part, every="1min")

    assert minutes.time.iloc[-1] == end - pd.Timedelta("1min")
    assert minutes.whole.iloc[-1]


@pytest.mark.parametrize(
    ("table", "start"),
    [("events", (9, "2025-01-01")), *((name, "2200-11-01") for name in ("events", "rewards", "licenses"))],
)
def test_a_start_behind_the_end_of_what_is_stored_is_refused(table, start, store):
    with pytest.raises(lf.errors.PartialResultError):
        store.load(table, start=start)

    partial = store.load(table, start=start, allow_partial=True)
    assert (len(partial), partial.attrs["complete"]) == (0, False)


@pytest.mark.parametrize("table", ["events", "rewards", "licenses"])
def test_last_counts_back_from_the_end_of_the_table(table, store):
    column = "record_time" if table in HISTORY else TIMES[table]
    whole = store.load(table)
    frame = store.load(table, last="10min")
    start = pd.Timestamp(frame.attrs["counted_from"]) - pd.Timedelta("10min")

    assert frame.attrs["complete"]
    assert list(frame[column]) == list(whole[column][whole[column] >= start])
    assert 0 < len(frame) <= len(whole)


def test_start_and_end_go_by_the_column_of_time_of_a_computed_table(store):
    rewards = store.load("rewards")
    low, high = rewards.created_at.quantile([0.3, 0.6])

    part = store.load("rewards", start=low, end=high)

    assert len(part) == ((rewards.created_at >= low) & (rewards.created_at < high)).sum() > 0
    with pytest.raises(lf.errors.InputError, match="has no migrations"):
        store.load("rewards", start=(0, low))
    with pytest.raises(lf.errors.PartialResultError, match="computed up to"):
        store.load("rewards", end="2200-01-01")


@pytest.mark.parametrize("migrations", [1, pytest.param(3, marks=pytest.mark.long)])
def test_a_kept_table_is_complete_only_where_it_is_computed_from_all_that_is_stored(migrations, tmp_path):
    lake, names = lf.open_store(tmp_path / "lake"), ["mint_burn", "rewards"]

    def refused(why, **part):
        with pytest.raises(lf.errors.PartialResultError, match=why):
            lake.load("rewards", **part)
        with pytest.raises(lf.errors.PartialResultError, match=why):
            lake.sql("select count(*) from rewards")
        assert lake.load("rewards", allow_partial=True, **part).attrs["complete"] is False

    with lf.sandbox(updates=300, migrations=migrations) as net:
        times = lf.load_updates(net).record_time
        lake.sync(net, start=times[100], end=times[150], progress=False)
        lake.derive(names)
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


def test_every_kept_table_has_a_column_of_time_that_ranges_go_by():
    for table in DERIVED_TABLES.values():
        assert table.name == OPEN_CONTRACTS.name or TIMES[table.name] in table.schema.names


def test_an_export_of_a_range_has_the_rows_of_kept_tables_that_load_returns(store, tmp_path):
    low, high = store.load("rewards").created_at.quantile([0.3, 0.6])

    store.export(tmp_path / "out", start=low, end=high)

    for table in ("rewards", "mint_burn", "transfers", "events"):
        loaded = store.load(table, start=low, end=high, as_="arrow")
        assert pq.read_table(tmp_path / "out" / f"{table}.parquet").num_rows == len(loaded) > 0
    assert pq.read_table(tmp_path / "out" / "licenses.parquet").num_rows == len(store.load("licenses"))
    with pytest.raises(lf.errors.PartialResultError, match="computed up to"):
        store.export(tmp_path / "later", tables=["rewards"], end="2200-01-01")


def late_lake(folder):
    """A lake of a scan that had pruned the first half."""
    lake = lf.open_store(folder / "lake")
    with lf.sandbox(seed=7, updates=1000) as net, warnings.catch_warnings():
        warnings.simplefilter("ignore", lf.errors.BeginsLateWarning)
        net.sandbox.prune(before=moving_window.place(net, 500))
        lake.sync(net, progress=False)
    return lake


@pytest.fixture(scope="module")
def late_place(tmp_path_factory):
    return tmp_path_factory.mktemp("late")


@pytest.fixture(scope="module")
def late(late_place):
    lake = late_lake(late_place)
    lake.derive(["rewards", "mint_burn"])
    return lake


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("table", ["updates", "rewards", "round_history"])
def test_a_computed_table_of_a_late_lake_says_what_the_history_says(table, late):
    begin = late.coverage().begins_late.iloc[0]
    whole = late.load(table)
    before = [{"start": "begin"}, {"start": "2020-01-01"}, {"last": "9d"}, {"end": begin - pd.Timedelta("1s")}]
    for part in before:
        with pytest.raises(lf.errors.PartialResultError, match=f"{begin:%Y-%m-%dT%H:%M:%S}"):
            late.load(table, **part)
        assert late.load(table, **part, allow_partial=True).attrs["complete"] is False

    inside = late.load(table, start=begin)
    assert pd.Timestamp(whole.attrs["begins_late"]) == begin
    assert (whole.attrs["complete"], whole.attrs["from_beginning"]) == (True, False)
    assert inside.attrs["complete"]


def test_coins_of_a_late_lake_are_refused_with_advice_that_helps(tmp_path):
    late = late_lake(tmp_path)
    with pytest.raises(lf.errors.PartialResultError, match='source="objects"') as refused:
        late.derive(["coin_history"])
    assert 'start="begin"' not in str(refused.value)
    with lf.sandbox(seed=7, updates=1000) as net:
        late.sync(net, progress=False)  # the advice: a scan that has them
    assert late.derive(["coin_history"]).written["coin_history"] > 0


def test_the_report_and_the_command_line_have_a_line_for_a_late_beginning(late, late_place, store, place, tmp_path):
    begin = f"{late.coverage().begins_late.iloc[0]:%Y-%m-%dT%H:%M:%S}"
    pages = {
        lake: lf.report(lake, tmp_path / f"{number}.html", sections=["summary", "provenance"]).read_text()
        for number, lake in enumerate((late, store))
    }

    assert pages[late].count(f"The history begins late, at {begin}") == 2
    assert "history begins late" not in pages[store]
    for command in ("flows", "rewards", "export"):
        target = [tmp_path / command] if command == "export" else []
        said = run(command, late_place / "lake", *target).stderr
        assert said.count(f"begins late, at {begin}") == 1
        assert "begins late" not in run(command, place, *[f"{folder}-2" for folder in target]).stderr


def test_a_bare_number_is_no_duration_to_count_back(store):
    with pytest.raises(lf.errors.InputError, match="a bare number has no unit"):
        store.load("updates", last=7)


NEVER = {
    "verdicts": r'sync them with store.sync\(net, tables=\["verdicts"\]\)',
    "instruments": r'store.sync\(net, tables=\["instruments"\]\)',
    "active_contracts": r'store.sync\(net, tables=\["active_contracts"\]\)',
    "coin_history": r'store.derive\(\["coin_history"\]\)',
}


@pytest.mark.parametrize("table", NEVER)
def test_a_table_that_was_never_filled_says_how_to_get_it(table, store, place, tmp_path):
    ways = [
        lambda: store.load(table),
        lambda: store.scan(table),
        lambda: store.export(tmp_path / "out", tables=[table]),
    ]
    if table in {"verdicts", "instruments"}:  # SQL computes the others where they are not stored
        ways.append(lambda: store.sql(f"select count(*) from {table}"))
        ended = run("sql", place, f"select count(*) from {table}")
        assert (ended.exit_code != 0, "has no" in str(ended.exception)) == (True, True)
    for way in ways:
        with pytest.raises(lf.errors.StoreError, match=f"has no {table}; .*{NEVER[table]}"):
            way()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("command", ["report", "export", "rewards", "flows"])
def test_every_command_with_last_names_the_instant(command, place, ends, tmp_path):
    target = {"report": ["-o", tmp_path / "r.html", "--sections", "summary"], "export": [tmp_path / "out"]}

    ended = run(command, place, *target.get(command, []), "--last", "1h")

    assert ended.exit_code == 0, ended.output
    assert f"--last 1h counts back from {ends:%Y-%m-%dT%H:%M}" in ended.stderr


def test_the_command_line_names_the_instant_and_why_nothing_is_there(place, ends):
    counted = run("flows", place, "--last", "1h", "--json")
    empty = run("flows", place, "--last", "1us")

    assert isinstance(json.loads(counted.stdout), list)
    assert "counts back from" in counted.stderr
    assert f"{ends:%Y-%m-%dT%H:%M}" in counted.stderr
    assert "nothing in this range" in empty.stderr
    assert "the end of what is stored" in empty.stderr


def test_a_report_says_up_to_where_it_reaches(store, tmp_path, ends):
    page = lf.report(store, tmp_path / "report.html", last="50min", sections=["summary", "provenance"]).read_text()

    assert f"{ends:%Y-%m-%dT%H:%M}" in page
    assert "the end of what is stored" in page
    assert "to now" not in page


def test_begin_is_refused_where_a_lake_begins_later(tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=600) as net:
        lake.sync(net, start=(1, "2020-01-01"), progress=False)

    assert lake.load("updates").attrs["from_beginning"] is not True
    assert "ledger begin" not in lake.load("updates").attrs["range"]
    with pytest.raises(lf.errors.PartialResultError, match="migration"):
        lake.load("updates", start=(0, "2020-01-01"))


@pytest.fixture(scope="module")
def recent(tmp_path_factory):
    """A lake of the last hours of a network whose three migrations overlap, and these hours as pages show them."""
    lake = lf.open_store(tmp_path_factory.mktemp("recent") / "lake")
    with lf.sandbox(updates=600) as net:
        lake.sync(net, last="50min", progress=False)
        return lake, lf.load_history(net, last="50min")


def test_a_lake_of_the_last_hours_is_read_without_a_range(recent):
    lake, history = recent
    assert len(history.updates) < 600
    assert len({*history.updates.migration_id}) > 1

    loaded = lake.load("updates")

    assert [*loaded.update_id] == [*history.updates.update_id]
    since = history.updates.attrs["start"].removesuffix("Z")
    assert loaded.attrs["range"].startswith(f"{since}Z (the beginning of what is stored) to ")
    assert (loaded.attrs["complete"], loaded.attrs["from_beginning"]) == (True, False)
    assert lf.template_activity(lake).creates.sum() == lf.template_activity(history).creates.sum() > 0


def test_what_lies_before_a_lake_of_the_last_hours_is_not_zero(recent):
    lake, history = recent
    before = history.updates.record_time.min() - pd.Timedelta("3h")

    for end in (before, (1, before), (2, before)):
        with pytest.raises(lf.errors.PartialResultError, match="nothing earlier is stored"):
            lake.load("updates", end=end)
    with pytest.raises(lf.errors.PartialResultError, match="does not cover migration"):
        lake.load("updates", start=before)

    partial = lake.load("updates", end=before, allow_partial=True)
    assert (len(partial), partial.attrs["complete"]) == (0, False)


def test_a_migration_in_which_a_sync_ended_is_not_read_to_its_end(tmp_path):
    lake = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=600) as net:
        ids = [update.migration_id for update in net.sandbox.world.updates]
        first, following = ids.index(1), ids.index(2)
        stop = moving_window.place(net, first + 30)
        lake.sync(net, end=stop[1], progress=False)

        assert lake.load("updates").attrs["complete"] is True
        for end in (moving_window.place(net, following - 5), (2, "2020-01-01")):
            with pytest.raises(lf.errors.PartialResultError, match="does not cover migration 1 after"):
                lake.load("updates", start=(1, "2020-01-01"), end=end)
        lake.sync(net, progress=False)

    assert len(lake.load("updates", start=(1, "2020-01-01"), end=(2, "2020-01-01"))) == ids.count(1)
