"""Amounts for BI programs: the number has the natural name, the exact text the ending."""

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


def test_the_number_has_the_name_of_the_amount_and_the_exact_text_the_ending(tmp_path):
    lf.export(TABLES, tmp_path, profile="bi")

    read = pq.read_table(tmp_path / "t.parquet")
    assert read.column_names == ["n", "amount", "amount_exact"]
    assert (read["amount"].to_pylist(), read["amount_exact"].to_pylist()) == (DOUBLES, EXACT)


def test_a_csv_for_bi_has_a_number_that_pandas_sums(tmp_path):
    lf.export(TABLES, tmp_path, format="csv", profile="bi")

    read = pd.read_csv(tmp_path / "t.csv", dtype={"amount_exact": str})
    assert read["amount"].sum() == pytest.approx(0.1 + 123456789012345678.0)
    assert read["amount_exact"].dropna().tolist() == [EXACT[0], EXACT[2]]


def test_a_column_that_has_the_name_of_an_exact_text_already_is_refused(tmp_path):
    both = TABLES["t"].append_column("amount_exact", pa.array(["a", "b", "c"]))

    with pytest.raises(lf.errors.InputError, match="'amount_exact'"):
        lf.export({"t": both}, tmp_path, profile="bi")


def test_a_workbook_has_the_number_and_the_exact_text(tmp_path):
    lf.export(TABLES, tmp_path / "book.xlsx", format="xlsx")

    book = openpyxl.load_workbook(tmp_path / "book.xlsx")
    assert [cell.value for cell in book["t"][1]] == ["n", "amount", "amount_exact"]
