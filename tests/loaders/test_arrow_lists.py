"""`lists="arrow"`: the same lists in Arrow's memory; which everyday operations work with them, and which do not."""

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from tests.store.conftest import BEGIN

LISTS = {"updates": ["root_event_ids"], "events": ["signatories", "observers", "acting_parties", "child_event_ids"]}


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(updates=120) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def both(net):
    return lf.load_history(net, start=BEGIN, lists="arrow"), lf.load_history(net, start=BEGIN)


@pytest.fixture
def events(both):
    return both[0].events


def test_lists_are_those_that_tuples_hold(both):
    arrow, tuples = both
    for name, columns in LISTS.items():
        for column in columns:
            held = getattr(arrow, name)[column]
            assert held.dtype == pd.ArrowDtype(pa.list_(pa.string()))
            assert [None if cell is pd.NA else tuple(cell) for cell in held] == getattr(tuples, name)[column].tolist()
        others = getattr(arrow, name).drop(columns=columns)
        pd.testing.assert_frame_equal(others, getattr(tuples, name).drop(columns=columns))


def test_every_loader_with_lists_takes_the_keyword(net, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(net, progress=False)
    frames = {
        "load_events": lf.load_events(net, start=BEGIN, lists="arrow"),
        "load_active_contracts": lf.load_active_contracts(net, lists="arrow"),
        "Store.load": store.load("events", lists="arrow"),
    }
    for name, frame in frames.items():
        assert isinstance(frame.signatories.dtype, pd.ArrowDtype), name
    assert isinstance(lf.load_events(net, start=BEGIN).signatories.dropna().iloc[0], tuple)


def test_what_is_computed_of_such_frames_is_the_same(both):
    arrow, tuples = both
    assert list(lf.rebuild_items(arrow)) == list(lf.rebuild_items(tuples))
    theirs = lf.active_contracts(tuples.events, tuples.reassignments)
    pd.testing.assert_frame_equal(lf.active_contracts(arrow.events, arrow.reassignments), theirs)
    for compute in (lf.active_parties, lf.template_activity, lf.template_catalogue, lf.round_history, lf.supply):
        pd.testing.assert_frame_equal(compute(arrow.events), compute(tuples.events))


def test_parquet_holds_them(events, tmp_path):
    events.to_parquet(tmp_path / "events.parquet")
    back = pd.read_parquet(tmp_path / "events.parquet", dtype_backend="pyarrow")
    assert back.event_id.tolist() == events.event_id.tolist()
