"""Reading a store: the same rows in every form and engine, the rows that are asked for, also of an older state."""

import copy
import json
import pickle
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from tests.store.conftest import KEYS, assert_same

COIN = "Splice.Amulet:Amulet"


def test_a_table_is_what_the_loader_gives_in_every_form(filled, hour_history):
    for name in KEYS:
        found = filled.load(name)
        assert_same(found, getattr(hour_history, name), name)
        places = list(zip(found.migration_id, found.record_time, strict=True))
        assert places == sorted(places)
    assert isinstance(filled.load("updates", as_="arrow"), pa.Table)
    assert filled.load("updates", as_="polars").height == 600
    assert found.attrs["complete"] is True
    json.dumps(found.attrs)


@pytest.mark.parametrize(
    ("start", "end"),
    [((1, "0001-01-01"), None), (None, (1, "9999-01-01")), ("2025-03-03T09:10:00Z", "2025-03-03T09:30:00Z")],
    ids=["from a migration", "up to a migration", "a time in all migrations"],
)
def test_a_range_is_what_the_loader_gives(filled, hour, start, end):
    wanted = lf.load_events(hour, start=start, end=end)
    assert_same(filled.load("events", start=start, end=end), wanted, "events")
    assert filled.scan("events", start=start, end=end).count_rows() == len(wanted)
    assert_same(filled.dask("events", start=start, end=end).compute(), wanted, "events")


def test_every_stored_table_is_written_once_in_the_order_of_time(filled, tmp_path, hour_history):
    report = filled.export(tmp_path / "out")
    rows = {name: len(frame) for name, frame in hour_history._asdict().items()}
    assert {one.name: one.rows for one in report.tables} == {**rows, "instruments": 1}
    events = pd.read_parquet(tmp_path / "out" / "events.parquet")
    assert sorted(events.event_id) == sorted(hour_history.events.event_id)
    assert events.migration_id.is_monotonic_increasing
    filled.export(tmp_path / "none", tables=["reassignments"], end=(0, "0001-01-02"))
    empty = pq.read_table(tmp_path / "none" / "reassignments.parquet")
    assert (empty.num_rows, "unassign_id" in empty.column_names) == (0, True)


def test_what_is_not_covered_or_not_there_is_an_error(filled, tmp_path):
    with pytest.raises(lf.errors.PartialResultError):
        filled.export(tmp_path / "out", end="2099-01-01")
    for wrong, said in (("event", "did you mean"), ("syncs", "tables: 'syncs' is not exported; the store has updates")):
        with pytest.raises(lf.errors.InputError, match=said):
            filled.export(tmp_path / "out", tables=[wrong])
    assert not (tmp_path / "out").exists()


def text(time):
    return time.isoformat()


#: What `where` may be, and which of the updates it chooses, by two of their times.
WHERE = {
    "a value": lambda rows, low, _: ({"record_time": low}, rows.record_time == low),
    "values": lambda rows, *times: ({"record_time": [*times]}, rows.record_time.isin(times)),
    "a range": lambda rows, low, high: (
        {"record_time": (low, high)}, (rows.record_time >= low) & (rows.record_time < high),
    ),
    "from a text on": lambda rows, low, _: ({"record_time": (text(low), None)}, rows.record_time >= low),
    "up to": lambda rows, _, high: ({"record_time": (None, high.to_pydatetime())}, rows.record_time < high),
    "an open range": lambda rows, *_: ({"record_time": (None, None)}, rows.record_time.notna()),
    "null": lambda rows, *_: ({"effective_at": None}, rows.effective_at.isna()),
    "compared": lambda rows, low, _: ([("record_time", ">=", text(low))], rows.record_time >= low),
    "in": lambda rows, low, _: ([("record_time", "in", [text(low)])], rows.record_time == low),
    "or": lambda rows, low, _: (
        [[("record_time", ">=", text(low))], [("kind", "=", "assignment")]],
        (rows.record_time >= low) | (rows.kind == "assignment"),
    ),
    "and": lambda rows, low, _: (
        [("record_time", ">=", text(low)), ("kind", "not in", ["assignment"])],
        (rows.record_time >= low) & (rows.kind != "assignment"),
    ),
    "an expression": lambda rows, *_: (pc.field("kind") == "assignment", rows.kind == "assignment"),
}  # fmt: skip


@pytest.mark.parametrize("chosen", WHERE.values(), ids=WHERE)
def test_rows_are_chosen_by_where(filled, hour_history, chosen):
    updates = hour_history.updates
    where, wanted = chosen(updates, *updates.record_time[[50, 150]])

    found = filled.load("updates", where=where, columns=["kind", "update_id"])

    assert list(found.update_id) == list(updates.update_id[wanted])
    assert list(found.columns) == ["kind", "update_id"]


