"""Exported Parquet: what other programs read back, row by row and summed."""

import json
from datetime import timedelta
from decimal import Decimal, localcontext

import duckdb
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
from tests.export.rows import AMOUNTS, sample

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


@pytest.mark.long(quick=14)
@every_table
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


@given(st.lists(st.decimals(-(10**28) + 1, 10**28 - 1, places=10), min_size=1))
def test_a_double_is_the_nearest_to_its_amount(amounts):
    column = pa.array(amounts, pa.decimal128(38, 10))

    assert nearest_double(column).to_pylist() == [float(amount) for amount in amounts]


def amounts(rows):
    return [field.name for field in rows.schema if pa.types.is_decimal(field.type)]


def exact_sum(rows, name):
    with localcontext(prec=80):
        return sum((amount for amount in rows.column(name).to_pylist() if amount is not None), Decimal(0))


@pytest.mark.parametrize("profile", [None, "bi"])
@pytest.mark.parametrize("unit", ["us", "ns", "s"])
def test_durations_are_seconds_since_parquet_has_no_type_for_them(tmp_path, profile, unit):
    spans = pa.array([timedelta(seconds=2), None, timedelta(seconds=-1)], pa.duration(unit))

    lf.export({"flows": pa.table({"in_flight": spans})}, tmp_path, profile=profile)

    found = pq.read_table(tmp_path / "flows.parquet")
    assert found.to_pydict() == {"in_flight_seconds": [2.0, None, -1.0]}
    assert b"seconds" in found.schema.field(0).metadata[b"description"]


def test_an_empty_table_keeps_its_columns(tmp_path):
    lf.export({"licenses": lambda: iter(())}, tmp_path, personal=True)

    read = pq.read_table(tmp_path / "licenses.parquet")
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


def test_sums_of_the_sample_are_beyond_doubles():
    """Or else the tests of exact sums would prove nothing."""
    assert Decimal(sum(map(float, AMOUNTS))) != sum(AMOUNTS)
