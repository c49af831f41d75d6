"""Commands that look for what is wrong: `doctor`, `check`, `repair`, `verify`, `cross-check`; exit code 1 if it is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import StorePlace, existing
from ledgerframes.cli.output import printed


@app.command()
@printed
def check(
    store: StorePlace,
    *,
    full: Annotated[bool, typer.Option("--full", help="Also read all pages of all files and verify them.")] = False,
) -> Any:
    """Prove from a lake's files alone that they are there, keys are unique and counts add up."""
    return existing(store).check(full=full)


@app.command()
@printed
def repair(
    store: StorePlace,
    *,
    unsettled: Annotated[bool, typer.Option("--unsettled", help="Also remove what is not final yet.")] = False,
) -> Any:
    """Remove from a lake what is damaged, lost or unsound; the next sync reads it again.

    Example: ledgerframes repair lake, then ledgerframes sync lake --profile mainnet
    """
    return existing(store).repair(unsettled=unsettled)


@app.command()
@printed
@opt.networked("scan")
@opt.ranged
def verify(
    store: StorePlace,
    network: opt.Connect,
    part: opt.Part,
    *,
    sample: Annotated[int, typer.Option(min=0, help="Places drawn at random; 0 compares everything.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed draws the same places.")] = 0,
) -> Any:
    """Read parts of a lake again from a server and compare; nothing is changed."""
    lake = existing(store)
    with network() as net:
        return lake.verify(net, **part, sample=sample or None, seed=seed)


@app.command("cross-check")
@printed
@opt.ranged
def cross_check(
    part: opt.Part,
    *,
    against: Annotated[str, typer.Option(help="The other scan: its base URL, or a profile, whose token it gets.")],
    profile: opt.Profile = None,
    scan_url: opt.ScanUrl = None,
    rate: opt.Rate = None,
    ca_file: opt.CaFile = None,
) -> Any:
    """Read a range from two scans and compare it update by update.

    Example: ledgerframes cross-check --scan-url https://A/api/scan --against https://B/api/scan --last 1h
    """
    from ledgerframes.loaders.cross_check import cross_check as compare

    with (
        opt.connected({"profile": profile, "scan_url": scan_url, "rate": rate, "ca_file": ca_file}) as net,
        opt.other_network(against, rate, ca_file) as other,
    ):
        return compare(net, other, **part)


@app.command()
@printed
@opt.networked("scan", "validator", "registry", "ledger")
def doctor(
    network: opt.Connect,
    named: Annotated[
        str | None, typer.Argument(metavar="[NETWORK]", help="A profile, or the URL of a scan.", show_default=False)
    ] = None,
) -> Any:
    """Say what can be reached, what answers there, and what to do about what is wrong.

    Example: ledgerframes doctor mainnet
    """
    from ledgerframes.apps.doctor.examine import doctor as examine

    with network(named) as net:
        return examine(net)
