"""`lists="arrow"`: the same lists in Arrow's memory; which everyday operations work with them, and which do not."""

import pandas as pd
import pyarrow as pa

import ledgerframes as lf
from tests.store.conftest import BEGIN

LISTS = {"updates": ["root_event_ids"], "events": ["signatories", "observers", "acting_parties", "child_event_ids"]}


def test_lists_are_those_that_tuples_hold_and_so_is_what_is_computed_of_them(tmp_path):
    with lf.sandbox(updates=120) as net:
        arrow, tuples = lf.load_history(net, start=BEGIN, lists="arrow"), lf.load_history(net, start=BEGIN)
        store = lf.open_store(tmp_path / "lake")
        store.sync(net, progress=False)
        for frame in (lf.load_active_contracts(net, lists="arrow"), store.load("events", lists="arrow")):
            assert isinstance(frame.signatories.dtype, pd.ArrowDtype)
    assert isinstance(tuples.events.signatories.dropna().iloc[0], tuple)
    for name, columns in LISTS.items():
        for column in columns:
            held = getattr(arrow, name)[column]
            assert held.dtype == pd.ArrowDtype(pa.list_(pa.string()))
            assert [None if cell is pd.NA else tuple(cell) for cell in held] == getattr(tuples, name)[column].tolist()
        others = getattr(arrow, name).drop(columns=columns)
        pd.testing.assert_frame_equal(others, getattr(tuples, name).drop(columns=columns))
    assert list(lf.rebuild_items(arrow)) == list(lf.rebuild_items(tuples))
    for compute in (lf.active_contracts, lf.active_parties, lf.template_activity, lf.round_history):
        pd.testing.assert_frame_equal(compute(arrow), compute(tuples))
    arrow.events.to_parquet(tmp_path / "events.parquet")
    back = pd.read_parquet(tmp_path / "events.parquet", dtype_backend="pyarrow")
    assert back.event_id.tolist() == arrow.events.event_id.tolist()
