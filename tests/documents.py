"""Pages with code: their Python blocks, what they say is printed, and their shell commands."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
#: Made by the site, of notebooks, models and help that have tests of their own.
_MADE = {ROOT / "docs/notebooks", ROOT / "docs/numbers", *(ROOT / "docs/reference").glob("command-line*.md")}
PAGES = sorted(
    [
        *(page for page in (ROOT / "docs").rglob("*.md") if not {page, page.parent} & _MADE),
        ROOT / "data" / "README.md",
        README,
    ]
)
_PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A Python block, what should be printed by it, and where it stands."""

    code: str
    output: str
    line: int


def python_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2] or "", text.count("\n", 0, found.start()) + 2) for found in _PYTHON.finditer(text)]


def run(page: Path, first: int = 0) -> Iterator[tuple[Block, str]]:
    """Each Python block of a page, from one on, with what it prints; those of the README are programs of their own."""
    import matplotlib.pyplot as plt

    names: dict[str, object] = {}
    for block in python_blocks(page)[first:]:
        names = {"__name__": "__main__"} | (names if page != README else {})
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile("\n" * (block.line - 1) + block.code, page.name, "exec"), names)
        plt.close("all")  # as a notebook does after a cell
        yield block, said.getvalue()


def commands(page: Path) -> list[list[str]]:
    """The words of every `ledgerframes` command, comments left out."""
    blocks = _SHELL.findall(page.read_text(encoding="utf-8"))
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [words[1:] for words in lines if words and words[0] == "ledgerframes"]


def lines(text: str) -> list[str]:
    """The lines; editors take the spaces at their ends away."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]
