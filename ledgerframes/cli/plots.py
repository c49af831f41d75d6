"""`ledgerframes plot`: a picture of a lake in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from ledgerframes.arguments import did_you_mean
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import StorePlace, existing
from ledgerframes.cli.questions import history_of
from ledgerframes.errors import InputError

if TYPE_CHECKING:
    from ledgerframes.loaders.history import History

_ENDINGS: Final = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class _Picture:
    """A picture by its name in the shell.

    Attributes:
        plot: the public function that draws it.
        frame: the public function that computes its frame.
        of: which part of a history that function takes.
        options: options of the command that `plot` takes.
        fixed: what it is always called with.
        every: whether the frame is computed at the interval of `--every`.
    """

    plot: str
    frame: str
    of: Callable[[History[Any]], Any]
    options: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    every: bool = False


def _events(history: History[Any]) -> Any:
    return history


def _legs(history: History[Any]) -> Any:
    return history.reassignments


_PICTURES: Final = {
    "flows": _Picture("plot_reassignment_flows", "reassignment_flows", _legs, ("top",)),
    "matrix": _Picture("plot_reassignment_matrix", "reassignment_flows", _legs, ("top",)),
    "timeline": _Picture("plot_reassignment_timeline", "reassignment_flows", _legs, ("top", "every")),
    "in-flight": _Picture("plot_reassignment_in_flight", "reassignment_flows", _legs),
    "updates": _Picture("plot_update_rate", "", lambda history: history.updates, ("every",)),
    "holdings": _Picture(
        "plot_holding_fees", "holdings_from_events", lambda history: history, ("top",), (("show", "holdings"),)
    ),
    "balances": _Picture("plot_balances", "balances_over_time", _events, ("top",), every=True),
    "rewards": _Picture("plot_rewards", "rewards", _events, ("every",)),
    "burn": _Picture("plot_burn", "mint_burn", _events, ("every",)),
    "supply": _Picture("plot_supply_per_round", "supply_per_round", _events),
    "transfers": _Picture("plot_transfers", "transfers", _events, ("top",)),
    "validators": _Picture("plot_license_growth", "license_growth", lambda history: history.events),
}


@app.command()
def plot(
    picture: Annotated[
        str,
        typer.Argument(
            help=f"One of: {', '.join(_PICTURES)}.",
            autocompletion=lambda incomplete: [name for name in _PICTURES if name.startswith(incomplete)],
        ),
    ],
    store: StorePlace,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file .png, .svg or .pdf.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="How many names to show; the others are combined.")] = None,
    every: Annotated[str | None, typer.Option(help='Length of an interval: "1h", "1D".')] = None,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    start: opt.Start = None,
    end: opt.End = None,
    last: opt.Last = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw a picture of a lake.

    Example: ledgerframes plot flows lake -o flows.png
    """
    if picture not in _PICTURES:
        hint = did_you_mean(picture, _PICTURES) or f"; there are {', '.join(_PICTURES)}"
        raise InputError(f"{picture!r} is not a picture{hint}")
    chosen = _PICTURES[picture]
    target = Path(f"{picture}.png") if output is None else output
    _check(target, overwrite=overwrite)
    options = dict(chosen.fixed)
    for name, value in (("top", top), ("every", every)):
        if value is not None and name not in chosen.options and not (name == "every" and chosen.every):
            raise InputError(f"--{name} means nothing to {picture}; leave it out")
        if value is not None and name in chosen.options:
            options[name] = value
    lake = existing(store)
    history = history_of(lake, start, end, last)
    _draw(chosen, history, options, every, target, theme)
    opt.say(target)


def _check(target: Path, *, overwrite: bool) -> None:
    """Refuse before anything is read what could not be written afterwards."""
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"--output {str(target)!r} is not valid: give a file that ends in {', '.join(_ENDINGS)}")
    if target.exists() and not overwrite:
        raise InputError(f"{str(target)!r} already exists; pass --overwrite, or name another file")
    opt.check_folder(target.parent)


def _draw(
    chosen: _Picture, history: History[Any], options: dict[str, Any], every: str | None, target: Path, theme: str
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # a shell may have no screen
    import ledgerframes

    rows = chosen.of(history)
    given = {"every": every} if chosen.every and every is not None else {}
    if chosen.frame == "holdings_from_events":
        frame = ledgerframes.holdings_from_events(rows.events, rows.reassignments)
    else:
        frame = getattr(ledgerframes, chosen.frame)(rows, **given) if chosen.frame else rows
    with ledgerframes.style(cast("Any", theme)):
        ax = getattr(ledgerframes, chosen.plot)(frame, **options)
        ax.figure.savefig(target, dpi=150)
