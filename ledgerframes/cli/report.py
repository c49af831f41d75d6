"""`ledgerframes report`: one page about a lake."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import AsOf, StorePlace, existing


@app.command()
@opt.ranged
def report(
    store: StorePlace,
    part: opt.Part,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Its heading.")] = "Ledger report",
    sections: Annotated[
        str | None, opt.word("Parts with commas between them; by default all.", completion.sections)
    ] = None,
    labels: opt.Labels = None,
    as_of: AsOf = None,
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Take what there is of the range.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Zoomable charts (adds 5 MB; requires the `interactive` extra).")
    ] = False,
) -> None:
    """Write a one-page HTML report: key figures, tables, charts and data lineage.

    Example: ledgerframes report lake --last 7d -o report.html
    """
    from ledgerframes.apps.html_report.report import report as write

    with opt.labelled(labels):
        written = write(
            existing(store), output, title=title, **part, as_of=as_of, allow_partial=allow_partial, overwrite=overwrite,
            sections=sections.split(",") if sections else None, interactive=interactive,
        )  # fmt: skip
    opt.say_part(existing(store), part, as_of)
    opt.say(f"{written}\t{written.stat().st_size / 1e6:.1f} MB")
