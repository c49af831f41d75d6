"""The commands over a lake: `sync`, `derive`, `coverage`, `sql`, `syncs`, `export`, `compact`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ledgerframes.arguments import choice
from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app, until_signalled
from ledgerframes.cli.output import Rows, Written, printed
from ledgerframes.errors import InputError

if TYPE_CHECKING:
    from ledgerframes.store.store import Store
    from ledgerframes.store.sync.report import SyncReport

_PLACE: Final = "The lake: a folder, or an object-store URL."
StorePlace = Annotated[str, typer.Argument(help=_PLACE, metavar="STORE", autocompletion=completion.lakes)]
AsOf = Annotated[str | None, typer.Option(help="An older state: a sync id, or a time.")]


def existing(place: str) -> Store:
    """Open a lake that has to be there already.

    Raises:
        InputError: there is none.
        StoreError: this user may not enter its folder.
    """
    from ledgerframes.store.delta.storage_errors import is_there
    from ledgerframes.store.opening import open_store

    store = open_store(place)
    if "://" not in place and not any(is_there(place, part) for part in ("lake.json", "updates")):
        raise InputError(f"{place!r} is not a lake yet; make one with: ledgerframes sync {place}")
    return store


@app.command()
@opt.networked("scan", "validator", "registry", "ledger")
@opt.ranged
def sync(
    store: StorePlace,
    network: opt.Connect,
    part: opt.Part,
    *,
    tables: Annotated[
        str | None, opt.word("Such as licenses,updates, with commas; by default the history.", completion.tables)
    ] = None,
    parties: Annotated[
        list[str] | None, typer.Option("--party", help="For holdings_summary and transfer_preapprovals.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Requests at once, 4 by default.")] = None,
    settle: Annotated[str, typer.Option(help="How long after newer updates older ones may appear.")] = "60s",
    reject: Annotated[bool, typer.Option("--reject", help="Put broken items aside and continue.")] = False,
    derive: Annotated[
        str | None, opt.word("Computed tables to keep, with commas; by default what the lake has.", completion.computed)
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Keep syncing until Ctrl-C or SIGTERM.")] = False,
    every: Annotated[str | None, typer.Option(help="With --follow: how often, 30s by default.")] = None,
    personal: Annotated[
        bool | None,
        typer.Option("--personal/--no-personal", help="Whether a new lake keeps personal data (default: yes)."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Bring a lake up to date; nothing is lost or duplicated, however the previous sync ended.

    Examples:
    ledgerframes sync lake --scan-url https://HOST/api/scan

    ledgerframes sync lake --tables licenses,instruments --profile mainnet
    """
    from ledgerframes.store.opening import open_store

    if every is not None and not follow:
        raise InputError("--every says how often --follow syncs; add --follow, or leave it out")
    lake = open_store(store, personal=personal)
    options: dict[str, Any] = {
        **part, "workers": workers, "settle": settle,
        "tables": None if tables is None else tables.split(","), "parties": parties or None,
        "on_error": "reject" if reject else "raise",
        "derive": None if derive is None else [name for name in derive.split(",") if name],
    }  # fmt: skip
    with network() as net:
        if not follow:
            _show(lake.sync(net, **options), as_json=as_json)
            return
        with until_signalled():  # a sync under way commits what is whole
            for report in lake.follow(net, every=every or "30s", **options):
                _show(report, as_json=as_json)


@app.command()
@printed
def derive(
    store: StorePlace,
    tables: Annotated[
        str,
        typer.Argument(
            help="Computed tables with commas; without it those that it has.", autocompletion=completion.computed
        ),
    ] = "",
) -> Any:
    """Compute tables from the events of a lake and keep them in it, up to where rows are final.

    Example: ledgerframes derive lake rewards,mint_burn
    """
    return existing(store).derive(tables.split(",") if tables else None)


def _show(report: SyncReport, *, as_json: bool) -> None:
    opt.say(report.to_json() if as_json else str(report))


@app.command()
@printed
def coverage(store: StorePlace, *, as_of: AsOf = None) -> Rows:
    """Show which intervals of the history a lake covers."""
    return existing(store).coverage(as_of=as_of)


@app.command()
@printed
def syncs(store: StorePlace) -> Rows:
    """List the syncs of a lake: ids for --as-of, times, rows."""
    return existing(store).syncs()


@app.command()
@printed
def sql(
    store: StorePlace,
    query: Annotated[str, typer.Argument(help="DuckDB's SQL; the tables go by their names.")],
    *,
    as_of: AsOf = None,
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Read a history with holes.")] = False,
) -> Written:
    """Ask a lake in SQL.

    Example: ledgerframes sql lake "select kind, count(*) from updates group by kind"
    """
    return existing(store).sql(query, as_of=as_of, allow_partial=allow_partial, as_="arrow")


_FORMATS: Final = ("parquet", "csv", "xlsx")
_EXPORT: Final[dict[str, Any]] = {
    "format": Annotated[str | None, opt.word("parquet, csv or xlsx; by default that of the path's ending.", _FORMATS)],
    "profile": Annotated[str | None, opt.word("bi: for programs without lists and exact decimals.", ("bi",), "--for")],
    "layout": Annotated[str | None, opt.word("file, or hive: folders by migration and month.", ("file", "hive"))],
    "times": Annotated[str | None, opt.word("us, or ms for programs that know no microseconds.", ("us", "ms"))],
    "as_of": AsOf,
    "allow_partial": Annotated[bool, typer.Option("--allow-partial", help="Export a history with holes.")],
    "overwrite": Annotated[bool, typer.Option("--overwrite", help="Overwrite existing files.")],
    "personal": Annotated[bool, typer.Option("--personal", help="Keep personal data: contact points.")],
    "model": Annotated[
        str | None, opt.word("star: facts and dimensions for BI programs instead of the tables.", ("star",))
    ],
}


@app.command()
@opt.ranged
@printed
@opt.taking(_EXPORT)
def export(
    store: StorePlace,
    path: Annotated[Path, typer.Argument(help="A folder, or a file .xlsx, .parquet or .csv.")],
    part: opt.Part,
    *,
    tables: Annotated[
        str | None, opt.word("Names with commas between them; by default all.", completion.exported)
    ] = None,
    **options: Any,
) -> Any:
    """Write a lake's tables to files that other programs read.

    Example: ledgerframes export lake out --for bi
    """
    chosen: dict[str, Any] = {**part, **opt.chosen(options), "tables": None if tables is None else tables.split(",")}
    if "profile" in chosen:
        choice(chosen["profile"], "--for", ["bi"])
    report = existing(store).export(path, **chosen)
    opt.say_part(existing(store), part, chosen.get("as_of"))
    if not report.rows and part["last"] is None:
        opt.say("no rows", err=True)
    return report


@app.command()
@printed
def compact(
    store: StorePlace,
    *,
    forget_before: Annotated[str | None, typer.Option(help="Also remove what only older states need.")] = None,
) -> Rows:
    """Join the small files of a lake; with --forget-before, remove old states for good."""
    return existing(store).compact(forget_before=forget_before)
