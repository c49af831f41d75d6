"""Reading a store: the same rows in every form and engine, only what is covered, only the bytes that are needed."""

import copy
import json
import pickle
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ledgerframes as lf
from ledgerframes.store.coverage import BEGINNING, CLOSED, Interval
from ledgerframes.store.fetched import Fetched
from ledgerframes.store.history_tables import ORDER
from ledgerframes.store.lake import Lake
from tests.store.conftest import BEGIN, KEYS, assert_same


@pytest.fixture(scope="module")
def filled(net, tmp_path_factory):
    """A store of the whole history of `net`; read only."""
    store = lf.open_store(tmp_path_factory.mktemp("filled") / "lake")
    store.sync(net, workers=2, page_size=200)
    return store


def test_a_table_is_what_the_loader_gives(filled, history):
    for name in KEYS:
        found = filled.load(name)
        assert_same(found, getattr(history, name), name)
        places = list(zip(found.migration_id, found.record_time, strict=True))
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("start", "end"),
    [((1, "0001-01-01"), None), (None, (1, "9999-01-01")), ("2025-03-03T09:10:00Z", "2025-03-03T09:30:00Z")],
    ids=["from a migration", "up to a migration", "a time in all migrations"],
)
def test_a_range_is_what_the_loader_gives(filled, net, start, end):
    wanted = lf.load_events(net, start=start, end=end)
    assert_same(filled.load("events", start=start, end=end), wanted, "events")
    assert filled.scan("events", start=start, end=end).count_rows() == len(wanted)


@pytest.mark.parametrize(
    "where",
    [
        {"event_type": "created_event"},
        {"event_type": ["created_event", "other"]},
        [("event_type", "==", "created_event")],
        pc.field("event_type") == "created_event",
    ],
    ids=["value", "values", "triples", "expression"],
)
def test_rows_are_chosen_by_where(filled, history, where):
    found = filled.load("events", where=where, columns=["update_id", "event_id", "event_type"])
    assert len(found) == (history.events.event_type == "created_event").sum()
    assert list(found.columns) == ["update_id", "event_id", "event_type"]


def test_every_form_is_given(filled):
    assert isinstance(filled.load("updates", as_="arrow"), pa.Table)
    assert filled.load("updates", as_="polars").height == 2000
    assert filled.load("updates").attrs["complete"] is True
    json.dumps(filled.load("updates").attrs)


def test_sql_sees_every_table_and_its_times_in_utc(filled, history):
    found = filled.sql("select kind, count(*) as n, max(record_time) as last from updates group by kind order by kind")
    assert dict(zip(found.kind, found.n, strict=True)) == history.updates.kind.value_counts().to_dict()
    assert found["last"].max() == history.updates.record_time.max()
    day = filled.sql(
        "select count(*) n from events where date_trunc('day', record_time) = ?", parameters=["2025-03-03"]
    )
    assert day.n[0] == len(history.events)
    assert filled.sql("select 1 as one", as_="arrow").to_pydict() == {"one": [1]}


def amounts(payloads):
    """The coin amounts of some payloads, exactly."""
    return [Decimal(found["amount"]["initialAmount"]) for found in map(json.loads, payloads) if "amount" in found]


def test_engines_agree_on_counts_and_exact_sums(filled, history):
    coins = history.events[(history.events.template_name == "Splice.Amulet:Amulet") & history.events.consuming.isna()]
    wanted = sum(amounts(coins.payload), Decimal(0))
    total = "sum(cast(payload->'amount'->>'initialAmount' as decimal(38, 10)))"
    duck = filled.sql(
        f"select count(*) n, {total} total from events"
        " where template_name = 'Splice.Amulet:Amulet' and event_type = 'created_event'",
        decimals="exact",
    )
    assert duck.n[0] == len(coins)
    assert duck.total[0] == wanted
    dask = filled.dask("events", columns=["template_name", "event_type", "payload"])
    own = dask[(dask.template_name == "Splice.Amulet:Amulet") & (dask.event_type == "created_event")].compute()
    assert len(own) == len(coins)
    assert sum(amounts(own.payload), Decimal(0)) == wanted
    import polars as pl

    frame = pl.scan_pyarrow_dataset(filled.scan("events"))
    chosen = frame.filter(
        (pl.col("template_name") == "Splice.Amulet:Amulet") & (pl.col("event_type") == "created_event")
    ).collect()
    assert chosen.height == len(coins)
    assert sum(amounts(chosen["payload"]), Decimal(0)) == wanted


