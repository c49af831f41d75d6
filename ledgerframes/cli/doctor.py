"""`ledgerframes doctor`: what is wrong and what to do; exit code 1 where something fails."""

from __future__ import annotations

from typing import Annotated

import typer

from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.options import say


@app.command()
def doctor(
    named: Annotated[
        str | None, typer.Argument(metavar="[NETWORK]", help="A profile, or the URL of a scan.", show_default=False)
    ] = None,
    *,
    store: Annotated[str | None, typer.Option(help="A lake to look at too: a folder, or an object-store URL.")] = None,
    profile: opt.Profile = None,
    scan_url: opt.ScanUrl = None,
    validator_url: opt.ValidatorUrl = None,
    registry_url: opt.RegistryUrl = None,
    ledger_url: opt.LedgerUrl = None,
    rate: opt.Rate = None,
    ca_file: opt.CaFile = None,
    insecure_http: opt.InsecureHttp = False,
    failover: opt.Failover = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say what can be reached, what answers there, and what to do about what is wrong.

    Example: ledgerframes doctor mainnet
    """
    from ledgerframes.apps.doctor.examine import doctor as examine

    if named is not None:
        profile, scan_url = opt.named(named, profile, scan_url)
    urls = {"validator_url": validator_url, "registry_url": registry_url, "ledger_url": ledger_url}
    with opt.network(
        profile, scan_url, rate, ca_file=ca_file, failover=failover, insecure_http=insecure_http, **urls
    ) as net:
        diagnosis = examine(net, store=store)
    say(diagnosis.to_json() if as_json else str(diagnosis))
    if not diagnosis:
        raise typer.Exit(1)
