"""Every notebook runs from top to bottom and, like the sample in `data/`, is stored as what makes it makes it today."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.tables.derived import COMPUTED
from tests.notebooks import NOTEBOOKS, code_cells, kernel, pictures, read, run, tidy, told

SHORT = 12  # lines of a cell
LARGE = 600_000  # bytes of a notebook, which people load over a network

#: Most of the time of all; the pages on BI and on holdings show the same.
LONG = {"06_holdings_and_fees", "07_to_bi_tools", "09_from_a_snapshot", "10_economics", "11_governance_and_key_figures"}
# The kernel's own libraries warn in this process; what the notebook's cells warn about is their output.
warning = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def started():
    with kernel() as one:
        yield one


@warning
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in LONG else []) for path in NOTEBOOKS],
)
def test_a_notebook_runs_in_an_empty_folder_and_tells_what_it_is_stored_with(path, started, tmp_path):
    ran = run(path, tmp_path, started)

    assert complaints(ran) == []
    fresh, stored = code_cells(tidy(ran, tmp_path)), code_cells(read(path))
    for new, old in zip(fresh, stored, strict=True):
        assert told(new) == told(old), f"make notebooks stores what this prints now: {old.source}"
        assert pictures(new) == pictures(old), old.source


def complaints(notebook: Any) -> list[str]:
    """What the cells wrote to standard error, warnings among it, apart from progress bars."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    said = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stderr")
    return [line for line in said.splitlines() if "Warning" in line]


@warning
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_short_cells_that_ran_once_and_tells_nothing_of_the_machine(path):
    ran = code_cells(read(path))
    text = path.read_text(encoding="utf-8")

    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
    assert [cell.source for cell in ran if cell.metadata] == []
    assert [cell.source for cell in ran if len(cell.source.splitlines()) > SHORT] == []
    assert path.stat().st_size < LARGE
    assert [word for word in ("/tmp/", "/Users/", "application/vnd.jupyter") if word in text] == []


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