def test_dask_gives_what_load_gives(filled, history):
    frame = filled.dask("updates", start=(1, "0001-01-01"))
    assert frame.npartitions >= 1
    wanted = history.updates[history.updates.migration_id >= 1]
    assert_same(frame.compute(), wanted.reset_index(drop=True), "updates")
    assert frame.dtypes.equals(history.updates.dtypes)
    with pytest.raises(lf.errors.StoreError, match="has no licenses"):
        filled.dask("licenses")


WORKER = """
import pickle, sys
frame = pickle.load(open(sys.argv[1], "rb"))
print(len(frame.compute(scheduler="synchronous")))
"""


def test_a_copy_of_a_store_in_use_opens_it_again_and_holds_no_secret(filled):
    filled.load("updates")
    for again in (pickle.loads(pickle.dumps(filled)), copy.deepcopy(filled)):
        assert again._lake is not filled._lake
        assert_same(again.load("updates"), filled.load("updates"), "updates")
    bucket = lf.open_store("s3://bucket/lake", storage_options={"AWS_SECRET_ACCESS_KEY": "sesame"})
    with pytest.raises(TypeError, match="open the store in the other process") as refused:
        pickle.dumps(bucket)
    assert "sesame" not in str(refused.value)


def test_a_worker_elsewhere_finds_a_lake_that_was_opened_by_a_relative_path(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = lf.open_store("lake")
    store.sync(small, progress=False)
    (tmp_path / "graph").write_bytes(pickle.dumps(store.dask("updates")))
    (tmp_path / "elsewhere").mkdir()

    worker = [sys.executable, "-c", WORKER, tmp_path / "graph"]
    ended = subprocess.run(worker, cwd=tmp_path / "elsewhere", capture_output=True, text=True, check=False)

    assert ended.stdout == f"{len(store.load('updates'))}\n", ended.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.load("event"), "did you mean 'events'"),
        (lambda store: store.load("ledger_events"), "does not keep"),
        (lambda store: store.load("events", columns=["choise"]), "did you mean 'choice'"),  # codespell:ignore choise
        (lambda store: store.load("events", where={"choise": 1}), "did you mean 'choice'"),  # codespell:ignore choise
        (lambda store: store.load("events", where="choice = 1"), "store.sql"),
        (lambda store: store.load("events", as_="csv"), "as_='csv'"),
        (lambda store: store.sql("select * from nothing"), "updates"),
        (lambda store: store.load("events", as_of="yesterday"), "as_of='yesterday'"),
    ],
    ids=["table", "unkept", "column", "where column", "text", "form", "sql", "as_of"],
)
def test_a_wrong_argument_is_named(filled, call, message):
    with pytest.raises(lf.errors.InputError, match=message):
        call(filled)


def test_what_is_not_covered_is_an_error_unless_allowed(store, net, history):
    times = history.updates[history.updates.migration_id == 1].record_time.reset_index(drop=True)
    store.sync(net, start=(1, times[20]), end=(1, times[60]))
    store.sync(net, start=(1, times[100]), end=(1, times[140]))
    assert len(store.load("updates", start=(1, times[20]), end=(1, times[60]))) == 40
    for options in ({}, {"start": (1, times[10])}, {"start": (1, times[30]), "end": (1, times[110])}):
        with pytest.raises(lf.errors.PartialResultError, match="does not cover migration 1"):
            store.load("updates", **options)
    found = store.load("updates", allow_partial=True)
    assert len(found) == 80
    assert found.attrs["complete"] is False


def test_a_store_of_snapshots_has_no_history(store, small):
    store.sync(small, tables=["licenses"])
    assert list(store.tables().table) == ["licenses"]
    with pytest.raises(lf.errors.StoreError, match=r"has no updates; sync it with store.sync\(net\)"):
        store.load("updates")


