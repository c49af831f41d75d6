"""The demonstration behind `ledgerframes demo`: the main job, on the embedded ledger, with its results left on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pandas as pd

from ledgerframes import plot
from ledgerframes.apps.html_report.report import report
from ledgerframes.embedded import sandbox
from ledgerframes.frames import shape
from ledgerframes.loaders.history import History, load_history
from ledgerframes.loaders.planning import migrations, plan
from ledgerframes.showing import show
from ledgerframes.store.opening import open_store
from ledgerframes.store.store import Store
from ledgerframes.tables.catalogue import table_named


def demonstrate(folder: Path, say: Callable[[str], None], *, seed: int = 7, updates: int = 2000) -> dict[str, Path]:
    """Start the sandbox; load from it, sync a lake, export, draw; and print the main results for an analyst.

    Args:
        folder: the folder for the results.
        say: prints a line.
        seed: the simulated ledger's seed.
        updates: its length.

    Returns:
        The paths of the results: "tables" (Parquet), "lake", "bi" (Parquet for BI tools), "report", charts by name.
    """
    paths = {name: folder / name for name in ("tables", "lake", "bi")}
    with sandbox(seed=seed, updates=updates) as net:
        say(f"A simulated ledger answers at {net.sandbox.scan_url}\n")
        say("Its migrations:")
        say(_text(migrations(net)) + "\n")
        say(f"What loading it takes: {plan(net)}\n")
        history = load_history(net, limit=updates, as_="arrow", progress=False)
        _tell(History(*(shape(data, table_named(name)) for name, data in history._asdict().items())), say)
        store = open_store(paths["lake"])
        say(f"\nThe same into a lake, with snapshots:\n{store.sync(net, tables=_SYNCED, progress=False)}\n")
        say(f"And once more, for what is new: {store.sync(net, progress=False).requests} requests\n")
    _export(store, paths, say)
    paths |= _draw(store, folder / "charts", say)
    paths["report"] = report(store, folder / "report.html", title="A simulated ledger", overwrite=True)
    say("\nNext: `make lab` opens the notebooks; `ledgerframes sync lake --scan-url …` keeps a lake of a real ledger.")
    say(f"Open this file: {paths['report'].absolute()}")
    return paths


_WIDE: Final = 120  # characters of a line
_SYNCED: Final = ("updates", "events", "reassignments", "licenses", "instruments")


def _export(store: Store, paths: dict[str, Path], say: Callable[[str], None]) -> None:
    plain = store.export(paths["tables"], overwrite=True)
    flat = store.export(paths["bi"], profile="bi", overwrite=True)
    say("The tables as Parquet, with a text for every column; and without nested columns, for BI tools:")
    for table in (*plain.tables, *flat.tables):
        say(f"  {table.files[0]}  {table.rows:,} rows, {(table.bytes or 0) / 1e6:.2f} MB")


def _draw(store: Store, folder: Path, say: Callable[[str], None]) -> dict[str, Path]:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    charts: tuple[Callable[[Store], Any], ...] = (plot.coin_supply, plot.rewards, plot.updates, plot.reassignment_flows)
    say("\nCharts:")
    drawn = {}
    with mpl.rc_context({"backend": "agg"}), plot.style("light"):
        for draw in charts:
            name = draw.__name__
            drawn[name] = folder / f"{name}.png"
            figure = draw(store).figure
            figure.savefig(drawn[name], dpi=150)
            plt.close(figure)
            say(f"  {drawn[name]}")
    return drawn


def _tell(history: History[Any], say: Callable[[str], None]) -> None:
    updates, events, legs = history
    say(f"Loaded {len(updates):,} updates, {len(events):,} events, {len(legs):,} legs of reassignments.\n")
    say("Updates by migration and kind:")
    say(_text(pd.crosstab(updates.migration_id, updates.kind).reset_index()) + "\n")
    say("The first updates:")
    say(_text(updates[["migration_id", "record_time", "kind", "event_count", "update_id"]].head(5)) + "\n")
    say("What happens most:")
    counts = events.groupby(["template_name", "choice"], dropna=False).size().nlargest(6)
    say(_text(counts.rename("events").reset_index().fillna({"choice": "(created)"})) + "\n")


def _text(frame: pd.DataFrame) -> str:
    return show(frame).text(_WIDE)
