"""The commands and how they end: 0 done, 1 a request failed, 2 the input was wrong; never a traceback."""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from ledgerframes import __version__
from ledgerframes.cli import options as opt
from ledgerframes.errors import ConfigurationError, InputError, LedgerframesError

app = typer.Typer(
    name="ledgerframes",
    help="A distributed ledger's HTTP interfaces as tables. Data goes to standard output, progress to standard error."
    " Tokens come from LEDGERFRAMES_TOKEN or a profile, never from the command line.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except LedgerframesError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError | ConfigurationError) else 1)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ledgerframes {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what is sent, on standard error.")] = False,
) -> None:
    del version
    # Other libraries stay at warnings: their debug lines hold headers, which may hold secrets.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    logging.getLogger("ledgerframes").setLevel(logging.DEBUG if verbose else logging.INFO)


@app.command()
def plan(
    *,
    start: opt.Start = None,
    end: opt.End = None,
    profile: opt.Profile = None,
    scan_url: opt.ScanUrl = None,
    rate: opt.Rate = None,
    as_json: opt.AsJson = False,
) -> None:
    """Estimate what loading a range takes: rows, requests, megabytes, minutes.

    Example: ledgerframes plan --start 2026-01-01 --end 2026-02-01 --scan-url https://HOST/api/scan
    """
    from ledgerframes.loaders.probes import plan as estimate

    with opt.network(profile, scan_url, rate) as net:
        found = estimate(net, opt.bound(start), opt.bound(end))
    typer.echo(json.dumps(found.to_dict()) if as_json else str(found))


@app.command()
def migrations(
    *,
    profile: opt.Profile = None,
    scan_url: opt.ScanUrl = None,
    rate: opt.Rate = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the network's migrations with their first and last record time."""
    from ledgerframes.loaders.probes import migrations as find

    with opt.network(profile, scan_url, rate) as net:
        found = find(net)
    typer.echo(found.to_json(orient="records", date_format="iso", date_unit="us") if as_json else found.to_string())


@app.command()
def sandbox(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same ledger.")] = 7,
    updates: Annotated[int, typer.Option(min=0, help="Length of its history.")] = 2000,
    hostile: Annotated[bool, typer.Option(help="Serve the nastiest legal data.")] = False,
    faults: Annotated[
        str | None, typer.Option(help='What goes wrong how often, such as "429:0.1,reset:0.05,latency:80ms".')
    ] = None,
) -> None:
    """Serve a made-up ledger until Ctrl-C, and say where and with which token (it opens nothing but this sandbox).

    Example: ledgerframes sandbox --port 8080, then in another shell
    ledgerframes load history -o lake --limit 500 --scan-url http://127.0.0.1:8080/api/scan
    """
    from ledgerframes.network import SANDBOX_USER
    from ledgerframes.network import sandbox as start

    try:
        net = start(seed=seed, updates=updates, port=port, hostile=hostile, faults=faults)
    except (OSError, ValueError) as error:
        raise InputError(str(error)) from error
    with net:
        try:
            for interface in ("scan", "validator", "registry", "ledger"):
                typer.echo(f"{interface:<10} {getattr(net.sandbox, f'{interface}_url')}")
            typer.echo(f"token      {net.sandbox.token(SANDBOX_USER)}")
            typer.echo("Ctrl-C ends it.", err=True)
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            typer.echo("ended", err=True)


@app.command()
def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo-output"),
) -> None:
    """Do the main job on the embedded ledger: load, write Parquet, show what there is."""
    from ledgerframes.demonstration import demonstrate

    opt.check_folder(output)
    demonstrate(output, typer.echo)
