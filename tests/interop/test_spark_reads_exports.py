"""Spark reads exported Parquet: the same counts and exact sums; `make interop` runs it, with pyspark and Java."""

import sys
from decimal import Decimal, localcontext

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.tables.catalogue import CATALOGUE
from tests.export.rows import sample

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def tables():
    return {name: sample(table) for name, table in CATALOGUE.items()}


@pytest.mark.parametrize("profile", [None, "bi"])
def test_spark_reads_the_same_texts_and_numbers_and_sums_amounts_exactly(spark, tables, tmp_path, profile):
    lf.export(tables, tmp_path, profile=profile)

    for name, rows in tables.items():
        read = spark.read.parquet(str(tmp_path / f"{name}.parquet"))
        columns = [field.name for field in rows.schema if pa.types.is_string(field.type) or field.type == pa.int64()]
        own, theirs = map(values, rows.select(columns).to_pylist()), map(tuple, read.select(columns).collect())
        assert sorted(map(repr, theirs)) == sorted(map(repr, own)), name
        for field in rows.schema:
            if pa.types.is_decimal(field.type):
                exact = field.name + "_exact" if profile else field.name
                found = read.selectExpr(f"sum(cast({exact} as decimal(38,10)))").collect()[0][0]
                assert found == exact_sum(rows.column(field.name)), f"{name}.{field.name}"


def exact_sum(column):
    with localcontext(prec=80):
        return sum((amount for amount in column.to_pylist() if amount is not None), Decimal(0))


def values(row):
    return tuple(row.values())


@pytest.mark.parametrize("profile", [None, "bi"])
def test_spark_finds_the_partitions_of_hive_folders(spark, tables, tmp_path, profile):
    lf.export(tables, tmp_path, layout="hive", profile=profile)

    for name in ("updates", "events", "reassignments"):
        read = spark.read.parquet(str(tmp_path / name))
        counts = {
            tuple(row)[:2]: row["count"] for row in read.groupBy("migration_id", "record_month").count().collect()
        }
        keys = tables[name].select(["migration_id", "record_month"]).to_pylist()
        assert counts == {key: sum(values(row) == key for row in keys) for key in map(values, keys)}
