"""`ledgerframes load`: any table into a file or a folder, by the loader's own arguments."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Final

import typer

import ledgerframes
from ledgerframes.arguments import choice
from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.help import option_of
from ledgerframes.cli.output import Overwrite, check_output, write_tables
from ledgerframes.errors import InputError

#: The tables of loads of several, which go into a folder.
_SEVERAL: Final = {
    "history": ("updates", "events", "reassignments"),
    "verdicts": ("verdicts", "views", "app_activity"),
    **dict.fromkeys(("ledger_transaction", "ledger_history"), ("transactions", "events")),
}
#: Tables counted by a participant's offsets, not by times.
_BY_OFFSET: Final = frozenset({"ledger_history", "ledger_contracts"})
_AT: Final = "active_contracts, coins: the newest snapshot up to this time, UTC; ledger_contracts: an offset."
_OUTPUT: Final = "A file .parquet, .csv, .json or .xlsx, a folder, or - for CSV on standard output."
#: What `load_events` calls options that other loaders name in the plural: an event has one template.
_OF_EVENTS: Final = {"templates": "template", "parties": "party"}
#: What a user can load, the three history tables in one pass among it; an update and an opening are for Python alone.
LOADABLE: Final = tuple(
    name.removeprefix("load_")
    for name in dir(ledgerframes)
    if name.startswith("load_") and name not in {"load_update", "load_opening"}
)

#: The options for a loader, by the arguments of it that they give.
_OPTIONS: Final[dict[str, Any]] = {
    "start": opt.Start,
    "end": opt.End,
    "last": opt.Last,
    "limit": opt.Limit,
    "columns": Annotated[
        str | None, typer.Option(help="Columns to keep, with commas between them.", autocompletion=completion.columns)
    ],
    "at": Annotated[str | None, typer.Option(help=_AT)],
    "templates": Annotated[
        list[str] | None,
        typer.Option("--template", help="events: Module:Entity; active_contracts: package-name:Module:Entity, too."),
    ],
    "choice": Annotated[list[str] | None, typer.Option("--choice", help="events: a choice's name; may be repeated.")],
    "owners": Annotated[list[str] | None, typer.Option("--owner", help="coins: an owner's party id; may be repeated.")],
    "prefix": Annotated[str | None, typer.Option(help="names: only those that begin so.")],
    "members": Annotated[
        list[str] | None, typer.Option("--member", help="traffic: PAR::… or MED::…; may be repeated.")
    ],
    "synchronizer": Annotated[str | None, typer.Option(help="traffic: the synchronizer's id.")],
    "validators": Annotated[
        list[str] | None, typer.Option("--validator", help="validator_faucets: a party; may be repeated.")
    ],
    "parties": Annotated[list[str] | None, typer.Option("--party", help="A party id; may be given several times.")],
    "record_time": Annotated[str | None, typer.Option(help="holdings_summary: the snapshot's time.")],
    "migration_id": Annotated[int | None, typer.Option(help="holdings_summary: the snapshot's migration id.")],
    "match": Annotated[str | None, opt.word("holdings_summary: exact or at_or_before.", ("exact", "at_or_before"))],
    "as_of_round": Annotated[int | None, typer.Option(help="holdings_summary: round of the notional fees.")],
    "missing": Annotated[str | None, opt.word("holdings_summary: null, zero or drop.", ("null", "zero", "drop"))],
    "update_id": Annotated[str | None, typer.Option(help="ledger_transaction: which one.")],
    "hash": Annotated[str | None, typer.Option(help="ledger_transaction: which one, by its hash.")],
    "blobs": Annotated[bool, typer.Option("--blobs", help="Contracts: keep created_event_blob.")],
}


@app.command()
@opt.networked("scan", "validator", "registry", "ledger")
@opt.taking(_OPTIONS)
def load(
    network: opt.Connect,
    *,
    table: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(LOADABLE)}.", autocompletion=completion.listed(LOADABLE))
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help=_OUTPUT)],
    overwrite: Overwrite = False,
    personal: Annotated[bool, typer.Option("--personal", help="Keep personal data: contact points.")] = False,
    **options: Any,
) -> None:
    """Load one table, or all three history tables, into Parquet, CSV, JSON or a workbook.

    Examples:
    ledgerframes load history -o tables --scan-url https://HOST/api/scan --last 1h

    ledgerframes load licenses -o licenses.csv --scan-url https://HOST/api/scan
    """
    choice(table, "TABLE", LOADABLE)
    check_output(output, _SEVERAL.get(table, (table,)), what=table, overwrite=overwrite)
    chosen = opt.chosen(options)
    for name in {"start", "end", "at"} & chosen.keys():
        chosen[name] = _offset(chosen[name], name) if table in _BY_OFFSET else opt.bound(chosen[name])
    chosen |= {"columns": chosen["columns"].split(",")} if "columns" in chosen else {}
    chosen |= {"personal": True} if personal and table == "licenses" else {}
    if table == "events":
        chosen = {_OF_EVENTS.get(name, name): value for name, value in chosen.items()}
    loader = _loader(table, chosen)
    with network() as net:
        loaded = loader(net, as_="arrow", **chosen)
        personal = personal or net.settings.personal
    tables = {table: loaded} if not isinstance(loaded, tuple) else loaded._asdict()  # type: ignore[attr-defined]
    opt.say_range(next(iter(tables.values())), chosen.get("last"), warned=True)
    write_tables(tables, output, overwrite=overwrite, personal=personal)


def _offset(text: str, name: str) -> int:
    """Read a participant's offset.

    Raises:
        InputError: it is not a whole number.
    """
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"--{name} {text!r} is not valid: give an offset, a whole number")
    return int(text)


def _loader(table: str, chosen: dict[str, Any]) -> Any:
    """The table's loader, by whose own signature the arguments are checked.

    Raises:
        InputError: an option does not apply to this table, or one that it needs is missing.
    """
    loader = getattr(ledgerframes, f"load_{table}")
    takes = inspect.signature(loader).parameters
    for name in chosen:
        if name not in takes or (name == "columns" and table in _SEVERAL):
            raise InputError(f"{_option(name)} does not apply to {table}; see: ledgerframes load --help")
    for name, parameter in takes.items():
        if parameter.default is parameter.empty and name not in {"net", *chosen}:
            raise InputError(f"{table} needs {_option(name)}")
    return loader


def _option(name: str) -> str:
    """The option that gives an argument, such as `--party` for `parties`."""
    # In an Annotated, typer takes the first name for a default.
    first = _OPTIONS[name].__metadata__[0].default if name in _OPTIONS else None
    return first if isinstance(first, str) else option_of(name)
