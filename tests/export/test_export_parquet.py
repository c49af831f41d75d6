"""Exported Parquet: what other programs read back, row by row and summed."""

import json
from datetime import timedelta
from decimal import Decimal, localcontext
from importlib import import_module

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.export.files import GROUP_ROWS
from ledgerframes.export.shape import EXACT
from ledgerframes.frames import nearest_double
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import TIMES, sample

every_table = pytest.mark.parametrize("table", CATALOGUE.values(), ids=CATALOGUE.keys())


@every_table
def test_plain_parquet_is_the_same_table_with_every_text(table, tmp_path):
    rows = sample(table)

    report = lf.export({table.name: rows}, tmp_path, provenance={"source": "https://scan"}, personal=True)

    read = pq.read_table(tmp_path / f"{table.name}.parquet")
    assert read.equals(rows)
    assert [field.metadata for field in read.schema] == [field.metadata for field in table.schema]
    assert json.loads(read.schema.metadata[b"ledgerframes"]) == {"version": lf.__version__, "source": "https://scan"}
    assert (report.rows, report.tables[0].files) == (rows.num_rows, (str(tmp_path / f"{table.name}.parquet"),))


@pytest.mark.parametrize(
    "table", [CATALOGUE[name] for name in ("events", "instruments", "holdings_summary")], ids=lambda one: one.name
)
def test_duckdb_and_polars_read_the_same_rows_and_exact_sums(table, tmp_path):
    rows = sample(table)
    lf.export({table.name: rows}, tmp_path, personal=True)
    path = str(tmp_path / f"{table.name}.parquet")

    with duckdb.connect() as db:
        db.execute("SET TimeZone='UTC'")
        arrow = db.sql(f"select * from '{path}'").to_arrow_table()
        sums = {name: db.sql(f"select sum({name}) from '{path}'").fetchall()[0][0] for name in amounts(rows)}
    assert arrow.cast(rows.schema).to_pylist() == rows.to_pylist()
    assert pl.read_parquet(path).to_arrow().cast(rows.schema).to_pylist() == rows.to_pylist()
    assert sums == {name: exact_sum(rows, name) for name in amounts(rows)}


@every_table
def test_the_bi_profile_is_flat_and_has_exact_text_beside_each_double(table, tmp_path):
    rows = sample(table)

    lf.export({table.name: rows}, tmp_path, profile="bi", personal=True)

    read = pq.read_table(tmp_path / f"{table.name}.parquet")
    assert {str(field.type) for field in read.schema} <= {"string", "int64", "bool", "timestamp[us]", "double"}
    for field in rows.schema:
        got, wanted = read.column(field.name).to_pylist(), rows.column(field.name).to_pylist()
        if pa.types.is_decimal(field.type):
            texts = read.column(field.name + EXACT).to_pylist()
            assert [text and Decimal(text) for text in texts] == wanted
            assert got == [None if amount is None else float(amount) for amount in wanted]
        elif pa.types.is_list(field.type):
            assert [text and json.loads(text) for text in got] == wanted
        elif pa.types.is_timestamp(field.type):
            assert got == [moment and moment.replace(tzinfo=None) for moment in wanted]
        else:
            assert got == wanted


EDGE = 2**53  # of the whole numbers that a double can hold
UNITS = st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(EDGE - 9, EDGE + 9) | st.integers(-EDGE - 9, 9 - EDGE)


@given(st.lists(st.none() | UNITS.map(lambda units: Decimal(f"{units}E-10")), min_size=1), st.integers(0, 3))
def test_a_double_is_the_nearest_to_its_amount(amounts, first):
    column = pa.array(amounts, pa.decimal128(38, 10))[first:]
    nearest = [None if amount is None else float(amount) for amount in amounts[first:]]

    assert nearest_double(column).to_pylist() == nearest
    assert nearest_double(pa.chunked_array([column, column])).to_pylist() == nearest + nearest


@pytest.mark.parametrize(
    "kind", [pa.decimal256(50, 10), pa.decimal128(38, 30), pa.decimal128(38, -2), pa.decimal64(18, 3)], ids=str
)
def test_amounts_of_other_types_become_the_nearest_doubles_too(kind):
    amounts = [Decimal(units).scaleb(-kind.scale) for units in (7, -(10**14) - 1)] + [None]

    assert nearest_double(pa.array(amounts, kind)).to_pylist() == [float(amounts[0]), float(amounts[1]), None]


def amounts(rows):
    return [field.name for field in rows.schema if pa.types.is_decimal(field.type)]


def exact_sum(rows, name):
    with localcontext(prec=80):
        return sum((amount for amount in rows.column(name).to_pylist() if amount is not None), Decimal(0))


