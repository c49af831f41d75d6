"""A lake that an older release made goes on: columns that came later are null in its rows."""

import re
import shutil
import zipfile

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import ledgerframes as lf
from ledgerframes.sandbox.world import timestamps
from tests.store.conftest import assert_whole
from tests.store.data.make_lake_of_0_1 import ARCHIVE, HIDDEN, SEED, UPDATES, serve


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


@pytest.fixture
def lake_of_0_1(tmp_path):
    """A lake as version 0.1.0 wrote it, and its network; the lake lacks four updates that a clock closed away."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    with lf.sandbox(seed=SEED, updates=UPDATES) as net:
        serve(net, (tmp_path / "history.jsonl").read_text())
        yield lf.open_store(tmp_path / "lake"), net


def test_a_lake_of_0_1_opens_and_its_claims_are_not_trusted(lake_of_0_1):
    store, net = lake_of_0_1
    assert store.coverage().settled.isna().all()
    assert len(store.load("updates", start=(0, "0001-01-01"), end=(1, "2025-03-03T09:03:00Z"))) > 70
    hidden = set(lf.load_updates(net, start="begin").update_id[list(HIDDEN)])
    assert not hidden & set(store.load("updates", allow_partial=True).update_id)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_lake_of_0_1_ends_equal_to_the_truth(lake_of_0_1, workers):
    store, net = lake_of_0_1
    store.sync(net, workers=workers, page_size=50)
    assert_whole(store, net)
    assert store.check()
    assert store.sync(net).rows["updates"] == 0


def test_a_lake_of_0_1_of_which_a_scan_has_pruned_everything_goes_on(lake_of_0_1):
    store, net = lake_of_0_1
    last = max(net.sandbox.world.updates, key=lambda update: update[:2])
    later, update_id = last.record_time + 86_400_000_000, "1220" + "e" * 64
    stated = b'"record_time":"%s"' % timestamps.exact(later).encode()
    named = last.rendered.replace(last.update_id.encode(), update_id.encode())
    rendered = re.sub(rb'"record_time":"[^"]+"', stated, named)
    net.sandbox.world.record([last._replace(update_id=update_id, record_time=later, rendered=rendered)])
    net.sandbox.prune(before=(last.migration_id, timestamps.exact(later)))

    store.sync(net)

    assert update_id in set(store.load("updates", allow_partial=True).update_id)


def test_a_lake_of_a_newer_format_is_refused(store, net):
    store.sync(net)
    table = store._lake.table("events").refresh()
    table.append((), {"format": 3})
    for call in (store.check, lambda: store.load("updates"), lambda: store.sync(net), store.coverage):
        with pytest.raises(lf.errors.StoreError, match="newer version of ledgerframes wrote this store"):
            call()
