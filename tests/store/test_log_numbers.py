"""The numbers of a log, read in one pass, are those that deltalake gives; where they cannot be read, it is asked."""

import json
from pathlib import Path

import pytest

from ledgerframes.store.delta.forgetting import forget, forget_log
from ledgerframes.store.delta.log_numbers import LogNumbers
from ledgerframes.store.delta.table import DeltaStoreTable
from ledgerframes.tables.catalogue import table_named

NAMES = [f"slot/{number}/at" for number in range(7)]


@pytest.fixture
def table(tmp_path):
    """A table of 120 commits, so of two checkpoints, each of which sets some numbers."""
    found = DeltaStoreTable(table_named("instruments"), str(tmp_path / "instruments"), storage_options={})
    found.create({})
    for commit in range(120):
        found.append((), {name: commit * 7 - 300 for place, name in enumerate(NAMES[:6]) if commit % (place + 1) == 0})
    return found


def given(table):
    return {name: table.handle.transaction_version(name) for name in NAMES}


def read(table):
    return {name: table.number(name) for name in NAMES}


def opened(table):
    return DeltaStoreTable(table.table, table.url, storage_options={}).refresh()


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("version", [0, 1, 49, 50, 51, 99, 100, 101, 119, 120])
def test_numbers_are_those_of_the_version(table, version):
    old = opened(table).as_of(version)
    assert LogNumbers(table.url, {}).at(version) is not None
    assert read(old) == given(old)


def test_numbers_follow_commits_in_the_same_handle_and_in_another(table):
    other = opened(table)
    assert read(other) == given(table)
    table.append((), {NAMES[6]: 5, NAMES[0]: -(2**62)})
    assert read(table) == given(table)
    assert read(other)[NAMES[6]] is None  # it has not looked again
    assert read(other.refresh()) == given(table)
    assert read(other)[NAMES[6]] == 5


def test_a_log_that_was_shortened_keeps_its_numbers(table):
    table.compact()
    forget(table.handle, 0)
    forget_log(table.handle)
    assert read(opened(table)) == given(table)


def test_the_last_checkpoint_may_be_missing(table):
    Path(table.url, "_delta_log", "_last_checkpoint").unlink()
    assert read(opened(table)) == given(table)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("said", [{"version": 100, "parts": 2}, {"version": 100, "v2Checkpoint": {}}, [], {"size": 1}])
def test_a_checkpoint_of_another_form_is_left_to_deltalake(table, tmp_path, said):
    pointer = tmp_path / "instruments" / "_delta_log" / "_last_checkpoint"
    kept = pointer.read_text()
    late = opened(table)
    pointer.write_text(json.dumps(said))
    assert LogNumbers(table.url, {}).at(120) is None
    assert read(late) == given(table)
    pointer.write_text(kept)
    assert read(late) == given(table)
