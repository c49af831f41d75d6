"""The commands over a lake: `sync`, `derive`, `coverage`, `sql`, `syncs`, `export`, `compact`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ledgerframes.arguments import choice
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.output import check_output, say_frame, say_table, write_tables
from ledgerframes.errors import InputError

if TYPE_CHECKING:
    from ledgerframes.store.store import Store
    from ledgerframes.store.sync.report import SyncReport

PLACE_HELP: Final = "The lake: a folder, or an object-store URL."
StorePlace = Annotated[str, typer.Argument(help=PLACE_HELP, metavar="STORE")]
AsOf = Annotated[str | None, typer.Option(help="An older state: a sync id, or a time.")]


def existing(place: str) -> Store:
    """Open a lake that has to be there already.

    Raises:
        InputError: there is none.
    """
    from ledgerframes.store.opening import open_store

    if "://" not in place and not Path(place).is_dir():
        raise InputError(f"{place!r} is not a lake yet; make one with: ledgerframes sync {place}")
    return open_store(place)


@app.command()
def sync(
    store: StorePlace,
    *,
    start: opt.Start = None,
    end: opt.End = None,
    last: opt.Last = None,
    tables: Annotated[str | None, typer.Option(help="Snapshots or history, with commas; by default history.")] = None,
    party: Annotated[list[str] | None, typer.Option(help="For holdings_summary and transfer_preapprovals.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Requests at once, 4 by default.")] = None,
    settle: Annotated[str, typer.Option(help="How long after newer updates older ones may appear.")] = "60s",
    reject: Annotated[bool, typer.Option("--reject", help="Put broken items aside and continue.")] = False,
    replicas: Annotated[
        bool, typer.Option("--replicas", help="Machines that are not in step answer behind one URL.")
    ] = False,
    derive: Annotated[
        str | None, typer.Option(help="Computed tables to keep, with commas; by default those that the lake has.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Keep syncing until Ctrl-C or SIGTERM.")] = False,
    every: Annotated[str, typer.Option(help="With --follow: how often.")] = "30s",
    personal: Annotated[
        bool | None,
        typer.Option("--personal/--no-personal", help="Whether a new lake keeps personal data (default: yes)."),
    ] = None,
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
    """Bring a lake up to date; nothing is lost or duplicated, however the previous sync ended.

    Examples:
    ledgerframes sync lake --scan-url https://HOST/api/scan

    ledgerframes sync lake --tables licenses,instruments --profile mainnet
    """
    from ledgerframes.store.opening import open_store

    lake = open_store(store, personal=personal)
    options: dict[str, Any] = {
        "start": opt.bound(start), "end": opt.bound(end), "last": last, "workers": workers, "settle": settle,
        "tables": tables.split(",") if tables else None, "parties": party or None,
        "on_error": "reject" if reject else "raise", "replicas": replicas,
        "derive": None if derive is None else [name for name in derive.split(",") if name],
    }  # fmt: skip
    urls = {"validator_url": validator_url, "registry_url": registry_url, "ledger_url": ledger_url}
    with opt.network(
        profile, scan_url, rate, ca_file=ca_file, failover=failover, insecure_http=insecure_http, **urls
    ) as net:
        if not follow:
            _show(lake.sync(net, **options), as_json=as_json)
            return
        with _until_told():
            for report in lake.follow(net, every=every, **options):
                _show(report, as_json=as_json)
    opt.say("ended", err=True)


@app.command()
def derive(
    store: StorePlace,
    tables: Annotated[str, typer.Argument(help="Computed tables with commas; without it those that it has.")] = "",
    *,
    as_json: opt.AsJson = False,
) -> None:
    """Compute tables from the events of a lake and keep them in it, up to where rows are final.

    Example: ledgerframes derive lake rewards,mint_burn
    """
    report = existing(store).derive(tables.split(",") if tables else None)
    opt.say(report.to_json() if as_json else str(report))


def _show(report: SyncReport, *, as_json: bool) -> None:
    opt.say(report.to_json() if as_json else str(report))


@contextmanager
def _until_told() -> Iterator[None]:
    """Until Ctrl-C or SIGTERM, which is how this is meant to end; a sync under way commits what is whole."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def coverage(store: StorePlace, *, as_of: AsOf = None, as_json: opt.AsJson = False) -> None:
    """Show which intervals of the history a lake covers."""
    covered = existing(store).coverage(as_of=as_of)
    say_frame(covered, as_json=as_json)


@app.command()
def syncs(store: StorePlace, *, as_json: opt.AsJson = False) -> None:
    """List the syncs of a lake: ids for --as-of, times, rows."""
    listed = existing(store).syncs()
    say_frame(listed, as_json=as_json)


@app.command()
def sql(
    store: StorePlace,
    query: Annotated[str, typer.Argument(help="DuckDB's SQL; the tables go by their names.")],
    *,
    as_of: AsOf = None,
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Read a history with holes.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file .parquet, .csv, .json or .xlsx, or - for CSV on standard output."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Ask a lake in SQL.

    Example: ledgerframes sql lake "select kind, count(*) from updates group by kind"
    """
    if output is not None:
        check_output(output, tables="the answer", several=False)
    answer = existing(store).sql(query, as_of=as_of, allow_partial=allow_partial, as_="arrow")
    if output is not None:
        write_tables({"rows": answer}, output)
    else:
        say_table(answer, as_json=as_json)


@app.command()
def export(
    store: StorePlace,
    path: Annotated[Path, typer.Argument(help="A folder, or a file .xlsx, .parquet or .csv.")],
    *,
    tables: Annotated[str | None, typer.Option(help="Names with commas between them; by default all.")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="parquet, csv or xlsx; by default what the path's ending says.")
    ] = None,
    export_profile: Annotated[
        str | None, typer.Option("--for", help="bi: for programs without lists and exact decimals.")
    ] = None,
    layout: Annotated[str, typer.Option(help="file, or hive: folders by migration and month.")] = "file",
    times: Annotated[str, typer.Option(help="us, or ms for programs that know no microseconds.")] = "us",
    start: opt.Start = None,
    end: opt.End = None,
    last: opt.Last = None,
    as_of: AsOf = None,
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Export a history with holes.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite existing files.")] = False,
    personal: Annotated[bool, typer.Option("--personal", help="Keep personal data: contact points.")] = False,
    model: Annotated[
        str | None, typer.Option(help="star: facts and dimensions for BI programs instead of the tables.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write a lake's tables to files that other programs read.

    Example: ledgerframes export lake out --for bi
    """
    if export_profile is not None:
        choice(export_profile, "--for", ["bi"])
    options: dict[str, Any] = {
        "tables": tables.split(",") if tables else None, "format": file_format, "profile": export_profile,
        "layout": layout, "times": times, "start": opt.bound(start), "end": opt.bound(end), "last": last,
        "as_of": as_of, "allow_partial": allow_partial, "overwrite": overwrite, "personal": personal,
        "model": model,
    }  # fmt: skip
    report = existing(store).export(path, **options)
    opt.say_part(existing(store), last, end=opt.bound(end), as_of=as_of)
    opt.say(report.to_json() if as_json else str(report))


@app.command()
def compact(
    store: StorePlace,
    *,
    forget_before: Annotated[str | None, typer.Option(help="Also remove what only older states need.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Join the small files of a lake; with --forget-before, remove old states for good."""
    say_frame(existing(store).compact(forget_before=forget_before), as_json=as_json)
