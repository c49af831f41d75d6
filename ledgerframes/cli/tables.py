"""Commands that answer with a table: those that are declared, and those of a lake as quick answers."""

from __future__ import annotations

import sys
from decimal import localcontext
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.lake import StorePlace, existing
from ledgerframes.cli.output import Rows, Written, printed
from ledgerframes.errors import InputError, PartialResultError
from ledgerframes.timestamps import format_timestamp

if TYPE_CHECKING:
    import pandas as pd

    from ledgerframes.paging.cursor import Bound
    from ledgerframes.store.store import Store

_PER_INTERVAL: Final = ("supply_by_purpose", "balances_over_time", "active_parties", "template_activity")
_ON_A_TERMINAL: Final = 20
_BY: Final = ("kind", "outcome", "provider", "beneficiary")
Top = Annotated[int | None, typer.Option(min=1, help="Number of rows at most; 20 on a terminal, else all.")]
At = Annotated[str | None, typer.Option(help="supply, coin_history: the state at this time, or MIGRATION@TIME.")]
Every = Annotated[str | None, typer.Option(help=f'{", ".join(_PER_INTERVAL)}: length of an interval, "1h" or "1D".')]
Party = Annotated[
    list[str] | None, typer.Option(help="movements, balances_over_time: a whole party id; of the latter also several.")
]


@app.command()
@printed
def tables() -> Rows:
    """List the tables: what a row is, the key, the endpoints."""
    from ledgerframes.tables.descriptions import tables as listed

    return listed()


@app.command()
@printed
def describe(
    table: Annotated[str, typer.Argument(help="The table's name.", autocompletion=completion.tables)],
) -> Rows:
    """Describe a table's columns: kind, unit, whether null is possible, meaning, source.

    Example: ledgerframes describe events
    """
    from ledgerframes.tables.descriptions import describe as described

    return described(table)


@app.command()
@printed
def find(word: Annotated[str, typer.Argument(help='A word, or several in quotes: "who paid".')]) -> Rows:
    """Find tables, charts, columns and Python's functions by a word in their names and descriptions.

    Example: ledgerframes find holdings
    """
    from ledgerframes.apps.finding import find as found

    return found(word)


@app.command()
@printed
def model(
    name: Annotated[
        str | None,
        typer.Argument(help="The model's name; without one the models are listed.", autocompletion=completion.models),
    ] = None,
) -> Rows:
    """Print the SQL of a computed table, which DuckDB runs over exported Parquet.

    Example: ledgerframes model rewards > rewards.sql
    """
    from ledgerframes.models import texts

    return texts.models() if name is None else texts.model(name).rstrip("\n")


def input_of(place: str, part: opt.Part, function: Any) -> tuple[Any, dict[str, Any]]:
    """The input of a table's or chart's function: a lake, or a part of it and the contracts that were active before.

    Those are left out at ledger begin, and None if the lake does not know them. A part that begins before the lake's
    first update, as on the ledger's first day, is one from where the lake begins.
    """
    from ledgerframes.loaders.history import History
    from ledgerframes.loaders.opening import begin_of
    from ledgerframes.models.openings import stored_opening

    lake = existing(place)
    if set(part.values()) == {None}:
        return lake, {}
    history = History(*(lake.load(name, **part) for name in History._fields))
    opt.say_range(history.updates, part["last"])
    begin = begin_of(history.events.attrs)
    if begin is None:
        return history, {}
    migration, start = begin[0], format_timestamp(begin[1])
    at: Bound = start if migration is None else (migration, start)
    if _is_first(lake, at):
        return History(*(lake.load(name, end=part["end"]) for name in History._fields)), {}
    if "opening" not in signature(function).parameters:
        return history, {}
    return history, {"opening": stored_opening(lake, at=at)}


def _is_first(lake: Store, at: Bound) -> bool:
    """Whether a lake has all that was before a place, which is nothing."""
    try:
        return not lake.scan("updates", end=at).head(1, columns=["update_id"]).num_rows
    except PartialResultError:
        return False


@app.command()
@opt.ranged
@printed
def flows(store: StorePlace, part: opt.Part, *, top: Top = None) -> Rows:
    """Count the reassignments of a lake from each synchronizer to each, the busiest routes first.

    Example: ledgerframes flows lake --last 7d
    """
    from ledgerframes.apps.html_report.headlines import legs_across
    from ledgerframes.models.reassignments import flow_matrix, reassignment_flows

    legs = existing(store).load("reassignments", **part)
    opt.say_range(legs, part["last"])
    routes = reassignment_flows(legs)
    for words in legs_across(routes).values():
        opt.say(words, err=True)
    return _largest(flow_matrix(routes), "count", top)


