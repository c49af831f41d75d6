"""A table that an older release made goes on, with null in columns that came later; another format is refused."""

import shutil

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.store.documents import LakeFile, sealed


def test_a_table_with_fewer_columns_and_other_meanings_goes_on(tmp_path, net):
    store = lf.open_store(tmp_path / "lake")
    parties = ["alice::1220", "bob::1220", "carol::1220"]
    store.sync(net, tables=["holdings_summary"], parties=parties)
    place = tmp_path / "lake" / "holdings_summary"
    rows = pa.table(DeltaTable(place).to_pyarrow_table()).drop_columns(["found"])
    older = pa.schema([field.with_metadata({"description": "In other words."}) for field in rows.schema])
    shutil.rmtree(place)
    write_deltalake(place, rows.cast(older))
    (tmp_path / "lake" / "lake.json").unlink()  # the table is another by now
    store.repair()

    store = lf.open_store(tmp_path / "lake")
    assert store.load("holdings_summary").found.isna().all()
    store.sync(net, tables=["holdings_summary"], parties=parties)

    assert store.load("holdings_summary").found.isna().tolist() == [True] * 3 + [False] * 3


def test_a_lake_of_another_format_is_refused(store, net):
    store.sync(net)
    (store._lake.folder / "lake.json").write_bytes(sealed(LakeFile(format=4)))
    for call in (store.check, lambda: store.load("updates"), lambda: store.sync(net), store.coverage, store.repair):
        with pytest.raises(lf.errors.StoreError, match="this lake has format 4"):
            call()
