"""A lake that an older release made goes on: columns that came later are null in its rows."""

import shutil

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf


@pytest.mark.filterwarnings("ignore::ledgerframes.transport.DeprecatedEndpointWarning")
def test_a_table_with_fewer_columns_and_other_meanings_goes_on(tmp_path, net):
    store = lf.open_store(tmp_path / "lake")
    parties = ["alice::1220", "bob::1220", "carol::1220"]
    store.sync(net, tables=["holdings_summary"], parties=parties)
    place = tmp_path / "lake" / "holdings_summary"
    rows = pa.table(DeltaTable(place).to_pyarrow_table()).drop_columns(["found"])
    older = pa.schema([field.with_metadata({"description": "In other words."}) for field in rows.schema])
    shutil.rmtree(place)
    write_deltalake(place, rows.cast(older))

    store = lf.open_store(tmp_path / "lake")
    assert store.load("holdings_summary").found.isna().all()
    store.sync(net, tables=["holdings_summary"], parties=parties)

    assert store.load("holdings_summary").found.isna().tolist() == [True] * 3 + [False] * 3