@pytest.mark.parametrize("profile", [None, "bi"])
def test_milliseconds_are_rounded_toward_the_past(tmp_path, profile):
    moments = pa.table({"at": pa.array(TIMES, pa.timestamp("us", "UTC"))})

    lf.export({"t": moments}, tmp_path, profile=profile, times="ms")

    read = pq.read_table(tmp_path / "t.parquet").column("at")
    assert read.type == pa.timestamp("ms", None if profile else "UTC")
    wanted = [micros // 1000 for micros in moments.column("at").cast(pa.int64()).to_pylist()]
    assert read.cast(pa.int64()).to_pylist() == wanted


@pytest.mark.parametrize("profile", [None, "bi"])
def test_hive_folders_hold_every_row_once_for_duckdb_polars_and_pyarrow(tmp_path, profile):
    rows = {name: sample(CATALOGUE[name]) for name in ("events", "licenses")}

    report = lf.export(rows, tmp_path, layout="hive", profile=profile)

    months = sorted(path.name for path in (tmp_path / "events" / "migration_id=1").iterdir())
    assert months == ["record_month=2025-03", "record_month=2025-04"]
    wanted = sorted(
        (row["migration_id"], row["record_month"], row["update_id"], row["event_id"], row["node_index"])
        for row in rows["events"].to_pylist()
    )
    columns = "migration_id, record_month, update_id, event_id, node_index"
    with duckdb.connect() as db:
        glob = f"read_parquet('{tmp_path}/events/**/*.parquet', hive_partitioning=true)"
        assert sorted(db.sql(f"select {columns} from {glob}").fetchall()) == wanted
    polars = pl.read_parquet(tmp_path / "events", hive_partitioning=True)
    assert sorted(polars.select(columns.split(", ")).rows()) == wanted
    assert pq.read_table(tmp_path / "licenses").num_rows == rows["licenses"].num_rows == report.tables[1].rows


def test_partitions_that_are_returned_to_go_on_in_another_file(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("ledgerframes.export.files"), "OPEN_FILES", 1)
    batch = sample(CATALOGUE["updates"], 12).combine_chunks().to_batches()[0]

    report = lf.export({"updates": [batch, batch]}, tmp_path, layout="hive")

    assert max(path.rsplit("/", 1)[1] for path in report.files) == "part-1.parquet"
    assert pl.read_parquet(tmp_path / "updates").height == 24 == report.rows


def test_a_column_of_several_types_is_refused_by_name(tmp_path):
    with pytest.raises(lf.errors.InputError, match=r"'t' cannot be exported: .*column mixed"):
        lf.export({"t": pd.DataFrame({"mixed": ["a", 1]})}, tmp_path)


@pytest.mark.parametrize("month", ["2025-3", "../../x", None])
def test_a_month_that_names_no_partition_is_refused(tmp_path, month):
    rows = pa.table({"migration_id": [1], "record_month": pa.array([month], pa.string()), "n": [1]})

    with pytest.raises(lf.errors.InputError, match="record_month="):
        lf.export({"updates": rows}, tmp_path, layout="hive")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("profile", [None, "bi"])
@pytest.mark.parametrize("unit", ["us", "ns", "s"])
def test_durations_are_seconds_since_parquet_has_no_type_for_them(tmp_path, profile, unit):
    spans = pa.array([timedelta(seconds=2), None, timedelta(seconds=-1)], pa.duration(unit))

    lf.export({"flows": pa.table({"in_flight": spans})}, tmp_path, profile=profile)

    found = pq.read_table(tmp_path / "flows.parquet")
    assert found.to_pydict() == {"in_flight_seconds": [2.0, None, -1.0]}
    assert b"seconds" in found.schema.field(0).metadata[b"description"]


@pytest.mark.parametrize("layout", ["file", "hive"])
def test_an_empty_table_keeps_its_columns(tmp_path, layout):
    lf.export({"licenses": lambda: iter(())}, tmp_path, layout=layout, personal=True)

    read = pq.read_table(tmp_path / ("licenses.parquet" if layout == "file" else "licenses/part-0.parquet"))
    assert (read.num_rows, tuple(read.schema.names)) == (0, CATALOGUE["licenses"].names)


def test_small_batches_become_sensible_row_groups(tmp_path):
    batch = pa.record_batch({"n": pa.array(range(1000), pa.int64())})

    lf.export({"t": (batch for _ in range(300))}, tmp_path)

    metadata = pq.read_metadata(tmp_path / "t.parquet")
    groups = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert sum(groups) == 300_000
    assert max(groups) <= GROUP_ROWS
    assert len(groups) <= 5


def test_frames_of_pandas_and_polars_are_sources(tmp_path):
    frame = pl.DataFrame({"t": ["=1", None], "n": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})

    lf.export({"a": frame, "b": frame.to_pandas()}, tmp_path)

    for name in "ab":
        read = pq.read_table(tmp_path / f"{name}.parquet")
        assert read.to_pylist() == [{"t": "=1", "n": 1, "c": "x"}, {"t": None, "n": 2, "c": "y"}]
        assert read.schema.field("t").type == read.schema.field("c").type == pa.string()
