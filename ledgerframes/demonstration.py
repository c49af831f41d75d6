"""The demonstration behind `ledgerframes demo`: the main job, on the embedded ledger, with its results left on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ledgerframes.loaders.files import write_parquet
from ledgerframes.loaders.frames import shape
from ledgerframes.loaders.history import History, load_history
from ledgerframes.loaders.probes import migrations, plan
from ledgerframes.network import sandbox
from ledgerframes.tables.catalogue import table_named


def demonstrate(folder: Path, say: Callable[[str], None], *, seed: int = 7, updates: int = 2000) -> dict[str, Path]:
    """Start the sandbox, load its history, write Parquet, and tell what an analyst wants to see.

    Args:
        folder: where the files go.
        say: takes each line of the story.
        seed: the made-up ledger's seed.
        updates: its length.

    Returns:
        The files written, by table.
    """
    with sandbox(seed=seed, updates=updates) as net:
        say(f"A made-up ledger answers at {net.sandbox.scan_url}\n")
        say("Its migrations:")
        say(_text(migrations(net)) + "\n")
        say(f"What loading it takes: {plan(net)}\n")
        history = load_history(net, limit=updates, as_="arrow", progress=False)
        files = write_parquet(history._asdict(), folder)
    frames = History(*(shape(data, table_named(name)) for name, data in history._asdict().items()))
    _tell(frames, say)
    say("\nThe tables, as Parquet with a text for every column:")
    for name, path in files.items():
        data: pa.Table = getattr(history, name)
        say(f"  {path}  {data.num_rows:,} rows, {path.stat().st_size / 1e6:.2f} MB")
    say("\nNext: `make lab` opens the notebooks; `ledgerframes load history --help` loads a real scan.")
    return files


def _tell(history: History, say: Callable[[str], None]) -> None:
    updates, events, reassignments = history
    say(f"Loaded {len(updates):,} updates, {len(events):,} events, {len(reassignments):,} halves of reassignments.\n")
    say("Updates by migration and kind:")
    say(_text(pd.crosstab(updates.migration_id, updates.kind).reset_index()) + "\n")
    say("The first updates:")
    say(_text(updates[["migration_id", "record_time", "kind", "event_count", "update_id"]].head(5)) + "\n")
    say("What happens most:")
    counts = events.groupby(["template_name", "choice"], dropna=False).size().nlargest(6)
    say(_text(counts.rename("events").reset_index().fillna({"choice": "(created)"})) + "\n")
    halves = _two_halves(reassignments)
    if halves is not None:
        say("One reassignment's two halves:")
        columns = ["kind", "record_time", "source_synchronizer", "target_synchronizer", "reassignment_counter"]
        say(_text(halves[columns]))


def _two_halves(reassignments: pd.DataFrame) -> pd.DataFrame | None:
    """Both halves of the first completed reassignment."""
    kinds = reassignments.groupby("unassign_id").kind.nunique()
    both = reassignments[reassignments.unassign_id.isin(kinds.index[kinds == 2])]
    return None if both.empty else both[both.unassign_id == both.unassign_id.iloc[0]]


def _text(frame: pd.DataFrame) -> str:
    shown = frame.copy()
    for name in shown.select_dtypes("str"):
        shown[name] = [short(value) for value in shown[name]]
    return str(shown.to_string(index=False))


def short(text: str) -> str:
    """A party's or synchronizer's name, or an id, shortened to what people read: `name::1220ab…`."""
    name, mark, print_ = text.partition("::") if isinstance(text, str) else (text, "", "")
    if mark:
        return f"{name}::{print_[:6]}…"
    return f"{text[:12]}…" if isinstance(text, str) and len(text) > 40 else text