def test_an_older_state_is_read_by_sync_and_by_time(store):
    with lf.sandbox(updates=200) as net:
        first = store.sync(net)
        net.sandbox.advance(updates=50)
        store.sync(net)
        store.compact()
    ended = store.syncs().finished_at
    assert len(store.load("updates")) == 250
    assert len(store.load("updates", as_of=first.sync_id)) == 200
    assert len(store.load("updates", as_of=ended[0])) == 200
    assert store.sql("select count(*) n from updates", as_of=first.sync_id).n[0] == 200
    assert len(store.coverage(as_of=first.sync_id)) == len(store.coverage())
    with pytest.raises(lf.errors.StoreError, match="no sync had ended"):
        store.load("updates", as_of="2020-01-01")


def test_rows_that_a_crash_left_are_not_shown(store, net, history):
    """A crash between two tables leaves one ahead; readers and the next sync go by what all cover."""
    store.sync(net, end=(1, "0001-01-01"))
    ahead = lf.load_history(net, start=(1, "0001-01-01"), limit=50, as_="arrow")
    tables = store._lake.history()
    for name in ("events", "reassignments"):
        tables.tables[name].append(getattr(ahead, name).to_batches())
    assert set(store.load("events").migration_id) == {0}
    store.sync(net)
    assert_same(store.load("events"), history.events, "events")
    assert_same(store.load("reassignments"), history.reassignments, "reassignments")
    assert_same(store.load("updates"), history.updates, "updates")


