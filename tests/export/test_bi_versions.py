"""Amounts for BI programs: the number has the natural name, the exact text the ending; the earlier form on demand."""

import json
from decimal import Decimal

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf

AMOUNTS = [Decimal("0.1"), None, Decimal("123456789012345678.0123456789")]
TABLES = {"t": pa.table({"n": [1, 2, 3], "amount": pa.array(AMOUNTS, pa.decimal128(38, 10))})}
EXACT = ["0.1000000000", None, "123456789012345678.0123456789"]
DOUBLES = [0.1, None, 123456789012345678.0123456789]


def provenance(path):
    return json.loads(pq.read_schema(path).metadata[b"ledgerframes"])


def test_the_number_has_the_name_of_the_amount_and_the_exact_text_the_ending(tmp_path):
    report = lf.export_tables(TABLES, tmp_path, profile="bi")

    read = pq.read_table(tmp_path / "t.parquet")
    assert read.column_names == ["n", "amount", "amount_exact"]
    assert (read["amount"].to_pylist(), read["amount_exact"].to_pylist()) == (DOUBLES, EXACT)
    assert provenance(tmp_path / "t.parquet")["bi_version"] == report.bi_version == report.to_dict()["bi_version"] == 2


def test_the_earlier_form_has_the_text_first_and_the_number_as_double(tmp_path):
    report = lf.export_tables(TABLES, tmp_path, profile="bi", bi_version=1)

    read = pq.read_table(tmp_path / "t.parquet")
    assert read.column_names == ["n", "amount", "amount_double"]
    assert (read["amount"].to_pylist(), read["amount_double"].to_pylist()) == (EXACT, DOUBLES)
    assert provenance(tmp_path / "t.parquet")["bi_version"] == report.bi_version == 1


def test_a_csv_for_bi_has_a_number_that_pandas_sums(tmp_path):
    lf.export_tables(TABLES, tmp_path, format="csv", profile="bi")

    read = pd.read_csv(tmp_path / "t.csv", dtype={"amount_exact": str})
    assert read["amount"].sum() == pytest.approx(0.1 + 123456789012345678.0)
    assert read["amount_exact"].dropna().tolist() == [EXACT[0], EXACT[2]]


@pytest.mark.parametrize("version", [1, 2])
def test_a_workbook_names_its_form_on_the_last_sheet(tmp_path, version):
    lf.export_tables(TABLES, tmp_path / "book.xlsx", format="xlsx", bi_version=version)

    book = openpyxl.load_workbook(tmp_path / "book.xlsx")
    names = [cell.value for cell in book["t"][1]]
    assert names == {1: ["n", "amount", "amount_double"], 2: ["n", "amount", "amount_exact"]}[version]
    assert ("bi_version", str(version)) in [line[1:3] for line in book["about"].iter_rows(values_only=True)]


def test_amounts_that_stay_decimals_have_no_version(tmp_path):
    report = lf.export_tables(TABLES, tmp_path)

    assert report.bi_version is None
    assert "bi_version" not in provenance(tmp_path / "t.parquet")


@pytest.mark.parametrize("version", [0, 3, "2", None, True], ids=repr)
def test_a_version_that_there_is_not_is_refused(tmp_path, version):
    with pytest.raises(lf.InputError, match=f"bi_version={version!r} is not valid: give one of 1, 2"):
        lf.export_tables(TABLES, tmp_path, profile="bi", bi_version=version)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_earlier_form_of_what_has_no_form_is_refused(tmp_path, form):
    with pytest.raises(lf.InputError, match='bi_version=1 is for profile="bi" and workbooks'):
        lf.export_tables(TABLES, tmp_path, format=form, bi_version=1)


def test_a_column_that_has_the_name_of_an_exact_text_already_is_refused(tmp_path):
    both = TABLES["t"].append_column("amount_exact", pa.array(["a", "b", "c"]))

    with pytest.raises(lf.InputError, match="'amount_exact'"):
        lf.export_tables({"t": both}, tmp_path, profile="bi")


def test_a_store_exports_both_forms(tmp_path):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=20) as net:
        store.sync(net, progress=False, tables=["instruments"])

    for version, text in ((1, "total_supply"), (2, "total_supply_exact")):
        report = store.export(tmp_path / str(version), tables=["instruments"], profile="bi", bi_version=version)
        schema = pq.read_schema(tmp_path / str(version) / "instruments.parquet")
        assert schema.field(text).type == pa.string()
        assert report.bi_version == version


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("version", [1, 2])
def test_the_model_of_a_star_names_the_form_of_its_amounts(tmp_path, version):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=60) as net:
        store.sync(net, progress=False)

    store.export(tmp_path / "star", model="star", profile="bi", bi_version=version)

    model = json.loads((tmp_path / "star" / "model.json").read_text())
    columns = {one["name"]: one["type"] for table in model["tables"] for one in table["columns"]}
    assert model["bi_version"] == version
    assert columns["amount"] == {1: "string", 2: "double"}[version]
