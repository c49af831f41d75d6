"""`lf.report` of an hour of a lake, against plain charts of matplotlib, as many as it has, light and dark."""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ledgerframes as lf
from tests.benchmarks.measuring import Row, side_by_side

UPDATES = 10_000
ROUNDS = 3


def rows() -> list[Row]:
    """One row, of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        store, page = lf.open_store(Path(folder) / "lake"), Path(folder) / "report.html"
        with lf.sandbox(updates=UPDATES) as net:
            store.sync(net, start="begin", progress=False)

        def report() -> None:
            lf.report(store, page, last="1h", overwrite=True)

        report()
        charts = page.read_text(encoding="utf-8").count("<picture>")
        baseline = f"{charts} plain charts of matplotlib, light and dark"
        sides = {"report": report, baseline: lambda: [_plain(theme) for theme in ("light", "dark") * charts]}
        taken = side_by_side(sides, rounds=ROUNDS, clock=time.process_time)
    what = f"lf.report of an hour of a lake of {UPDATES:,} updates, processor time"
    return [Row(what=what, baseline=baseline, ours=taken["report"], theirs=taken[baseline])]


def _plain(theme: str) -> None:
    """Four stacked series in sixty bins with a title, a label and a legend, laid out and saved as SVG."""
    with plt.style.context("dark_background" if theme == "dark" else "default"):
        figure, ax = plt.subplots(figsize=(9.2, 4.4), layout="constrained")
        for number in range(4):
            ax.stairs(np.arange(60) + number, np.arange(61), baseline=number, fill=True, label=f"series {number}")
        ax.set_title("Updates over time")
        ax.set_ylabel("updates per minute")
        ax.legend(ncols=4)
        figure.savefig(io.StringIO(), format="svg")
        plt.close(figure)