def bytes_read():
    """What this process has read so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("rchar")).split()[1])


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counting the bytes read needs /proc")
def test_a_day_out_of_a_year_reads_about_a_day(tmp_path, net):
    """A year of 365 copies of one history, a day each."""
    day = lf.load_history(net, start=BEGIN, limit=500, as_="arrow")
    lake = Lake(tmp_path / "year")
    tables = lake.history()
    tables.prepare("0/year", ())
    pages = []
    for number in range(0, 365, 5):
        at = CLOSED - 365 + number
        for n in range(5):
            rows = {name: _shifted(getattr(day, name), number + n) for name in ORDER}
            pages.append(Fetched(0, Interval(0, BEGINNING, at), at, Interval(0, at, at), rows))
        tables.commit(pages[-5:])
    store = lf.open_store(tmp_path / "year")
    store.compact()
    events = store.scan("events", allow_partial=True)
    began = bytes_read()
    whole = events.to_table(columns=["payload"]).num_rows
    all_bytes = bytes_read() - began
    times = pa.scalar(pd.Timestamp("2025-06-10", tz="UTC")), pa.scalar(pd.Timestamp("2025-06-11", tz="UTC"))
    rows = (pc.field("record_time") >= times[0]) & (pc.field("record_time") < times[1])
    began = bytes_read()
    found = events.to_table(columns=["payload"], filter=rows).num_rows
    day_bytes = bytes_read() - began
    assert 0 < found < whole / 300
    assert day_bytes < all_bytes / 12  # a month's file is found by its folder, a day by row groups


def _shifted(table, day):
    """A table of one history, moved to the nth day of 2025 in one migration, under new ids."""
    zero = pd.Timestamp("2025-01-01", tz="UTC") + pd.Timedelta(days=day)
    micros = pc.subtract(table["record_time"].cast(pa.int64()), pc.min(table["record_time"].cast(pa.int64())))
    moved = pc.add(micros, int(zero.value // 1000)).cast(pa.timestamp("us", "UTC"))
    ids = pc.binary_join_element_wise(table["update_id"], pa.scalar(str(day)), "-")
    changed = {
        "migration_id": pa.array([0] * len(table), pa.int64()),
        "record_time": moved,
        "record_month": pa.array([f"{zero:%Y-%m}"] * len(table)),
        "update_id": ids,
    }
    columns = [changed.get(column, table[column]) for column in table.column_names]
    return pa.Table.from_arrays(columns, schema=table.schema).combine_chunks().to_batches()[0]


def rows_where(store, where, table="updates"):
    return store.load(table, where=where)


def test_a_pair_is_a_range_and_a_list_is_its_values(filled, history):
    updates = history.updates
    start, end = updates.record_time[50], updates.record_time[150]

    for low, high, wanted in (
        (start, end, (updates.record_time >= start) & (updates.record_time < end)),
        (start.isoformat(), None, updates.record_time >= start),
        (None, end.to_pydatetime(), updates.record_time < end),
        (None, None, updates.record_time.notna()),
    ):
        assert list(rows_where(filled, {"record_time": (low, high)}).update_id) == list(updates.update_id[wanted])
    assert len(rows_where(filled, {"record_time": [start, end]})) == updates.record_time.isin([start, end]).sum()
    assert len(rows_where(filled, {"migration_id": (1, 2)})) == (updates.migration_id == 1).sum()


def test_nulls_lie_in_no_range(filled, history):
    known = history.updates.effective_at.dropna()
    assert len(rows_where(filled, {"effective_at": (known.min(), None)})) == len(known)
    assert len(rows_where(filled, {"effective_at": None})) == history.updates.effective_at.isna().sum()


WITH_TIMES = {
    "equal": (lambda time: {"record_time": time}, lambda rows, time: rows.record_time == time),
    "compared": (lambda time: [("record_time", ">=", time)], lambda rows, time: rows.record_time >= time),
    "in": (lambda time: [("record_time", "in", [time])], lambda rows, time: rows.record_time == time),
    "or": (
        lambda time: [[("record_time", ">=", time)], [("kind", "=", "assignment")]],
        lambda rows, time: (rows.record_time >= time) | (rows.kind == "assignment"),
    ),
    "and": (
        lambda time: [("record_time", ">=", time), ("kind", "not in", ["assignment"])],
        lambda rows, time: (rows.record_time >= time) & (rows.kind != "assignment"),
    ),
}


@pytest.mark.parametrize(("where", "wanted"), WITH_TIMES.values(), ids=WITH_TIMES)
def test_times_may_be_text_wherever_they_stand(filled, history, where, wanted):
    time = history.updates.record_time[77]

    found = rows_where(filled, where(time.isoformat()))

    assert list(found.update_id) == list(history.updates.update_id[wanted(history.updates, time)])


WRONG_VALUES = {
    "day of a time": ("updates", {"record_time": "3.3.2025"}, "where\\['record_time'\\]='3.3.2025' is not a time"),
    "number for a time": ("updates", {"record_time": 5}, "the column holds times"),
    "text for a number": (
        "updates",
        {"migration_id": "0"},
        "where\\['migration_id'\\]='0' is not valid: give a whole number",
    ),
    "large number": ("updates", {"migration_id": 10**30}, "give a whole number from"),
    "not a number": ("updates", {"migration_id": float("nan")}, "give a whole number from"),
    "number for text": ("updates", {"kind": 3}, "give text, which the column holds"),
    "text for a truth": ("events", {"consuming": "yes"}, "give True or False"),
    "list column": ("events", {"signatories": "alice"}, "which where= cannot compare; use store.sql"),
    "amount": ("name_entries", {"amount": float("nan")}, "the column holds amounts; give a Decimal"),
    "fine amount": ("name_entries", {"amount": "0.00000000001"}, "of 10 decimals at most"),
    "in a list": ("updates", {"migration_id": [0, "1"]}, "where\\['migration_id'\\]='1'"),
    "three of a tuple": ("updates", {"migration_id": (0, 1, 2)}, "give a list for several values, or a pair"),
    "unknown column": (
        "events",
        {"template": "x"},
        "where: table 'events' has no column 'template'; did you mean 'template_id'",
    ),
    "unknown operator": ("updates", [("kind", "~", "x")], "is not a list of .column, operator, value"),
    "two of a triple": ("updates", [("kind", "x")], "is not a list of .column, operator, value"),
    "expression": ("updates", pc.field("record_time") > pc.scalar("2025"), "cannot be applied to 'updates'"),
    "text": ("updates", "kind = 'x'", "store.sql takes SQL"),
}


@pytest.mark.parametrize(("table", "where", "said"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_condition_of_another_type_is_refused_with_its_value_and_the_rule(filled, table, where, said):
    with pytest.raises(lf.errors.InputError, match=said):
        filled.load(table, where=where)
