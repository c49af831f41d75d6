"""Every notebook runs from top to bottom, and is stored with what it printed and drew."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebooks import NOTEBOOKS, code_cells, kernel, pictures, read, run, tidy, told

SHORT = 12  # lines of a cell
LARGE = 600_000  # bytes of a notebook, which people load over a network

#: Most of the time of all; the pages on BI and on holdings show the same.
LONG = {"06_holdings_and_fees", "07_to_bi_tools", "09_from_a_snapshot", "10_economics", "11_governance_and_key_figures"}
# The kernel's own libraries warn in this process; what the notebook's cells warn about is their output.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def started():
    with kernel() as one:
        yield one


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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_short_cells_that_ran_once_and_tells_nothing_of_the_machine(path):
    ran = code_cells(read(path))
    text = path.read_text(encoding="utf-8")

    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
    assert [cell.source for cell in ran if cell.metadata] == []
    assert [cell.source for cell in ran if len(cell.source.splitlines()) > SHORT] == []
    assert path.stat().st_size < LARGE
    assert [word for word in ("/tmp/", "/Users/", "application/vnd.jupyter") if word in text] == []
