"""Every notebook runs from top to bottom, and is stored without what it printed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONGEST = 300  # seconds a cell
SHORT = 12  # lines of a cell

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    import nbformat  # two seconds, which no other test has to wait for

    return nbformat.read(path, as_version=4)


def cells(path: Path, kind: str) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == kind]


def test_there_are_notebooks():
    assert NOTEBOOKS


@every_notebook
# The kernel's own libraries warn in this process; what the notebook's cells warn about is their output.
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs_in_an_empty_folder(path, tmp_path, monkeypatch):
    from nbmake.nb_run import NotebookRun

    copy = shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for name in [name for name in os.environ if name.startswith("LEDGERFRAMES_")]:
        monkeypatch.delenv(name)

    ran = NotebookRun(Path(copy), LONGEST).execute()

    assert ran.error is None, f"{ran.error.summary}\n{ran.error.trace}"
    assert complaints(ran.nb) == []


def complaints(notebook: Any) -> list[str]:
    """What the cells wrote to standard error, warnings among it, apart from progress bars."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    return [text for text in said if "Warning" in text]


@every_notebook
def test_a_notebook_is_stored_without_outputs(path):
    for cell in cells(path, "code"):
        assert cell.outputs == [], cell.source
        assert cell.execution_count is None, cell.source
        assert cell.metadata == {}, cell.source


@every_notebook
def test_a_notebook_opens_with_the_kernel_that_everyone_has(path):
    from nbformat import validate

    notebook = read(path)

    validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")


@every_notebook
def test_a_notebook_s_cells_are_short(path):
    assert [cell.source for cell in cells(path, "code") if len(cell.source.splitlines()) > SHORT] == []
