"""The demonstration behind `ledgerframes demo`: the main job, on the embedded ledger, with its results left on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import matplotlib as mpl
import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.report import report
from ledgerframes.embedded import sandbox
from ledgerframes.export.atomic_write import writing
from ledgerframes.loaders.history import load_history
from ledgerframes.loaders.planning import migrations, plan
from ledgerframes.showing import show
from ledgerframes.store.opening import open_store

_UPDATES: Final = 2000
_WIDE: Final = 120  # characters of a line
_SYNCED: Final = ("updates", "events", "reassignments", "licenses", "instruments")
_CHARTS: Final = (plot.coin_supply, plot.rewards, plot.updates, plot.reassignment_flows)


def demonstrate(folder: Path, say: Callable[[str], None]) -> None:
    """Start the sandbox; load from it, sync a lake, export, draw, report; and print the main results for an analyst.

    Args:
        folder: the folder for the results: tables and bi (Parquet), lake, charts, report.html.
        say: prints a line.
    """
    with sandbox(seed=7, updates=_UPDATES) as net:
        say(f"A simulated ledger answers at {net.sandbox.scan_url}\n")
        say(f"Its migrations:\n{show(migrations(net)).text(_WIDE)}\n")
        say(f"What loading it takes:\n{plan(net)}\n")
        updates, events, legs = load_history(net, limit=_UPDATES, progress=False)
        say(f"Loaded {len(updates):,} updates, {len(events):,} events, {len(legs):,} legs of reassignments.\n")
        counts = pd.crosstab(updates.migration_id, updates.kind).reset_index()
        say(f"Updates by migration and kind:\n{show(counts).text(_WIDE)}\n")
        most = events.groupby(["template_name", "choice"], dropna=False).size().nlargest(6).rename("events")
        say(f"What happens most:\n{show(most.reset_index().fillna({'choice': '(created)'})).text(_WIDE)}\n")
        store = open_store(folder / "lake")
        say(f"The same into a lake, with snapshots:\n{store.sync(net, tables=_SYNCED, progress=False)}\n")
        say(f"And once more, for what is new: {store.sync(net, progress=False).requests} requests\n")
    say("The tables as Parquet, with a text for every column; and without nested columns, for BI tools:")
    say(f"{store.export(folder / 'tables', overwrite=True)}\n")
    say(f"{store.export(folder / 'bi', profile='bi', overwrite=True)}\n\nCharts:")
    mpl.use("Agg")  # a shell may have no screen
    (folder / "charts").mkdir(exist_ok=True)
    for draw in _CHARTS:
        with plot.style("light"):
            figure = draw(store).figure
        file = folder / "charts" / f"{draw.__name__}.png"
        with writing(file):
            figure.savefig(file, dpi=150)
        say(f"  {file}")
    page = report(store, folder / "report.html", title="A simulated ledger", overwrite=True)
    say("\nNext: `make lab` opens the notebooks; `ledgerframes sync lake --scan-url …` keeps a lake of a real ledger.")
    say(f"Open this file: {page.absolute()}")
