"""What holds for every declared table."""

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.cli.load import LOADABLE
from ledgerframes.decoding.records import read_records
from ledgerframes.tables.catalogue import CATALOGUE, table_named
from ledgerframes.tables.derived import COMPUTED as ALL
from tests.dictionary import PAGE, page


def test_a_table_and_its_columns_have_texts_that_parquet_and_describe_carry():
    for table in CATALOGUE.values():
        assert table.meaning.endswith("."), table.name
        assert table.endpoints, table.name
        assert table.schema.metadata[b"description"].decode() == table.meaning
        for column, field in zip(table.columns, table.schema, strict=True):
            assert column.meaning.endswith("."), f"tables: {table.name}.{column.name} has no sentence"
            assert column.source, f"tables: {table.name}.{column.name} does not say where it comes from"
            assert field.metadata[b"description"].decode() == column.meaning, f"{table.name}.{column.name}"
            assert field.nullable == column.nullable, f"{table.name}.{column.name}"
        described = lf.describe(table.name)
        assert list(described.column) == list(table.names), table.name
        assert (described.meaning != "").all(), table.name


def test_the_key_is_made_of_columns_and_extra_is_the_last():
    for table in CATALOGUE.values():
        assert set(table.key) <= set(table.names), table.name
        assert table.names[-1] == "extra", table.name
        assert len(set(table.names)) == len(table.names), table.name


def test_no_items_are_an_empty_table_of_the_declared_types():
    for table in CATALOGUE.values():
        batch = read_records(table, [], "GET /x")
        assert batch.schema.equals(table.schema, check_metadata=True), table.name
        assert batch.num_rows == 0, table.name


def test_every_table_is_listed():
    listed = lf.tables()
    assert isinstance(listed, pd.DataFrame)  # with a display of its own
    assert list(listed.table) == [*CATALOGUE, *ALL]


def test_the_written_dictionary_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "data/dictionary.md is stale; run: make docs"


def test_an_unknown_table_is_refused_with_the_nearest_name():
    with pytest.raises(lf.errors.InputError, match="did you mean 'licenses'"):
        table_named("license")


def test_columns_that_need_asking_are_there_only_then():
    licenses = CATALOGUE["licenses"]
    assert "contact_point" not in licenses.having().names
    assert "contact_point" in licenses.having("personal").names
    assert "created_event_blob" in licenses.having("blobs").names


def test_amounts_are_decimal128_everywhere():
    kinds = {
        column.kind.arrow for table in CATALOGUE.values() for column in table.columns if column.kind.name == "amount"
    }
    assert kinds == {pa.decimal128(38, 10)}


def test_every_table_that_the_command_line_offers_has_a_loader():
    missing = [name for name in LOADABLE if not callable(getattr(lf, f"load_{name}", None))]
    assert missing == [], "ledgerframes/__init__.py exports no load_ of these"


def test_a_computed_table_says_what_each_column_is_and_where_it_is_from():
    for table in ALL.values():
        assert table.name not in CATALOGUE, table.name
        assert set(table.key) <= set(table.names), table.name
        assert table.meaning.endswith("."), table.name
        for column in table.columns:
            assert column.meaning.endswith("."), f"{table.name}.{column.name}"
            assert column.source, f"{table.name}.{column.name}"
            assert column.kind.name != "amount" or column.unit or "1 being all" in column.meaning, column.name
        (function,) = table.endpoints
        assert callable(getattr(lf, function.removeprefix("lf.").partition("(")[0])), table.name
        assert list(lf.describe(table.name).column) == list(table.names), table.name
