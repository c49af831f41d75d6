"""The sample in `data/` is what its program makes, reads without a server, and stays small."""

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


def stored(name):
    return pq.read_table(SAMPLE / "tables" / f"{name}.parquet")


def rows(table, but=("source",)):
    """The values, whatever the metadata; the server has another address each time."""
    return [{key: value for key, value in row.items() if key not in but} for row in table.to_pylist()]


@pytest.fixture(scope="module", params=["made again", "replayed"])
def loaded(request, program):
    """All tables, of the program's sandbox or of the recorded answers."""
    made = request.param == "made again"
    options = {"seed": ABOUT["seed"], "updates": ABOUT["updates"]}
    with lf.sandbox(**options) if made else lf.replay(SAMPLE / "answers") as net:
        return program["load_all"](net)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_what_the_program_makes_and_what_the_answers_give_without_a_server(loaded, name):
    assert rows(stored(name)) == rows(loaded[name])
    assert len(loaded[name]) == ABOUT["rows"][name] > 0


def test_every_table_is_in_the_sample():
    assert sorted(set(lf.tables()["table"]) - {"rejects", *COMPUTED}) == NAMES


def test_the_sample_is_small_and_holds_no_token():
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]

    assert sum(path.stat().st_size for path in files) < 3_000_000
    assert not [path for path in files if b"Bearer" in path.read_bytes() or b"eyJ" in path.read_bytes()]
