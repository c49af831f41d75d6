"""Names that the session gives to ids stand beside them in exports that ask for them, and in no others."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.export.shape import has_alias

ALICE, BOB = "alice::1220ab", "bob::1220cd"
ROWS = pa.table({"party_id": [ALICE, None, BOB, ALICE], "amount": [1, 2, 3, 4], "note": [ALICE] * 4})


@pytest.mark.parametrize("form", ["parquet", "csv", "xlsx"])
def test_a_column_of_ids_is_followed_by_one_of_names(tmp_path, form):
    with lf.aliases({ALICE: "Alice", "other": "=1+1"}):
        lf.export({"t": ROWS}, tmp_path, format=form, aliases=True)

    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "xlsx": pd.read_excel}[form]
    written = read(tmp_path / ("ledgerframes.xlsx" if form == "xlsx" else f"t.{form}"))

    assert list(written.columns) == ["party_id", "party_id_alias", "amount", "note"]
    assert written.party_id_alias.dropna().to_dict() == {0: "Alice", 3: "Alice"}
    assert written.party_id.dropna().to_list() == [ALICE, BOB, ALICE]


@pytest.mark.parametrize("options", [{}, {"profile": "bi"}, {"aliases": False}], ids=str)
def test_an_export_that_does_not_ask_for_names_has_the_columns_that_it_always_has(tmp_path, options):
    with lf.aliases({ALICE: "Alice"}):
        lf.export({"t": ROWS}, tmp_path, **options)

    assert pq.read_schema(tmp_path / "t.parquet").names == ROWS.column_names


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("options", [{"tables": ["updates"]}, {"model": "star"}], ids=["tables", "star"])
def test_an_export_of_a_store_asks_for_names_too(tmp_path, options):
    store = lf.open_store(tmp_path / "lake")
    with lf.sandbox(updates=50) as net:
        store.sync(net, progress=False)
    synchronizer = store.load("updates")["synchronizer_id"][0]

    with lf.aliases({synchronizer: "Home"}):
        store.export(tmp_path / "plain", **options)
        store.export(tmp_path / "named", aliases=True, **options)

    assert named(tmp_path / "plain") == set()
    assert named(tmp_path / "named") == {"Home"}


def named(folder):
    """The names in all columns of names."""
    read = [pq.read_table(path) for path in folder.glob("*.parquet")]
    names = [table[name] for table in read for name in table.column_names if name.endswith("_alias")]
    return {name for column in names for name in column.to_pylist()} - {None}


def test_a_name_that_is_a_formula_is_defused_in_csv(tmp_path):
    with lf.aliases({ALICE: "=1+1"}):
        lf.export({"t": ROWS}, tmp_path, format="csv", aliases=True)

    assert "'=1+1" in (tmp_path / "t.csv").read_text()


def test_every_column_of_ids_of_our_tables_has_names():
    with lf.sandbox(updates=800) as net:
        history = lf.load_history(net, progress=False)
        tables = [*history, *lf.load_verdicts(net, progress=False)]
        tables += [load(net) for load in (lf.load_licenses, lf.load_instruments, lf.load_users, lf.load_names)]
    tables += [
        table(history)
        for table in (lf.rewards, lf.transfers, lf.token_transfers, lf.coin_history, lf.traffic_purchases)
    ]
    tables += [lf.balances_over_time(history, every="1h"), lf.sv_rewards(history), lf.validator_liveness(history)]
    held = {name for frame in tables for name in frame.select_dtypes("str") if holds_ids(frame[name])}

    # participants have no party's name
    named = {name for name in held if not name.endswith("_uid")}
    assert sorted(name for name in named if not has_alias(pa.field(name, pa.string()))) == []


def holds_ids(column):
    return column.str.fullmatch(r"[^:{\[ ]+::1220[0-9a-f]+").any()
