"""`ledgerframes plot`: a chart of a lake in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from ledgerframes.arguments import choice, did_you_mean
from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import StorePlace, existing
from ledgerframes.cli.questions import history_of
from ledgerframes.errors import InputError

_ENDINGS: Final = (".png", ".svg", ".pdf")


#: The charts by their names in the shell, each with the options of the command that it takes.
_CHARTS: Final = {
    "reassignment-flows": ("top",), "reassignment-matrix": ("top",),
    "reassignment-timeline": ("top", "every", "events"), "in-flight": (), "updates": ("every", "events"),
    "holdings": ("top",), "holding-fees": ("top",), "balances": ("top", "events"), "rewards": ("every", "events"),
    "burn": ("every", "events"), "coin-supply": (), "transfers": ("top",), "validators": ("events",),
    "license-growth": ("events",), "votes": ("every", "events"), "price-votes": ("events",), "issuance": (),
    "supply-by-purpose": ("events",), "app-shares": ("top", "every", "events"), "validator-scorecard": ("top",),
    "retention": (),
}  # fmt: skip


@app.command()
@opt.ranged
def plot(
    chart: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(_CHARTS)}.", autocompletion=completion.listed(_CHARTS))
    ],
    store: StorePlace,
    part: opt.Part,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file .png, .svg or .pdf.")] = None,
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
    from ledgerframes.models import governance

    if chart not in _CHARTS:
        hint = did_you_mean(chart, _CHARTS) or f"; there are {', '.join(_CHARTS)}"
        raise InputError(f"{chart!r} is not a chart{hint}")
    target = Path(f"{chart}.png") if output is None else output
    _check(target, overwrite=overwrite)
    choices: dict[str, Any] = {"top": top, "every": every, "events": events}
    options = {name: value for name, value in choices.items() if value is not None}
    for name in options:
        if name not in _CHARTS[chart]:
            raise InputError(f"--{name} does not apply to {chart}; leave it out")
    if events is not None:
        choice(events, "--events", ("votes", "config_changes"))
    history = history_of(existing(store), part)
    if events is not None:
        options["events"] = getattr(governance, events)(history)
    import matplotlib as mpl

    mpl.use("Agg")  # a shell may have no screen
    from ledgerframes import plot as charts
    from ledgerframes.export.atomic_write import Staging

    with charts.style(cast("Any", theme)), opt.labelled(labels):
        ax = getattr(charts, chart.replace("-", "_"))(history, **options)
        with Staging(target.parent, overwrite=overwrite) as staging:
            ax.figure.savefig(staging.place(target.name), dpi=150)
            staging.commit()
    opt.say(target)


def _check(target: Path, *, overwrite: bool) -> None:
    """Refuse early a target that could not be written afterwards."""
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"--output {str(target)!r} is not valid: give a file that ends in {', '.join(_ENDINGS)}")
    if target.exists() and not overwrite:
        raise InputError(f"{str(target)!r} already exists; pass --overwrite, or name another file")
    opt.check_folder(target.parent)
