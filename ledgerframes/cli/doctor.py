"""`ledgerframes doctor`: problems and their remedies; exit code 1 if something fails."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.output import printed


@app.command()
@printed
@opt.networked("scan", "validator", "registry", "ledger")
def doctor(
    network: opt.Connect,
    named: Annotated[
        str | None, typer.Argument(metavar="[NETWORK]", help="A profile, or the URL of a scan.", show_default=False)
    ] = None,
    *,
    store: Annotated[str | None, typer.Option(help="A lake to look at too: a folder, or an object-store URL.")] = None,
) -> Any:
    """Say what can be reached, what answers there, and what to do about what is wrong.

    Example: ledgerframes doctor mainnet
    """
    from ledgerframes.apps.doctor.examine import doctor as examine

    with network(named) as net:
        return examine(net, store=store)
