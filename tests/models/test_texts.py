"""`lf.model` and `lf.models`: the SQL runs in DuckDB alone, over exported Parquet in any order, with the same rows."""

import re
from functools import partial
from inspect import signature

import duckdb
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import ledgerframes as lf
from ledgerframes.cli import app
from ledgerframes.models.engine import INPUTS
from ledgerframes.tables.derived import COMPUTED, DERIVED
from ledgerframes.tables.replayed import ACTIVE
from tests.economics.histories import known

TABLES = {**COMPUTED, ACTIVE.name: ACTIVE}
MODELS = lf.models().set_index("model")
#: The text of a model holds those of the steps that it reads, so each of these is run with what reads it.
READ = {name for reads in MODELS.reads for name in reads}
#: The only amount of more places: a weight times an issuance, before it is rounded; the view passes it on.
WIDE = {("valued_coupons", "worth"), ("coupon_lives", "worth")}


@pytest.fixture(scope="module")
def folder(history, tmp_path_factory):
    made = tmp_path_factory.mktemp("exported")
    lf.export(history, made, tables=[*history._fields], personal=True)
    return made


@pytest.fixture(scope="module")
def plain(folder, history):
    """What runs texts in DuckDB alone: with the rows of each file in any order, more threads and another time zone."""
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'America/New_York'; set threads = 8; select setseed(0.7)")
        for view in history._fields:
            connection.execute(f"create table {view} as from '{folder / view}.parquet' order by random()")
        yield partial(rows_of, connection, set())


def rows_of(connection, made, text):
    """What a text selects, once its steps are made, but for those that an earlier text had too, word for word."""
    *below, last = text.removesuffix(";\n").split(";\n")
    for statement in below:
        if statement not in made:
            connection.execute(statement)
            made.add(statement)
    return connection.sql(last).to_arrow_table()


@pytest.mark.parametrize("name", [name for name in MODELS.index if MODELS.kind[name] == "table" or name not in READ])
def test_the_text_of_a_model_runs_in_plain_duckdb_and_gives_the_rows_of_model_and_function(
    name, plain, history, tables
):
    text = lf.model(name)
    found = plain(text)

    own = {*re.findall(r"^create or replace temp \w+ (\w+) as$", text, re.MULTILINE)}
    assert {read for step in (name, *own) for read in MODELS.reads[step]} <= {*own, *INPUTS}
    tables.engine.set({})
    expected = tables.engine.rows(name).select(found.column_names)
    if MODELS.kind[name] == "table":
        assert {*TABLES[name].schema.names} <= {*found.column_names}
        assert found.cast(expected.schema).equals(expected)
    else:  # steps have no order
        found = found.cast(expected.schema)
        assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    if name in COMPUTED and "as_" in signature(getattr(lf, name)).parameters:
        returned = getattr(lf, name)(tables if name in DERIVED else history, as_="arrow")
        assert found.select(returned.column_names).cast(returned.schema).equals(returned)


def test_every_column_has_its_declared_type_and_every_amount_the_same_places(tables):
    tables.engine.set({})
    for name in MODELS.index:
        columns = {field.name: field.type for field in tables.engine.rows(name).schema}

        for column, type_ in columns.items():
            places = 20 if (name, column) in WIDE else 10
            assert not pa.types.is_decimal(type_) or type_ == pa.decimal128(38, places), (name, column)
            assert not pa.types.is_floating(type_), (name, column)
        if name in DERIVED:
            declared = {field.name: field.type for field in DERIVED[name].schema}
            assert declared.items() <= columns.items(), name


def test_the_text_names_the_settings_for_events_that_begin_later(folder):
    unknown = {
        "active_parties": "new",
        "supply_per_round": "total",
        "movements": "balance_after",
        "price_votes": "median_usd",
    }
    with duckdb.connect() as plain:
        for view in ("events", "reassignments"):
            plain.execute(f"create view {view} as from '{folder / view}.parquet'")
        made = set()
        for name, column in unknown.items():
            plain.execute("".join(re.findall(r"set variable \w+ = false;", lf.model(name))))
            found = rows_of(plain, made, lf.model(name))
            assert found[column].null_count == found.num_rows > 0, name


def test_each_table_has_its_model_and_each_model_says_what_a_row_is():
    assert list(MODELS.index[MODELS.kind == "table"]) == [*TABLES]
    assert all(MODELS.rows.str.endswith("."))
    assert all({*reads} <= {*MODELS.index, *INPUTS} for reads in MODELS.reads)


def test_an_opening_is_a_view_of_that_name(history, folder):
    active = lf.active_contracts(history, as_="arrow")
    expected = lf.coin_history(history.events.slice(0, 0).replace_schema_metadata(None), opening=active, as_="arrow")
    with duckdb.connect() as plain:
        plain.register("contracts", active)
        plain.execute(f"create view events as from '{folder / 'events'}.parquet' limit 0")
        plain.execute(f"create view reassignments as from '{folder / 'reassignments'}.parquet' limit 0")
        plain.execute("create view opening as from contracts")

        found = plain.sql(lf.model("coin_history")).to_arrow_table()

    assert sorted(found["contract_id"].to_pylist()) == sorted(expected["contract_id"].to_pylist())
    assert expected.num_rows > 0


def test_models_of_snapshots_read_views_of_their_names(net):
    for name, view, columns in (
        ("license_versions", "licenses", ["version", "validators"]),
        ("instrument_supply", "instruments", ["instrument_id", "total_supply"]),
    ):
        rows = getattr(lf, f"load_{view}")(net, as_="arrow")
        with duckdb.connect() as plain:
            plain.register("given", rows)
            plain.execute(f"create view {view} as select *, null::timestamptz as loaded_at from given")
            found = plain.sql(lf.model(name)).to_arrow_table().select(columns)
        assert known(found.to_pandas(), *columns) == known(getattr(lf, name)(rows), *columns) != []


def test_the_command_line_prints_the_sql_or_lists_the_models():
    run = CliRunner().invoke
    with pytest.raises(lf.errors.InputError, match="no model 'reward'; did you mean 'rewards'"):
        lf.model("reward")
    assert run(app, ["model", "supply"]).stdout == lf.model("supply")
    assert "token_transfers" in run(app, ["model"]).stdout
