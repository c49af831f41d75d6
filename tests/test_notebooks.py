"""Every notebook runs from top to bottom, and is stored with what it printed and drew."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebooks import NOTEBOOKS, code_cells, pictures, read, run, tidy, told

SHORT = 12  # lines of a cell
LARGE = 600_000  # bytes of a notebook, which people load over a network

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
LONG = {"04_lake", "10_economics", "11_governance_and_key_figures"}  # a third of the time of all


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in LONG else []) for path in NOTEBOOKS],
)
# The kernel's own libraries warn in this process; what the notebook's cells warn about is their output.
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs_in_an_empty_folder_and_tells_what_it_is_stored_with(path, tmp_path):
    ran = run(path, tmp_path)

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


@every_notebook
def test_a_notebook_is_stored_as_it_ran_once_and_tells_nothing_of_the_machine(path):
    ran = code_cells(read(path))
    text = path.read_text(encoding="utf-8")

    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
    assert [cell.source for cell in ran if cell.metadata] == []
    assert path.stat().st_size < LARGE
    assert [word for word in ("/tmp/", "/Users/", "application/vnd.jupyter") if word in text] == []


@every_notebook
def test_a_notebook_s_cells_are_short(path):
    assert [cell.source for cell in code_cells(read(path)) if len(cell.source.splitlines()) > SHORT] == []