WRONG_VALUES = {
    "day of a time": ("updates", {"record_time": "3.3.2025"}, r"where\['record_time'\]='3.3.2025' is not a time"),
    "number for a time": ("updates", {"record_time": 5}, "the column holds times"),
    "text for a number": (
        "updates", {"migration_id": "0"}, r"where\['migration_id'\]='0' is not valid: give a whole number",
    ),
    "not a number": ("updates", {"migration_id": float("nan")}, "give a whole number from"),
    "number for text": ("updates", {"kind": 3}, "give text, which the column holds"),
    "text for a truth": ("events", {"consuming": "yes"}, "give True or False"),
    "list column": ("events", {"signatories": "alice"}, "which where= cannot compare; use store.sql"),
    "amount": ("name_entries", {"amount": float("nan")}, "the column holds amounts; give a Decimal"),
    "fine amount": ("name_entries", {"amount": "0.00000000001"}, "of 10 decimals at most"),
    "in a list": ("updates", {"migration_id": [0, "1"]}, r"where\['migration_id'\]='1'"),
    "three of a tuple": ("updates", {"migration_id": (0, 1, 2)}, "give a list for several values, or a pair"),
    "unknown column": ("events", {"template": "x"}, "'events' has no column 'template'; did you mean 'template_id'"),
    "unknown operator": ("updates", [("kind", "~", "x")], "is not a list of .column, operator, value"),
    "expression": ("updates", pc.field("record_time") > pc.scalar("2025"), "cannot be applied to 'updates'"),
    "text": ("updates", "kind = 'x'", "store.sql takes SQL"),
}  # fmt: skip


@pytest.mark.parametrize(("table", "where", "said"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_condition_of_another_type_is_refused_with_its_value_and_the_rule(filled, table, where, said):
    with pytest.raises(lf.errors.InputError, match=said):
        filled.load(table, where=where)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.load("transfer"), "did you mean 'transfers'"),
        (lambda store: store.load("ledger_events"), "does not keep"),
        (lambda store: store.load("events", columns=["choise"]), "did you mean 'choice'"),  # codespell:ignore choise
    ],
    ids=["table", "unkept", "column"],
)
def test_a_wrong_argument_is_named(filled, call, message):
    with pytest.raises(lf.errors.InputError, match=message):
        call(filled)


def amounts(payloads):
    """The coin amounts of some payloads, exactly."""
    return [Decimal(found["amount"]["initialAmount"]) for found in map(json.loads, payloads) if "amount" in found]


def test_engines_agree_on_counts_and_exact_sums(filled, hour_history):
    events = hour_history.events
    coins = amounts(events[(events.template_name == COIN) & (events.event_type == "created_event")].payload)
    total = "sum(cast(payload->'amount'->>'initialAmount' as decimal(38, 10)))"
    duck = filled.sql(
        f"select count(*) n, {total} total from events"
        " where template_name = ? and event_type = 'created_event' and date_trunc('day', record_time) = '2025-03-03'",
        parameters=[COIN],
        decimals="exact",
    )
    assert (duck.n[0], duck.total[0]) == (len(coins), sum(coins))
    dask = filled.dask("events", columns=["template_name", "event_type", "payload"])
    own = dask[(dask.template_name == COIN) & (dask.event_type == "created_event")].compute()
    assert dask.dtypes.equals(events[dask.columns].dtypes)
    import polars as pl

    frame = pl.scan_pyarrow_dataset(filled.scan("events"))
    chosen = frame.filter((pl.col("template_name") == COIN) & (pl.col("event_type") == "created_event")).collect()
    for found in (amounts(own.payload), amounts(chosen["payload"])):
        assert (len(found), sum(found)) == (len(coins), sum(coins))
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


def test_an_older_state_is_read_by_sync_by_time_and_by_the_number_of_its_document(store):
    with lf.sandbox(updates=200) as net:
        first = store.sync(net, derive=["mint_burn"])
        number, kept = store._lake.root().document.number, store.load("mint_burn")
        net.sandbox.advance(updates=50)
        store.sync(net)
        store.compact()
    ended = store.syncs().finished_at
    assert len(store.load("updates")) == 250
    for state in (first.sync_id, ended[0], number):
        assert len(store.load("updates", as_of=state)) == 200
        assert store.load("mint_burn", as_of=state).equals(kept)
        assert store.sql("select count(*) n from updates", as_of=state).n[0] == 200
        assert len(store.coverage(as_of=state)) == len(store.coverage())
    with pytest.raises(lf.errors.StoreError, match="no sync had ended"):
        store.load("updates", as_of="2020-01-01")
    with pytest.raises(lf.errors.StoreError, match="never was"):
        store.load("updates", as_of=store._lake.root().document.number + 1)
