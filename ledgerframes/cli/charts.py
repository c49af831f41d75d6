"""`ledgerframes plot` and `report`: a chart of a lake in a file, and one page about it."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from ledgerframes import plot as charts
from ledgerframes.arguments import choice
from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import AsOf, StorePlace, existing
from ledgerframes.cli.tables import input_of
from ledgerframes.errors import InputError
from ledgerframes.export.atomic_write import Staging, check_folder, refuse_taken, writing

_ENDINGS: Final = (".png", ".svg", ".pdf")
#: The charts of a lake, by their names in the shell.
CHARTS: Final = tuple(name.replace("_", "-") for name in dir(charts) if name not in {"style", "instrument_supply"})


@app.command()
@opt.ranged
def plot(
    chart: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(CHARTS)}.", autocompletion=completion.listed(CHARTS))
    ],
    store: StorePlace,
    part: opt.Part,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .png, .svg or .pdf; by default CHART.png.")
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="How many names to show; the others are combined.")] = None,
    every: Annotated[str | None, typer.Option(help='Length of an interval: "1h", "1D".')] = None,
    events: Annotated[
        str | None, opt.word("votes or config_changes: lines on a chart over time.", ("votes", "config_changes"))
    ] = None,
    theme: Annotated[str, opt.word("light or dark.", ("light", "dark"))] = "light",
    labels: opt.Labels = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw a chart of a lake.

    Example: ledgerframes plot rewards lake -o rewards.svg
    """
    import matplotlib as mpl

    from ledgerframes.models import governance

    chart = chart.replace("_", "-")  # as in Python
    choice(chart, "CHART", CHARTS)
    target = Path(f"{chart}.png") if output is None else output
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"--output {str(target)!r} is not valid: give a file that ends in {', '.join(_ENDINGS)}")
    refuse_taken(target, overwrite=overwrite)
    check_folder(target.parent)
    draw = getattr(charts, chart.replace("-", "_"))
    options = opt.chosen({"top": top, "every": every, "events": events})
    for name in options.keys() - signature(draw).parameters:
        raise InputError(f"--{name} does not apply to {chart}; leave it out")
    if events is not None:
        choice(events, "--events", ("votes", "config_changes"))
    source, opening = input_of(store, part, draw)
    if events is not None:
        options["events"] = getattr(governance, events)(source)
    mpl.use("Agg")  # a shell may have no screen
    with charts.style(cast("Any", theme)), opt.labelled(labels):
        ax = draw(source, **options, **opening)
        with Staging(target.parent, overwrite=overwrite) as staging:
            with writing(target):
                ax.figure.savefig(staging.place(target.name), dpi=150)
            staging.commit()
    opt.say(target)


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
        bool, typer.Option("--interactive", help="Zoomable charts (plotly.js, 5 MB; needs the `interactive` extra).")
    ] = False,
) -> None:
    """Write a one-page HTML report: key figures, tables, charts and data lineage.

    Example: ledgerframes report lake --last 7d -o report.html
    """
    from ledgerframes.apps.html_report.report import report as write

    check_folder(output.parent)
    with opt.labelled(labels):
        written = write(
            existing(store), output, title=title, **part, as_of=as_of, allow_partial=allow_partial, overwrite=overwrite,
            sections=None if sections is None else sections.split(","), interactive=interactive,
        )  # fmt: skip
    opt.say_part(existing(store), part, as_of)
    opt.say(f"{written}\t{written.stat().st_size / 1e6:.1f} MB")
