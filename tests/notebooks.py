"""Notebooks: how they are run, what of their outputs is stored, and what of it is the same in every run."""

from __future__ import annotations

import base64
import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_LONGEST = 300  # seconds a cell
_COLORS = 128  # of a stored picture; a palette takes a third of the space
#: Takes back what an earlier notebook may have left: names, options, filters of warnings.
_FIRST = """
get_ipython().run_line_magic("reset_selective", "-f .")
import os, warnings, pandas
os.chdir({folder!r})
pandas.reset_option("^display")
warnings.filters[:] = vars(get_ipython()).setdefault("filters_at_start", warnings.filters[:])
del os, warnings, pandas
"""
_SERVER = "127.0.0.1:8000"  # stands for the port that a sandbox was given
#: What differs from run to run: ids of syncs, times taken, rates.
_VARIES = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}|[\d.]+ (?=(ms|s|MB/s)\b)")


def read(path: Path) -> Any:
    """A notebook as it is stored."""
    import nbformat  # two seconds, which no other test has to wait for

    return nbformat.read(path, as_version=4)


def write(notebook: Any, path: Path) -> None:
    """Store a notebook."""
    import nbformat

    nbformat.write(notebook, path)


@contextmanager
def kernel() -> Iterator[Any]:
    """One kernel for several notebooks, since each imports for seconds; without the settings of whoever starts it."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook
    from traitlets.config import Config

    kept = {name: text for name, text in os.environ.items() if not name.startswith("LEDGERFRAMES_")}
    kept["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    with tempfile.TemporaryDirectory() as sockets:
        # Ports are drawn before the kernel takes them, and by then another test may have one.
        config = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        client = NotebookClient(new_notebook(), timeout=_LONGEST, config=config)
        with client.setup_kernel(env=kept):
            yield client


def run(path: Path, folder: Path, started: Any) -> Any:
    """Run a notebook in an empty folder, as if nothing had run in the kernel, and return it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the message has its source and the traceback.
    """
    from nbformat.v4 import new_code_cell

    notebook = read(path)
    for cell in code_cells(notebook):
        cell.outputs = []
    notebook.cells.insert(0, new_code_cell(_FIRST.format(folder=str(folder))))
    started.nb = notebook
    started.execute(cleanup_kc=False)
    del notebook.cells[0]
    return notebook


def tidy(notebook: Any, folder: Path) -> Any:
    """What is stored of a notebook that was run in a folder: no progress bars, paths or ports of this machine."""
    from nbconvert.preprocessors import CoalesceStreamsPreprocessor  # two seconds, as above

    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _is_stored(output)]
            # A kernel sends what is printed in pieces, whenever its clock says so: in the middle of a line, too.
            CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)
            cell.outputs = [_tidied(output, folder) for output in cell.outputs]
    notebook.metadata = {key: notebook.metadata[key] for key in ("kernelspec",)}
    notebook.metadata.kernelspec.pop("path", None)
    return notebook


def _is_stored(output: Any) -> bool:
    if output.output_type == "stream":
        return bool(output.name == "stdout")
    return "application/vnd.jupyter.widget-view+json" not in output.data


def _tidied(output: Any, folder: Path) -> Any:
    output.pop("metadata", None)
    if output.output_type == "stream":
        output.text = _portable(output.text, folder)
        return output
    output.metadata = {}
    output.data = {
        kind: _portable(value, folder) for kind, value in output.data.items() if kind.startswith("text/")
    } | {kind: _smaller(value) for kind, value in output.data.items() if kind == "image/png"}
    return output


def _portable(text: str, folder: Path) -> str:
    text = re.sub(r"127\.0\.0\.1:\d+", _SERVER, text)
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    return re.sub(re.escape(tempfile.gettempdir()) + r"/tmp\w+/", "", text)  # folders that a notebook makes


def _smaller(png: str) -> str:
    from PIL import Image

    small = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        picture.convert("RGB").quantize(_COLORS).save(small, "png", optimize=True)
    return base64.b64encode(small.getvalue()).decode("ascii")


def told(cell: Any) -> list[str]:
    """The lines that a code cell printed or showed as text, without what differs from run to run."""
    texts = [
        output.text if output.output_type == "stream" else output.data.get("text/plain", "") for output in cell.outputs
    ]
    return [_VARIES.sub("~ ", line).rstrip() for text in texts for line in text.splitlines()]


def pictures(cell: Any) -> int:
    """How many pictures a code cell drew."""
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


def code_cells(notebook: Any) -> list[Any]:
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