@app.command()
@printed
def holdings(
    store: StorePlace,
    *,
    top: Top = None,
    at: Annotated[str | None, typer.Option(help="Up to and including this time, UTC, or MIGRATION@TIME.")] = None,
) -> Rows:
    """List parties' holdings, from the history of a lake, the largest first; notional fees are not deducted.

    Example: ledgerframes holdings lake --top 10
    """
    from ledgerframes.models.holdings import holdings_from_events

    balances = holdings_from_events(existing(store), at=opt.bound(at), decimals="exact")
    columns = ["party_id", "total_unlocked_coin", "total_locked_coin", "total_coin_holdings"]
    return _largest(balances[columns], "total_coin_holdings", top)


@app.command()
@opt.ranged
@printed
def rewards(
    store: StorePlace,
    part: opt.Part,
    *,
    by: Annotated[str, opt.word("kind, outcome, provider or beneficiary.", _BY)] = "kind",
    top: Top = None,
) -> Rows:
    """Sum up the reward coupons that ended in a range of a lake, or are open: their number, their worth, what was paid.

    Open ones count if they were created in the range, the others when they end, whenever they began. Coupons of a round
    that has not issued have no worth yet. An expired coupon was paid to nobody.

    Example: ledgerframes rewards lake --by provider --last 7d
    """
    import pandas as pd

    from ledgerframes.apps.html_report.headlines import total
    from ledgerframes.apps.html_report.report import stored_report_data
    from ledgerframes.arguments import choice
    from ledgerframes.number_format import plural

    choice(by, "--by", _BY)
    report_data = stored_report_data(existing(store), **part)
    opt.say_range(report_data.updates, part["last"])
    ended, begun = (report_data.of("rewards", column) for column in ("ended_at", "created_at"))
    coupons = pd.concat([ended, begun[begun["outcome"] == "open"]])
    if unknown := int(coupons["amount"].isna().sum()):
        opt.say(f"the worth of {plural(unknown, 'coupon')} is not known, and in no amount", err=True)
    claimed = coupons["amount"].where(coupons["outcome"] == "claimed")
    with localcontext(prec=60):
        sums = (
            coupons.assign(coupons=1, claimed=claimed, **{by: coupons[by].fillna("unknown")})
            .groupby(by, as_index=False)
            .agg(coupons=("coupons", "sum"), amount=("amount", total), claimed=("claimed", total))
        )
    return _largest(sums, "amount", top)


@app.command()
@opt.ranged
@printed
def compute(
    table: Annotated[str, typer.Argument(help="The table's name.", autocompletion=completion.derived)],
    store: StorePlace,
    part: opt.Part,
    *,
    at: At = None,
    every: Every = None,
    party: Party = None,
) -> Written:
    """Compute a table of a lake, such as votes, config_changes, movements, network_daily; the name alone does so, too.

    `ledgerframes tables` lists them, `ledgerframes describe TABLE` has the columns. Nothing is kept in the lake.

    Examples:
    ledgerframes votes lake --last 30d

    ledgerframes compute app_daily lake -o apps.csv
    """
    import ledgerframes
    from ledgerframes.arguments import choice
    from ledgerframes.models.computing import not_understood
    from ledgerframes.tables.derived import DERIVED

    table = table.replace("-", "_")  # charts' names have the one, tables' the other
    listed = ledgerframes.models()
    if table not in DERIVED and table in set(listed["model"][listed["kind"] == "table"]):
        raise InputError(f'{table!r} is a table of sql, not of compute: ledgerframes sql LAKE "from {table}"')
    choice(table, "TABLE", list(DERIVED))
    function = getattr(ledgerframes, table)
    takes = signature(function).parameters
    options = opt.chosen({"at": opt.bound(at), "every": every, "party": party})
    if "parties" in takes and party:
        options["parties"] = options.pop("party")
    for name in options.keys() - takes:
        raise InputError(f"--{name} does not apply to {table}; leave it out")
    if "party" in options:
        if len(options["party"]) > 1:
            raise InputError(f"{table} is of one --party; leave the others out")
        options |= {"party": options["party"][0]}
    source, opening = input_of(store, part, function)
    rows = function(source, as_="arrow", **options, **opening)
    if words := not_understood(rows):
        opt.say(words, err=True)
    return rows


def _largest(frame: pd.DataFrame, name: str, top: int | None) -> pd.DataFrame:
    """The largest rows, 20 on a terminal; how many are left is said on standard error."""
    top = top or (_ON_A_TERMINAL if sys.stdout.isatty() else len(frame))
    ordered = frame.sort_values(name, ascending=False, kind="stable", ignore_index=True)
    if len(ordered) > top:
        opt.say(f"{len(ordered) - top:,} more; --top shows them", err=True)
    return ordered.head(top)
