"""How the documents site is built; `make docs` runs it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ledgerframes
from ledgerframes.cli.help import GROUPS
from ledgerframes.tables.derived import COMPUTED

project = "ledgerframes"
author = "the ledgerframes developers"
release = version = ledgerframes.__version__
project_copyright = "the ledgerframes developers, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["site"]
myst_heading_anchors = 3
# Charts for the light and the dark site, tables of columns, messages and meanings.
myst_enable_extensions = ["attrs_inline", "attrs_block", "deflist"]
default_role = "code"  # docstrings put names between single backticks

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True
suppress_warnings = ["ref.python", "myst.xref_missing"]  # pages that are included link within the project, not the site

smartquotes = False  # two dashes begin an option

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_title = f"ledgerframes {version}"
html_copy_source = False
html_show_sphinx = False


#: A notebook is stored with one drawing of each chart; site.css turns it dark.
_CHART = re.compile(r"^(!\[[^]]*\]\([^)]*\))$", re.MULTILINE)
_STYLED = re.compile(r"<div>\s*<style scoped>.*?</style>\s*<table border=\"1\"", re.DOTALL)


def setup(app: Any) -> None:
    """Have the command line and the computed tables describe themselves, and make pages of the notebooks, first."""
    app.connect("builder-inited", _command_line)
    app.connect("builder-inited", _notebooks)
    app.connect("builder-inited", _dictionary)
    app.connect("builder-inited", _numbers)
    app.connect("source-read", _links_to_notebooks)


def _command_line(_app: Any) -> None:
    """Write a page per group of commands; the first one has the commands to start with, and what all have in common."""
    target = Path(__file__).parent / "reference"
    command = [sys.executable, "-m", "typer", "ledgerframes.cli", "utils", "docs", "--name", "ledgerframes"]
    told = subprocess.run(  # noqa: S603 -- our own words
        [*command, "--title", "Command line"], check=True, capture_output=True, encoding="utf-8"
    )
    common, *texts = re.split(r"^(?=## )", told.stdout, flags=re.MULTILINE)
    of = {re.match(r"## `ledgerframes ([\w-]+)", text)[1]: text for text in texts}
    for place, (group, names) in enumerate(GROUPS.items()):
        name = "command-line" if not place else f"command-line-{group.partition(' ')[0].lower()}"
        head = common if not place else f"# Command line: {group}\n\n"
        (target / f"{name}.md").write_text(head + "".join(of[each] for each in names), encoding="utf-8")


def _notebooks(_app: Any) -> None:
    """Write each notebook as a page, with the outputs that it is stored with and its images next to it."""
    from nbconvert import MarkdownExporter

    here = Path(__file__).parent
    target = here / "notebooks"
    target.mkdir(exist_ok=True)
    for path in sorted((here.parent / "notebooks").glob("*.ipynb")):
        text, found = MarkdownExporter().from_filename(str(path), {"output_files_dir": f"{path.stem}_files"})
        for name, picture in found["outputs"].items():
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).write_bytes(picture)
        # The style of pandas would end the HTML at its first empty line, and has borders of its own.
        text = _STYLED.sub('<div class="frame">\n<table', text)
        text = _CHART.sub(r"\1{.chart}", text)
        (target / f"{path.stem}.md").write_text(text, encoding="utf-8")


def _columns() -> dict[str, str]:
    """The data dictionary's section of each table."""
    text = (Path(__file__).parent.parent / "data" / "dictionary.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text.partition("\n# ")[0] + text.partition("\n# ")[2], flags=re.MULTILINE)[1:]
    named = {name: rest for name, _, rest in (section.partition("\n") for section in sections)}
    return {name: rest.strip().replace("| column |", "{.columns}\n| column |") for name, rest in named.items()}


def _dictionary(_app: Any) -> None:
    """Write a page per table that is loaded; the pages of computed tables have their columns themselves."""
    target = Path(__file__).parent / "dictionary"
    target.mkdir(exist_ok=True)
    for name, section in _columns().items():
        if name not in COMPUTED:
            (target / f"{name}.md").write_text(f"# {name}\n\n{section}\n", encoding="utf-8")


def _numbers(_app: Any) -> None:
    """Write a page per computed table: its meaning, what it cannot know, its columns and its SQL."""
    target = Path(__file__).parent / "numbers"
    target.mkdir(exist_ok=True)
    reads = ledgerframes.models().set_index("model").reads
    columns = _columns()
    for name in sorted(COMPUTED):
        about, _, rest = (inspect.getdoc(getattr(ledgerframes, name)) or "").partition("\n\nArgs:\n")
        returns = inspect.cleandoc(rest.partition("\nReturns:\n")[2].partition("\n\nRaises:")[0])
        table = "{.columns}" + columns[name].partition("{.columns}")[2]
        sql = (Path(ledgerframes.__file__).parent / "models" / f"{name}.sql").read_text(encoding="utf-8")
        text = f"""# {name}

{about}

{returns}

## Columns

{table}

## SQL

It reads {", ".join(f"`{one}`" for one in reads[name])}; `lf.model("{name}")` has all of them.

```{{code-block}} sql
:force:

{sql}```
"""
        (target / f"{name}.md").write_text(text, encoding="utf-8")


def _links_to_notebooks(_app: Any, name: str, source: list[str]) -> None:
    """On the site a notebook is a page; elsewhere it is a file of the project."""
    if "/" not in name:
        source[0] = re.sub(r"\(\.\./notebooks/(\w+)\.ipynb\)", r"(notebooks/\1.md)", source[0])
