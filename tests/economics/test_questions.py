"""The questions of notebooks/10_economics.ipynb, asked of a real page; test_notebooks.py compares what they answer."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa

import ledgerframes as lf
from ledgerframes.decoding.history import decode_items
from ledgerframes.frames import shape
from ledgerframes.showing import Shown
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from tests.economics.histories import captured_items, incomplete

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "10_economics.ipynb"


def cells() -> dict[int, str]:
    """The code that answers each question: the first code cell under its heading; the set-up is number 0."""
    found: dict[int, str] = {}
    number = 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        heading = re.match(r"## (\d+)\. ", text)
        if heading:
            number = int(heading[1])
        elif cell["cell_type"] == "code":
            found.setdefault(number, text)
    return found


def run(code: str, names: dict[str, Any]) -> Any:
    """Run a cell, and return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    return value.frame if isinstance(value, Shown) else value


@incomplete
def test_every_question_is_asked_of_a_real_page_and_what_it_lacks_is_said(net: Any, captures: Path) -> None:  # noqa: ARG001
    items = captured_items()
    attrs = {"complete": True, "from_beginning": False, "start": items[0]["record_time"], "range": "a real page"}
    batches = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates")
    tables = (UPDATES, EVENTS, REASSIGNMENTS)
    frames = [shape(pa.Table.from_batches([batches[table.name]], table.schema), table) for table in tables]
    for frame in frames:
        frame.attrs.update(attrs)
    names = {"json": json, "lf": lf, "pd": pd, "net": net, "history": lf.types.History(*frames)}
    names |= {"start": "begin", "opening": "nothing"}

    found = {number: run(code, names) for number, code in sorted(cells().items()) if number}

    assert (found[7], found[18]) == ("nobody bought traffic in this range", "needs a history from ledger begin")
    assert not len(found[19])
    # Nothing that is not known is 0: neither a kind's sum nor an application's.
    unknown = found[2]["sum"].isna().sum() + found[4].coin.isna().sum()
    assert unknown
    assert not (found[2]["sum"] == 0).any()
    assert found[8].notna().any()


def test_there_are_24_questions_of_five_lines_at_most() -> None:
    found = cells()

    assert sorted(found) == list(range(25))
    assert {number: code for number, code in found.items() if number and len(code.splitlines()) > 5} == {}
