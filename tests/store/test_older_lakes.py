"""Lakes of other releases: further or missing columns go on, with null; another format is refused."""

import shutil

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.store.documents import LakeFile, sealed
from tests.store.conftest import assert_whole


def rewrite(store, name, change):
    """Write a table again with other columns, its coverage and properties kept."""
    table = store._lake.table(name).refresh()
    changed = change(table.handle.to_pyarrow_dataset().to_table())
    write_deltalake(DeltaTable(table.url), changed, mode="overwrite", schema_mode="overwrite")


def in_other_words(rows):
    """The rows, whose columns had other descriptions in an older release."""
    return rows.cast(pa.schema([field.with_metadata({"description": "In other words."}) for field in rows.schema]))


def test_a_history_with_a_column_less_or_more_goes_on(store, small, tmp_path):
    store.sync(small, end=(1, "0001-01-01"))
    newer = shutil.copytree(store._lake.folder, tmp_path / "newer")

    rewrite(store, "updates", lambda rows: in_other_words(rows.drop_columns(["external_transaction_hash"])))
    assert store.load("updates").external_transaction_hash.isna().all()
    store.sync(small)
    found = store.load("updates")
    assert found[found.migration_id > 0].external_transaction_hash.notna().any()
    assert len(found) == 240

    store = lf.open_store(newer)
    rewrite(store, "updates", lambda rows: rows.append_column("later", pa.nulls(len(rows), pa.string())))
    store.sync(small)
    assert_whole(store, small)


def test_a_lake_of_another_format_is_refused(copied, small):
    (copied._lake.folder / "lake.json").write_bytes(sealed(LakeFile(format=4)))
    for call in (
        copied.check, lambda: copied.load("updates"), lambda: copied.sync(small), copied.coverage, copied.repair,
    ):  # fmt: skip
        with pytest.raises(lf.errors.StoreError, match="this lake has format 4"):
            call()
    for name in ("events", "reassignments", "instruments", "syncs"):
        shutil.rmtree(copied._lake.folder / name)
    (copied._lake.folder / "lake.json").unlink()
    with pytest.raises(lf.errors.StoreError, match=r"0\.1 or 0\.2"):
        copied.load("updates")
