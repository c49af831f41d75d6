"""`ledgerframes tables`, `describe`, `dictionary` and `model`: the declared tables and models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledgerframes.cli import completion
from ledgerframes.cli import options as opt
from ledgerframes.cli.app import app
from ledgerframes.cli.output import Rows, printed


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


@app.command()
def dictionary(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The Markdown file.")] = Path("dictionary.md"),
    endpoints: Annotated[
        Path | None, typer.Option(help="Also renew the table of endpoints between its marks in this file.")
    ] = None,
) -> None:
    """Write the data dictionary of all tables as Markdown."""
    from ledgerframes.export.atomic_write import write_text
    from ledgerframes.interfaces.catalogue import with_endpoints
    from ledgerframes.tables.descriptions import dictionary_text

    opt.check_folder(output.parent)
    write_text(output, dictionary_text(), overwrite=True)
    opt.say(output)
    if endpoints is not None:
        write_text(endpoints, with_endpoints(endpoints.read_text(encoding="utf-8")), overwrite=True)
        opt.say(endpoints)
