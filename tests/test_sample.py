"""The sample in `data/` is what its program makes, reads without a server, and stays small."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.tables.derived import COMPUTED

DATA = Path(__file__).parents[1] / "data"
SAMPLE = DATA / "sample"
ABOUT = json.loads((SAMPLE / "about.json").read_text(encoding="utf-8"))
NAMES = sorted(ABOUT["rows"])


@pytest.fixture(scope="module")
def program():
    """The names of the program that makes the sample."""
    return runpy.run_path(str(DATA / "make_sample.py"))


@pytest.fixture(scope="module")
def made_anew(program):
    with lf.sandbox(seed=ABOUT["seed"], updates=ABOUT["updates"]) as net:
        return program["load_all"](net)


@pytest.fixture(scope="module")
def replayed(program):
    with lf.replay(SAMPLE / "answers") as net:
        return program["load_all"](net)


def stored(name):
    return pq.read_table(SAMPLE / "tables" / f"{name}.parquet")


def rows(table, but=("source",)):
    """The values, whatever the metadata; the server has another address each time."""
    return [{key: value for key, value in row.items() if key not in but} for row in table.to_pylist()]


def test_every_table_is_in_the_sample():
    assert sorted(set(lf.tables()["table"]) - {"rejects", *COMPUTED}) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_what_the_program_makes(made_anew, name):
    assert rows(stored(name)) == rows(made_anew[name])
    assert len(made_anew[name]) == ABOUT["rows"][name] > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_give_the_same_table_without_a_server(replayed, name):
    assert rows(replayed[name]) == rows(stored(name))


def test_a_notebooks_first_cell_reads_the_sample_as_frames():
    with lf.replay(SAMPLE / "answers") as net:
        updates, events, reassignments = lf.load_history(net)

    assert len(lf.reassignment_flows(reassignments)) > 0
    assert set(events.update_id) <= set(updates.update_id)


def test_the_dictionary_describes_every_column_of_the_sample():
    dictionary = (DATA / "dictionary.md").read_text(encoding="utf-8")

    missing = [
        f"{name}.{column}"
        for name in NAMES
        for column in stored(name).column_names
        if f"| `{column}` |" not in dictionary
    ]

    assert missing == []


def test_the_sample_is_small_and_holds_no_token():
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]

    assert sum(path.stat().st_size for path in files) < 3_000_000
    assert not [path for path in files if b"Bearer" in path.read_bytes() or b"eyJ" in path.read_bytes()]
