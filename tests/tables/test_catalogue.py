"""What holds for every declared table."""

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from docs.dictionary import PAGE, page
from ledgerframes.decoding.records import read_records
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import COMPUTED

every_table = pytest.mark.parametrize("table", [*CATALOGUE.values(), *COMPUTED.values()], ids=[*CATALOGUE, *COMPUTED])


@every_table
def test_a_table_and_its_columns_say_what_they_are_and_where_from(table):
    assert table.meaning.endswith(".")
    assert table.endpoints
    for column in table.columns:
        assert column.meaning.endswith("."), column.name
        assert column.source, column.name
        assert column.kind.name != "amount" or column.kind.arrow == pa.decimal128(38, 10), column.name
    described = lf.describe(table.name)
    assert list(described.column) == list(table.names)
    assert (described.meaning != "").all()
    assert set(table.key) <= set(table.names)
    assert len(set(table.names)) == len(table.names)


@pytest.mark.parametrize("table", CATALOGUE.values(), ids=CATALOGUE)
def test_no_items_are_an_empty_table_of_the_declared_types_with_texts_that_parquet_carries(table):
    batch = read_records(table, [], "GET /x")
    assert batch.schema.equals(table.schema, check_metadata=True)
    assert batch.num_rows == 0
    assert table.names[-1] == "extra"
    assert table.schema.metadata[b"description"].decode() == table.meaning
    for column, field in zip(table.columns, table.schema, strict=True):
        assert (field.metadata[b"description"].decode(), field.nullable) == (column.meaning, column.nullable)


@pytest.mark.parametrize("table", COMPUTED.values(), ids=COMPUTED)
def test_a_computed_table_names_its_function_and_the_units_of_its_amounts(table):
    (function,) = table.endpoints
    assert callable(getattr(lf, function.removeprefix("lf.").partition("(")[0]))
    for column in table.columns:
        assert column.kind.name != "amount" or column.unit or "1 being all" in column.meaning, column.name


def test_every_table_is_listed_once_and_in_the_written_dictionary():
    listed = lf.tables()
    assert isinstance(listed, pd.DataFrame)  # with a display of its own
    assert list(listed.table) == [*CATALOGUE, *COMPUTED]
    assert not CATALOGUE.keys() & COMPUTED.keys()
    assert PAGE.read_text(encoding="utf-8") == page(), "data/dictionary.md is stale; run: make docs"


def test_columns_that_need_asking_are_there_only_then():
    licenses = CATALOGUE["licenses"]
    assert "contact_point" not in licenses.having().names
    assert "contact_point" in licenses.having("personal").names
    assert "created_event_blob" in licenses.having("blobs").names
